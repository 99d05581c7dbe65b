"""Why a run sits on a plateau: which saddle it is near, and when it will leave."""

from saddlescope.explanations.explain import PlateauExplanation, diagnose, explain, saved_weights

__all__ = ["PlateauExplanation", "diagnose", "explain", "saved_weights"]
