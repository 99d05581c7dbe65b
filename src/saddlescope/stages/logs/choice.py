"""Which series of a log is the training loss, where nobody says."""

import re

from saddlescope.errors import InvalidInput, nearest, require
from saddlescope.stages.logs.clock import time_rank
from saddlescope.stages.logs.log import Log
from saddlescope.stages.logs.records import HELD_OUT, TRAINING

LOSS_WORDS = ("loss", "mse", "error", "nll", "cost", "objective", "perplexity", "ppl")
NOT_A_LOSS = frozenset(["scale", "scaler", "weight", "coef", "coefficient", "lr", "rate"])
SHOWN = 12  # names in a sentence


def choose(log: Log, column: str | None, path) -> tuple[str, tuple[str, ...]]:
    """The name of a series of the log, and what is to say about the choice."""
    names = [*log.series, *log.unreadable]
    require(bool(names), f"{path} holds no numbers: give a log with a loss curve.")
    note = ()
    if column is None:
        column, note = _likely_loss(log, path)
    column = f"{column}[0]" if f"{column}[0]" in names and f"{column}[1]" not in names else column
    if column in log.unreadable:
        raise InvalidInput(log.unreadable[column][1])
    _check_there(column, names, path)
    return column, note


def listed(names) -> str:
    """Names for a sentence; the rows of a table are one name."""
    last: dict[str, str] = {}
    for name in names:
        base, _, row = name.partition("[")
        last[base] = row
    shown = [f"{base}[0..{row}" if row and row != "0]" else base for base, row in last.items()]
    more = f" and {len(shown) - SHOWN} more" if len(shown) > SHOWN else ""
    return ", ".join(shown[:SHOWN]) + more


def _check_there(column, names, path):
    base = column.partition("[")[0]
    rows = [name for name in names if name.startswith(f"{base}[")]
    if rows and column == base:
        hint = f"name a row, such as --column '{base}[0]'"
        raise InvalidInput(f"{base!r} of {path} holds {len(rows)} curves: {hint}.")
    if rows and column not in names:
        row = column.partition("[")[2].rstrip("]")
        raise InvalidInput(f"{base!r} of {path} has {len(rows)} rows; there is no row {row}.")
    hint = f"It has {listed(names)}.{nearest(column, names)}"
    require(column in names, f"{path} has no column {column!r}. {hint}")


def _likely_loss(log, path):
    """The training loss with the most points; else a held-out loss; else the only series."""
    sizes = {n: len(s.values) for n, s in log.series.items()}
    sizes |= {n: numbers for n, (numbers, _) in log.unreadable.items()}
    times = {s.time_name for s in log.series.values()}
    curves = [n for n in sizes if time_rank(n) is None and n not in times]
    require(bool(curves), f"{path} holds no curve: it has {listed(sizes)}.")
    if all(re.fullmatch(r"column \d+", n) for n in sizes):
        return curves[-1], ()  # a file without names
    losses = [n for n in curves if _loss_rank(n) is not None]
    training = [n for n in losses if not _words(n) & HELD_OUT]
    if not losses:
        return _only_curve(curves, sizes, path), ()
    found = min(training or losses, key=lambda n: _preference(n, sizes))
    _refuse_several_runs(found, training or losses, path)
    note = () if training else (f"No training loss is there: {found} was taken.",)
    return found.partition("[")[0], note


def _only_curve(curves, sizes, path):
    """The one series with numbers, where none is called like a loss."""
    bases = list(dict.fromkeys(n.partition("[")[0] for n in curves if sizes[n] or len(curves) == 1))
    which = f"No loss column found in {path}, which has {listed(curves)}"
    require(len(bases) == 1, f"{which}: choose one with --column.")
    return bases[0]


def _preference(name, sizes):
    """More points first; then the plainer name."""
    words = _words(name)
    return -sizes[name], _loss_rank(name), not words & TRAINING, len(words), len(name)


def _loss_rank(name):
    """0 for `loss`, more for other names of losses, None for the rest."""
    words = _words(name)
    found = next((i for i, word in enumerate(LOSS_WORDS) if word in words), None)
    return None if words & NOT_A_LOSS else found


def _words(name):
    """`run - train/loss_step` has the words train, loss, step; `trainLoss` has train, loss."""
    last = name.rpartition(" - ")[2].partition("[")[0]
    return set(re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", last).lower()))


def _refuse_several_runs(found, losses, path):
    """A chart of several runs has the same name once per run."""
    run, _, name = found.rpartition(" - ")
    same = [n for n in losses if run and n.rpartition(" - ")[2] == name]
    runs = f"{path} has {name!r} of {len(same)} runs, {listed(same)}"
    require(len(same) < 2, f"{runs}: choose one with --column.")
