"""From a setting to measurements: one driver, several engines."""

from saddlescope.training.driver import engine_for, train
from saddlescope.training.flow_gap import flow_gap
from saddlescope.training.save_at import SaveAt, every, log_spaced, on_cut
from saddlescope.training.saved import observe_checkpoint, observe_saved, snapshot_at

__all__ = [
    "SaveAt",
    "engine_for",
    "every",
    "flow_gap",
    "log_spaced",
    "observe_checkpoint",
    "observe_saved",
    "on_cut",
    "snapshot_at",
    "train",
]
