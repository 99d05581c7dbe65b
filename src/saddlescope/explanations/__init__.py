"""Why a run sits on a plateau: which saddle it is near, and when it will leave."""

from saddlescope.explanations.explain import (
    PlateauExplanation,
    diagnose,
    explain,
    rule_for,
    saved_weights,
)
from saddlescope.explanations.next_drops import NextDrops

__all__ = ["NextDrops", "PlateauExplanation", "diagnose", "explain", "rule_for", "saved_weights"]
