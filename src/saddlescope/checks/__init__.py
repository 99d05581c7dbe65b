"""Ready checks for claims: what the claims of several papers have in common."""

from saddlescope.checks.drops import drop_steps, drops
from saddlescope.checks.levels import curve, plateau_levels
from saddlescope.checks.modes import half_strength, half_way
from saddlescope.checks.shares import (
    MOST,
    SOME,
    error_within,
    holds_in_share,
    in_most_runs,
    reaches_share,
    share_text,
)
from saddlescope.checks.widths import width_on_plateaus, widths

__all__ = [
    "MOST",
    "SOME",
    "curve",
    "drop_steps",
    "drops",
    "error_within",
    "half_strength",
    "half_way",
    "holds_in_share",
    "in_most_runs",
    "plateau_levels",
    "reaches_share",
    "share_text",
    "width_on_plateaus",
    "widths",
]
