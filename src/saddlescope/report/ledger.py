"""The record as tables of Markdown: every claim with its evidence; how many hold per experiment."""

from collections.abc import Iterable, Mapping

from saddlescope.numerics import VERSION
from saddlescope.report.html import MARKS
from saddlescope.report.record import recorded

BAR = "\\|"  # a bar inside a cell


def tallies(titles: Mapping[str, str]) -> str:
    """One row per experiment, key → title: how many of its recorded claims hold."""
    head = ("experiment", "what it shows", *MARKS)
    rows = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for key, title in titles.items():
        words = [v.word for v in found[0]] if (found := recorded(key, "full")) else None
        counts = ["not yet run" if words is None else words.count(word) for word in MARKS]
        rows.append(f"| `{key}` | {title} | {' | '.join(str(n or '') for n in counts)} |")
    return "\n".join(rows)


def ledger(keys: Iterable[str]) -> str:
    """Every recorded claim, with its evidence and the reason where it fails."""
    rows = ["| claim | where | verdict | evidence |", "|---|---|---|---|"]
    for key in keys:
        if (found := recorded(key, "full")) is None:
            rows.append(f"| all its claims | `{key}` | not yet run in full | |")
            continue
        old = found[1]["versions"].get("numerics") != VERSION
        rows += [_row(key, verdict, " (runs of an earlier version)" * old) for verdict in found[0]]
    return "\n".join(rows)


def _row(key, verdict, whose) -> str:
    why = f" *Why:* {verdict.why}" if verdict.why else ""
    mark = verdict.word if verdict.holds else f"**{verdict.word}**"
    cells = verdict.sentence, f"`{key}`, {verdict.where}", mark + whose, f"{verdict.evidence}; {verdict.lost}.{why}"
    return f"| {' | '.join(cell.replace('|', BAR) for cell in cells)} |"
