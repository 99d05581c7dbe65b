"""What happened when in a folder: one line of JSON per event, from all processes. No result depends on it."""

import contextlib
import json
import mmap
import os
import socket
import time

from saddlescope.storage.kept_open import kept_descriptor

HOST = socket.gethostname()


def write_events(root: str, event: str, several: list[dict]):
    """Add one line per event. A full disk must not stop a run for it."""
    about = {"time": now(), "event": event, "host": HOST, "pid": os.getpid()}
    lines = "".join(f"{json.dumps(about | facts)}\n" for facts in several)
    with contextlib.suppress(OSError):  # in one call, so that lines of several sweeps do not mix
        os.write(kept_descriptor(_file(root), os.O_WRONLY | os.O_APPEND | os.O_CREAT), lines.encode())


def begin(root: str) -> int:
    """Bytes so far: `last_mentioned` looks no further back. A line that a full disk has cut gets its end."""
    with contextlib.suppress(OSError), open(_file(root), "r+b") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(0, end - 1))
        if file.read(1) not in (b"\n", b""):
            file.write(b"\n")
        return file.tell()
    return 0


def last_mentioned(root: str, names: list[str], since: int) -> str | None:
    """The one of these runs that was last begun or ended, from byte `since` on; None where none is mentioned."""
    try:
        with open(_file(root), "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
            places = {text.rfind(f'"run": "{name}"'.encode(), since): name for name in names}
    except (OSError, ValueError):  # there is none, or it is empty
        return None
    last = max(places)
    return places[last] if last >= 0 else None


def _file(root) -> str:
    return f"{root}/journal.jsonl"


def now() -> str:
    """The time as files and journals write it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")
