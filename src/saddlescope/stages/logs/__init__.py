"""Readers of logs that other tools wrote, one file per format.

Each has `fits(path)`, which looks at the name and the first bytes, and `read(path)`, which gives a
`Log`. The first that fits reads.
"""

from pathlib import Path

from saddlescope.stages.logs.folder import read_inside
from saddlescope.stages.logs.log import Log, Series, require_begun
from saddlescope.stages.logs.plain_file import STDIN
from saddlescope.stages.logs.readers import READERS, read_file

__all__ = ["READERS", "Log", "Series", "read_log"]


def read_log(path: str | Path) -> Log:
    """Read every series of a log.

    **Arguments:**

    - `path`: A file of any kind that is read here, also compressed by gzip; a folder with one log
      in it; or "-" for standard input.
    """
    path = Path(path)
    there = path == STDIN or path.exists()
    require_begun(there, f"There is no file {path}: give a log with a loss curve.")
    return read_inside(path) if path.is_dir() else read_file(path)
