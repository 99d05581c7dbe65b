"""From a setting to measurements: one driver, whatever the engine."""

from saddlescope.training.driver import train
from saddlescope.training.save_at import SaveAt, every, every_epoch, log_spaced, log_spaced_epochs, on_cut
from saddlescope.training.saved import loss_at, observe_at, observe_checkpoint, observe_saved

__all__ = [
    "SaveAt",
    "every",
    "every_epoch",
    "log_spaced",
    "log_spaced_epochs",
    "loss_at",
    "observe_at",
    "observe_checkpoint",
    "observe_saved",
    "on_cut",
    "train",
]
