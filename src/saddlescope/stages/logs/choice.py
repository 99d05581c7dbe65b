"""Which series of a log is the training loss, where nobody says."""

import re

from saddlescope.errors import InvalidInput, nearest, require
from saddlescope.stages.logs.clock import time_rank
from saddlescope.stages.logs.log import Log, NotBegun, require_begun
from saddlescope.stages.logs.records import HELD_OUT, TRAINING

LOSS_WORDS = ("loss", "mse", "error", "nll", "cost", "objective", "perplexity", "ppl")
NOT_A_LOSS = frozenset(["scale", "scaler", "weight", "coef", "coefficient", "lr", "rate"])
ROW = re.compile(r"\[(\d+)\]$")
SHOWN = 12  # names in a sentence


def choose(log: Log, column: str | None, path) -> tuple[str, tuple[str, ...]]:
    """The name of a series of the log, and what is to say about the choice."""
    names = [*log.series, *log.unreadable]
    require_begun(bool(names), f"{path} holds no numbers: give a log with a loss curve.")
    note = ()
    if column is None:
        column, note = _likely_loss(log, path)
    column = f"{column}[0]" if f"{column}[0]" in names and f"{column}[1]" not in names else column
    if column in log.unreadable:
        numbers, why = log.unreadable[column]
        raise InvalidInput(why) if numbers else NotBegun(why)
    _check_there(column, names, path)
    return column, note


def listed(names) -> str:
    """Names for a sentence; the rows of a table are one name."""
    last = {_without_row(name): ROW.search(name) for name in names}
    shown = [f"{base}[0..{row[1]}]" if row else base for base, row in last.items()]
    more = f" and {len(shown) - SHOWN} more" if len(shown) > SHOWN else ""
    return ", ".join(shown[:SHOWN]) + more


def _check_there(column, names, path):
    base = _without_row(column)
    rows = [name for name in names if name != base and _without_row(name) == base]
    if rows and column == base:
        hint = f"name a row, such as --column '{base}[0]'"
        raise InvalidInput(f"{base!r} of {path} holds {len(rows)} curves: {hint}.")
    if rows and column not in names:
        row = column.removeprefix(base).strip("[]")
        raise InvalidInput(f"{base!r} of {path} has {len(rows)} rows; there is no row {row}.")
    hint = f"It has {listed(names)}.{_nearest_name(column, names)}"
    require(column in names, f"{path} has no column {column!r}. {hint}")


def _nearest_name(column, names):
    """A hint; capital letters make no difference to it."""
    same = [name for name in names if name.lower() == column.lower()]
    return nearest(same[0] if same else column, names)


def _likely_loss(log, path):
    """The training loss with the most points; else a held-out loss; else the only series."""
    sizes = {n: len(s.values) for n, s in log.series.items()}
    sizes |= {n: numbers for n, (numbers, _) in log.unreadable.items()}
    times = {s.time_name for s in log.series.values()}
    curves = [n for n in sizes if time_rank(n) is None and n not in times]
    require_begun(bool(curves), f"{path} holds no curve: it has {listed(sizes)}.")
    if all(re.fullmatch(r"column \d+", n) for n in sizes):
        return curves[-1], ()  # a file without names
    metric = {n: _metric(n, log.runs) for n in curves}
    losses = [n for n in curves if _loss_rank(metric[n]) is not None]
    training = [n for n in losses if not _words(metric[n]) & HELD_OUT]
    if not losses:
        return _only_curve(curves, sizes, path), ()
    found = min(training or losses, key=lambda n: (-sizes[n], *_plainness(metric[n])))
    same = [n for n in losses if metric[n] == metric[found] and _is_of_a_run(n, log.runs)]
    which = f"{path} has {metric[found]!r} of {len(same)} runs, {listed(same)}"
    require(len(same) < 2, f"{which}: choose one with --column.")
    note = () if training else (f"No training loss is there: {found} was taken.",)
    return _without_row(found), note


def _only_curve(curves, sizes, path):
    """The one series with numbers, where none is called like a loss."""
    bases = list(dict.fromkeys(_without_row(n) for n in curves if sizes[n] or len(curves) == 1))
    which = f"No loss column found in {path}, which has {listed(curves)}"
    require(len(bases) == 1, f"{which}: choose one with --column.")
    return bases[0]


def _without_row(name):
    """`loss` for `loss[3]`."""
    return ROW.sub("", name)


def _metric(name, runs):
    """`train/loss` for `run - train/loss`, as W&B writes it, and for `run/train/loss` of a run."""
    run = next((r for r in runs if name.startswith(f"{r}/")), None)
    return _without_row(name[len(run) + 1 :] if run else name.rpartition(" - ")[2])


def _is_of_a_run(name, runs):
    return " - " in name or any(name.startswith(f"{run}/") for run in runs)


def _plainness(metric):
    """What is called just `loss` comes first."""
    words = _words(metric)
    return _loss_rank(metric), not words & TRAINING, len(words), len(metric)


def _loss_rank(metric):
    """0 for `loss`, more for other names of losses, None for the rest."""
    words = _words(metric)
    found = next((i for i, word in enumerate(LOSS_WORDS) if word in words), None)
    return None if words & NOT_A_LOSS else found


def _words(metric):
    """`train/loss_step` has the words train, loss and step; `trainLoss` has train and loss."""
    apart = re.sub(r"([a-z])([A-Z])", r"\1 \2", metric)
    return set(re.findall(r"[a-z]+", apart.lower()))
