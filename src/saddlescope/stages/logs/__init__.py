"""Readers of logs that other tools wrote, one file per format.

Each has `fits(path)`, which looks at the name and the first bytes, and `read(path)`, which gives a
`Log`. The first that fits reads.
"""

from dataclasses import replace
from pathlib import Path

from saddlescope.errors import InvalidInput, require
from saddlescope.stages.logs.folder import read_inside
from saddlescope.stages.logs.log import Log, Series
from saddlescope.stages.logs.plain_file import STDIN, plain_file
from saddlescope.stages.logs.readers import READERS, reader_of

__all__ = ["READERS", "Log", "Series", "read_log"]

TOOLS = "TensorBoard, W&B, Lightning, Hugging Face, mlflow or trackio"
KINDS = f"CSV, JSON, JSON lines, plain text, NPZ, NetCDF, or a log of {TOOLS}"


def read_log(path: str | Path) -> Log:
    """Read every series of a log.

    **Arguments:**

    - `path`: A file of any kind that is read here, also compressed by gzip; a folder with one log
      in it; or "-" for standard input.
    """
    path = Path(path)
    there = path == STDIN or path.exists()
    require(there, f"There is no file {path}: give a log with a loss curve.")
    if path.is_dir():
        return read_inside(path)
    with plain_file(path) as plain:
        require(plain.stat().st_size > 0, f"{plain} is empty: give a log with a loss curve.")
        reader = reader_of(plain)
        if reader is None:
            raise InvalidInput(f"{plain} is not a kind of log we read: give {KINDS}.")
        return _under_its_name(reader.read(plain), plain, path)


def _under_its_name(log, plain, path):
    """Sentences about an unpacked copy name what the user gave."""
    shown = "standard input" if path == STDIN else str(path)
    renamed = {k: (n, why.replace(str(plain), shown)) for k, (n, why) in log.unreadable.items()}
    return replace(log, unreadable=renamed)
