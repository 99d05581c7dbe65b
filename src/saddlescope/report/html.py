"""The pieces that pages are made of: plain templates, and the claims of a result as cards.

Everything put into a template is escaped, unless it was made here.
"""

import re
from collections.abc import Iterable
from html import escape
from importlib import resources
from string import Template
from urllib.parse import quote

from saddlescope.errors import number_of
from saddlescope.report.page_data import PageClaim, PageData
from saddlescope.report.paper import Paper, Sentence

FRAME = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title><style>
$style</style></head>
<body>
$body
</body></html>
"""
MARKS = {"holds": "✓", "partly": "◐", "does not hold": "✗", "cannot tell": "?", "by construction": "≡"}
MEANINGS = {
    "holds": "the sentence is true of as many of these runs as the claim asks for.",
    "partly": "it is true of a part of them; the evidence says which.",
    "does not hold": "these runs contradict it.",
    "cannot tell": "these runs are too few, or do not agree well enough, to decide.",
    "by construction": "it follows from how the runs are made, so that no run could contradict it: shown, not counted.",
}
RECORD = "the verdict of all runs of this experiment, as it is stored with this version of Saddlescope."
CLAIM = """<div class="claim"><div><span class="mark $kind">$mark $word</span>$record</div>
<div><p class="says">$says</p>$behind</div>
<div class="evidence"><p>$numbers.</p>$why</div></div>"""


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


# ---- Claims ----


def claim_cards(data: PageData) -> Html:
    """All claims of a result, what their verdicts mean, and how many were not tested."""
    parts = [_line(_untested(data))] if data.untested else []
    if not data.claims:
        return joined(parts) or _line("No claim is stored with this result.")
    tally = _line(tally_line(claim.verdict.word for claim in data.claims))
    cards = [_claim(claim, data.paper) for claim in data.claims]
    has_record = any(claim.full_record for claim in data.claims)
    return joined([tally, *cards, *parts, _meanings(has_record)])


def _line(text: str) -> Html:
    return fill('<p class="soft">$text</p>', text=text)


def _untested(data: PageData) -> str:
    total = number_of(len(data.claims) + data.untested, "claim")
    return f"Not tested here: {data.untested} of {total}."


def tally_line(words: Iterable[str]) -> str:
    """`3 claims; holds: 2, cannot tell: 1`."""
    words = list(words)
    counts = [f"{word}: {n}" for word in MARKS if (n := words.count(word))]
    return f"{number_of(len(words), 'claim')}; {', '.join(counts)}"


def _claim(claim: PageClaim, paper: Paper | None) -> Html:
    v = claim.verdict
    return fill(
        CLAIM,
        kind=v.word.replace(" ", "-"),
        mark=MARKS[v.word],
        word=v.word,
        record=_record(claim.full_record),
        says=v.sentence,
        behind=_behind(v.where, claim.sentences, paper),
        numbers=_unbroken(v.numbers),
        why=fill("<p><b>Why:</b> $why</p>", why=v.why) if v.why else Html(),
    )


def _unbroken(text: str) -> Html:
    """A browser would break `1e-05` at its hyphen, over two lines."""
    pieces = re.split(r"(\d+e-\d+)", text)
    tags = ("$t", '<span class="number">$t</span>')
    return joined(fill(tags[i % 2], t=piece) for i, piece in enumerate(pieces))


def _record(word: str) -> Html:
    """What the full record says, beside a quick verdict."""
    shown = '<p class="record"><small>full record: <span class="mark $kind">$mark $word</span></small></p>'
    return fill(shown, kind=word.replace(" ", "-"), mark=MARKS[word], word=word) if word else Html()


def _behind(where: str, sentences: tuple[Sentence, ...], paper: Paper | None) -> Html:
    """Where a claim stands, and what the paper says there in short."""
    place = fill('<p class="soft"><small>$where</small></p>', where=where)
    if not sentences or paper is None:
        return place
    said = '<p class="paper">The paper, $number ($where): $text</p>'
    numbers = (link(s.number, "..", f"{paper.name}.html", anchor=s.number) for s in sentences)
    both = zip(numbers, sentences, strict=True)
    return joined([place, *(fill(said, number=n, where=s.where, text=s.text) for n, s in both)])


def _meanings(has_record: bool) -> Html:
    row = '<dt class="mark $kind">$mark $word</dt><dd>$meaning</dd>'
    rows = [
        fill(row, kind=word.replace(" ", "-"), mark=MARKS[word], word=word, meaning=meaning)
        for word, meaning in MEANINGS.items()
    ]
    rows += [fill("<dt>full record</dt><dd>$text</dd>", text=RECORD)] if has_record else []
    return fill('<h3>What the verdicts mean</h3><dl class="meanings">$rows</dl>', rows=joined(rows))
