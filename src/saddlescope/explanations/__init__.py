"""Explanations: which saddle a run on a plateau is near, and when it will leave."""

from saddlescope.explanations.explain import diagnose, explain, saved_weights
from saddlescope.explanations.nearby import rule_for
from saddlescope.explanations.plateau import COLUMNS, PlateauExplanation

__all__ = ["COLUMNS", "PlateauExplanation", "diagnose", "explain", "rule_for", "saved_weights"]
