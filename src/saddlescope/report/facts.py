"""What files say about a result. A fact of another kind than expected counts as missing."""

import json
from collections.abc import Mapping

Facts = Mapping[str, object]


def decoded(attrs: Facts) -> dict:
    """Attributes of a NetCDF file; it keeps what is neither number nor text as JSON."""
    found = dict(attrs)
    for name in ("versions", "git_commit", "trains"):
        try:
            found[name] = json.loads(str(found[name]))
        except (KeyError, ValueError, RecursionError):
            continue  # not there, or plain text
    return found


def text_of(about: Facts, name: str) -> str:
    """The text under a name, else an empty one."""
    value = about.get(name)
    return value if isinstance(value, str) else ""


def number_of(about: Facts, name: str) -> float | None:
    """The number under a name, else None."""
    value = about.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def count_of(about: Facts, name: str) -> int | None:
    """The whole number under a name, else None."""
    value = number_of(about, name)
    return value if isinstance(value, int) else None
