"""Explanations: which saddle a run on a plateau is near, and when it will leave."""

from saddlescope.explanations.explain import diagnose, explain
from saddlescope.explanations.nearby import rule_for
from saddlescope.explanations.next_drops import NextDrops
from saddlescope.explanations.plateau import COLUMNS, PlateauExplanation
from saddlescope.theory.plateau_weights import saved_weights

__all__ = ["COLUMNS", "NextDrops", "PlateauExplanation", "diagnose", "explain", "rule_for", "saved_weights"]
