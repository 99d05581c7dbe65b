"""HTML from plain templates. Everything put into one is escaped, unless it was made here."""

from collections.abc import Iterable
from html import escape
from importlib import resources
from string import Template
from urllib.parse import quote

FRAME = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title><style>
$style</style></head>
<body>
$body
</body></html>
"""


class Html(str):
    """Text that is HTML already, and is not escaped again."""


def fill(template: str, **values) -> Html:
    """The template with its $names replaced; what is not `Html` is escaped."""
    safe = {k: v if isinstance(v, Html) else escape(str(v)) for k, v in values.items()}
    return Html(Template(template).substitute(safe))


def joined(parts: Iterable[Html], between: str = "") -> Html:
    """Several pieces of HTML in a row."""
    return Html(escape(between).join(parts))


def link(text: str, *path: str, anchor: str = "") -> Html:
    """A link to a file near the page; each part of the path is one name, so that it stays near."""
    target = "/".join(part if part == ".." else quote(part, safe="") for part in path)
    place = f"#{quote(anchor)}" if anchor else ""
    return fill('<a href="$to">$text</a>', to=target + place, text=text)


def framed(title: str, body: Html) -> str:
    """A whole page, with its style inside: it opens from disk and needs nothing else."""
    style = (resources.files("saddlescope.report") / "page.css").read_text(encoding="utf-8")
    return fill(FRAME, title=title, style=Html(style), body=body)


def counted(number: int, noun: str) -> str:
    """`1 run`, `2 runs`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
