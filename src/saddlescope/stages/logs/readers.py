"""The readers, in the order in which they are asked. A module is imported when it is asked."""

from importlib import import_module
from pathlib import Path

READERS = (
    "npz_file",
    "netcdf_file",
    "json_file",
    "json_lines",
    "tensorboard_csv",
    "wandb_csv",
    "plain_text",
    "csv_file",
)


def reader_of(path: Path):
    """The first reader that fits; None where none does."""
    readers = (import_module(f"saddlescope.stages.logs.{name}") for name in READERS)
    return next((r for r in readers if r.fits(path)), None)
