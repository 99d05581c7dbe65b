"""Text of any encoding that loggers and spreadsheets write."""

import codecs
from pathlib import Path

from saddlescope.errors import InvalidInput

HEAD = 1 << 16  # bytes; enough to know a format by
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_text(path: Path) -> tuple[str, tuple[str, ...]]:
    """The text of a file with `\\n` at line ends, and what is to say about its encoding."""
    text, notes = _decoded(path.read_bytes())
    if text is None:
        raise InvalidInput(f"{path} is not text: give a log that was written as text.")
    return text.replace("\r\n", "\n").replace("\r", "\n"), notes


def first_lines(path: Path) -> list[str]:
    """The lines at the beginning of a file that are not blank; none where it is not text."""
    if not path.is_file():
        return []
    with path.open("rb") as file:
        data = file.read(HEAD)
    text, _ = _decoded(data[: data.rfind(b"\n") + 1] if len(data) == HEAD else data)
    return [line for line in (text or "").splitlines() if line.strip()]


def _decoded(data):
    """UTF-8 or UTF-16 with its mark, else Latin-1; None for bytes that are not text."""
    if data.startswith(UTF16):
        return data.decode("utf-16", errors="replace"), ("It is encoded as UTF-16.",)
    if b"\0" in data:
        return None, ()
    try:
        return data.decode("utf-8-sig"), ()
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    odd = sum(not (c.isprintable() or c.isspace()) for c in text[:HEAD])
    notes = ("It is not UTF-8, and was read as Latin-1: names may have wrong letters.",)
    return (None, ()) if odd > len(text[:HEAD]) / 20 else (text, notes)
