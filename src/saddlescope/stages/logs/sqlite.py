"""Databases of other tools, opened for reading alone, also while they are being written."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from saddlescope.errors import InvalidInput

MAGIC = b"SQLite format 3\0"
PATIENCE = 2.0  # seconds that a lock may last


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """The database at this path. Whatever goes wrong with it is one sentence."""
    try:
        with closing(sqlite3.connect(_address(path), uri=True, timeout=PATIENCE)) as database:
            yield database
    except (sqlite3.Error, UnicodeDecodeError) as error:
        if "locked" in str(error) or "busy" in str(error):
            sentence = f"{path} is locked by a program that writes it: try again in a moment."
        else:
            reason = " ".join(str(error).split())[:80]  # of a damaged schema, it has many lines
            sentence = f"{path} cannot be read as a database ({reason}): give a whole copy."
        raise InvalidInput(sentence) from None


def _address(path):
    """Read-only. SQLite would still leave files beside a database in WAL mode that nobody has open.

    Without a -wal file, all is in the database itself, and `immutable` leaves nothing behind.
    """
    with open(path, "rb") as file:
        in_wal_mode = file.read(20)[18:20] == b"\2\2"
    alone = in_wal_mode and not Path(f"{path}-wal").exists()
    return f"file:{quote(str(Path(path).resolve()))}?mode=ro" + ("&immutable=1" if alone else "")


def has_columns(path: Path, table: str, wanted: set[str]) -> bool:
    """Whether this is a database with such a table; False for any other file."""
    if not path.is_file():
        return False
    with open(path, "rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            return False
    with opened(path) as database:
        return wanted <= {row[1] for row in database.execute(f"PRAGMA table_info({table})")}
