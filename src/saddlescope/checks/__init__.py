"""Ready checks for claims: what the claims of several papers have in common."""

from saddlescope.checks.settings import decided_by, if_clear
from saddlescope.checks.shares import (
    all_below,
    always,
    error_within,
    groups_by,
    holds_in_share,
    in_most_runs,
    share_text,
)
from saddlescope.checks.stages import (
    curve,
    drop_steps,
    drops,
    half_strength,
    half_way,
    plateau_levels,
    width_on_plateaus,
    widths,
)
from saddlescope.checks.symmetry import mean_odd_share, odd_shares

__all__ = [
    "all_below",
    "always",
    "curve",
    "decided_by",
    "drop_steps",
    "drops",
    "error_within",
    "groups_by",
    "half_strength",
    "half_way",
    "holds_in_share",
    "if_clear",
    "in_most_runs",
    "mean_odd_share",
    "odd_shares",
    "plateau_levels",
    "share_text",
    "width_on_plateaus",
    "widths",
]
