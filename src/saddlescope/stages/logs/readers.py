"""The readers, in the order in which they are asked. A module is imported when it is asked."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path

from saddlescope.errors import InvalidInput
from saddlescope.stages.logs.log import Log, NotBegun, require_begun
from saddlescope.stages.logs.plain_file import STDIN, plain_file
from saddlescope.stages.logs.text import first_lines

READERS = (
    "tensorboard",
    "wandb_offline",
    "mlflow_store",
    "trackio_store",
    "npz_file",
    "netcdf_file",
    "json_file",
    "json_lines",
    "tensorboard_csv",
    "wandb_csv",
    "plain_text",
    "csv_file",
)
TOOLS = "TensorBoard, W&B, Lightning, Hugging Face, mlflow or trackio"
KINDS = f"CSV, JSON, JSON lines, plain text, NPZ, NetCDF, or a log of {TOOLS}"


def read_file(path: Path) -> Log:
    """Read one file of any kind, also compressed or standard input."""
    with plain_file(path) as plain:
        filled = plain.stat().st_size > 0
        require_begun(filled, f"{plain} is empty: give a log with a loss curve.")
        reader = reader_of(plain)
        if reader is None:  # a text may be the beginning of a log
            kind = NotBegun if first_lines(plain) else InvalidInput
            raise kind(f"{plain} is not a kind of log we read: give {KINDS}.")
        return _under_its_name(reader.read(plain), plain, path)


def reader_of(path: Path):
    """The first reader that fits; None where none does."""
    readers = (import_module(f"saddlescope.stages.logs.{name}") for name in READERS)
    return next((r for r in readers if r.fits(path)), None)


def _under_its_name(log, plain, path):
    """Sentences about an unpacked copy name what the user gave."""
    shown = "standard input" if path == STDIN else str(path)
    renamed = {k: (n, why.replace(str(plain), shown)) for k, (n, why) in log.unreadable.items()}
    return replace(log, unreadable=renamed)
