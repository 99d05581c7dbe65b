"""From a setting to measurements: one driver, several engines."""

from saddlescope.training.driver import engine_for, train
from saddlescope.training.flow_gap import flow_gap
from saddlescope.training.reread import reread, reread_checkpoint, snapshot_at
from saddlescope.training.save_at import SaveAt, every, log_spaced, on_cut

__all__ = [
    "SaveAt",
    "engine_for",
    "every",
    "flow_gap",
    "log_spaced",
    "on_cut",
    "reread",
    "reread_checkpoint",
    "snapshot_at",
    "train",
]
