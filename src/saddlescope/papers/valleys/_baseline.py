"""The baseline sweep of App. C.4, 750 settings at one rank: what is kept of a run, and counts with
their tables.

A count is per seed: ours is the mean over seeds, and the interval is where one more seed would lie,
which is what a published number is. It is Student's, with the scatter of the seeds or of the
settings' chances, whichever is larger. Of a run a few numbers are kept; its curves go when the
experiment is done.
"""

from typing import Any

import numpy as np

from saddlescope.checks import decided_by, groups_by, holds_in_share
from saddlescope.claims import UNCLEAR
from saddlescope.observables import Fit, TestError
from saddlescope.papers.valleys._outcomes import FAILED, FLAT, WORKED
from saddlescope.papers.valleys._protocol import Name
from saddlescope.papers.valleys._runs import ending, failed_as, first_below
from saddlescope.statistics import mean_of, one_more, one_more_count
from saddlescope.tables import AGREES, Table, compared
from saddlescope.theory import ConstantFit

OBSERVE = (TestError(), Fit())
PREDICT = (ConstantFit(),)
FACTORS, BATCHES, BASES = (1, 2, 3, 4, 5), (1, 2, 4, 8, 16), (16, 32, 64, 128, 256)
AXES = dict(factor=FACTORS, base=BASES, bs=BATCHES, L=range(1, 11))
AMONG = "L <= 2 * factor"  # a batch of 16 is never larger than the smallest N
FEW = dict(factor=(1, 2), base=(32,), bs=(1, 8), L=(1, 4), seed=range(1))
BY = (("factor", FACTORS), ("bs", BATCHES), ("L", range(1, 11)))
LEFT = 0.93  # the first plateau is left when the loss is this share of the best constant's
KINDS = ("constant", "constant (mean)", "constant (median)", "constant (other)", "partial fit", "diverged")


def setting_at(rank):
    def setting(factor, base, bs, L, seed):
        return Name(factor, base * factor, bs, L).setting(rank=rank, seed=seed)

    return setting


def analyse(run, setting):
    """How it ended, in a few numbers and words. `varies` is the fit's share of the target's variance."""
    target = setting.task.target(np.linspace(-1, 1, OBSERVE[1].points))
    plateau = first_below(run, LEFT * float(np.var(target)))
    varies = float(np.var(run.fit.values[-1]) / np.var(target)) if run.sizes["saved"] else np.inf
    return ending(run) | {"kind": failed_as(run, target), "plateau": plateau, "varies": varies}


# ---- Numbers by group ----


def column(results, name):
    values = results.measured[name].values
    return values.astype(str) if values.dtype.kind in "OU" else values


def seeds_of(results):
    return sorted(set(column(results, "seed").tolist()))


def per_seed(results, what):
    """what(results of one seed), for each."""
    return np.array([what(results.select(seed=s)) for s in seeds_of(results)])


def ended(part):
    """How each run ended, by its test error."""
    errors = column(part, "test_error")  # NaN is not below
    return np.select([errors < WORKED, errors < FAILED], ["worked", "between"], "failed")


def of(word):
    """How many runs ended so."""
    return lambda part: int(np.sum(ended(part) == word))


def best(part):
    return float(np.min(column(part, "test_error")))


def average(part):
    return float(np.mean(column(part, "test_error")))


def counts_of(part, word):
    """One group of runs: the mean count over seeds, and where one more seed would lie."""
    counts, size = per_seed(part, of(word)), part.measured.sizes["run"]
    if len(counts) < 3:
        return float(counts.mean()), *one_more_count(int(counts.sum()), size, size // len(counts))
    low, high = one_more(counts, least=max(0.5, scatter(part, word)))
    return float(counts.mean()), max(0, int(np.floor(low))), min(size // len(counts), int(np.ceil(high)))


def scatter(part, word):
    """The deviation of a seed's count if every setting had its own chance, and seeds and settings were independent.
    Settings of one seed share their initial net, so that counts of seeds may scatter more: both are looked at."""
    names = [column(part, axis) for axis in ("factor", "base", "bs", "L")]
    _, settings = np.unique(np.stack(names, axis=1), axis=0, return_inverse=True)
    runs = np.bincount(settings)
    chance = np.bincount(settings, ended(part) == word) / runs
    return float(np.sqrt(np.sum(chance * (1 - chance) * runs / np.maximum(runs - 1, 1))))


def tells(published, low, high):
    """Whether an interval is narrow enough to agree with a number in it: it lies within a factor of two of the number.
    A wider one would hold numbers that nobody takes for the same."""
    return published / 2 <= low and high <= 2 * published


def count_row(part, word, published=None):
    """Published, ours per seed, where one more seed would lie, verdict."""
    ours, low, high = counts_of(part, word)
    if published is None:
        return None, ours, f"{low} to {high}", None
    return compared(published, ours, low, high)


def error_row(part, what, published, log=True):
    """The same of an error: a geometric mean over seeds, or a plain one."""
    values = per_seed(part, what)
    if not log:
        return compared(published, mean_of(values)[0], *one_more(values))
    low, high = one_more(np.log10(values))
    return compared(published, float(10 ** np.mean(np.log10(values))), 10**low, 10**high)


def groups(results, **axes) -> list[tuple[tuple[Any, ...], Any]]:
    """The part of the results at each combination of values, first axis slowest; parts without runs are left out."""
    found: list[tuple[tuple[Any, ...], Any]] = [((), results)]
    for axis, values in axes.items():
        found = [((*label, v), part.select(**{axis: v})) for label, part in found for v in values]
    return [(label, part) for label, part in found if part.measured.sizes["run"]]


def table(name, title, results, axes, row):
    """One row per group: its label, and row(part, *label)."""
    rows = [(*label, part.measured.sizes["run"], *row(part, *label)) for label, part in groups(results, **axes)]
    return Table(name, title, (*axes, "runs", *AGREES), rows)


def unpublished(table):
    """Without the published numbers and verdicts: they are about the whole sweep."""
    at = [table.columns.index(c) for c in AGREES if c in ("published", "verdict")]
    rows = [[None if k in at else cell for k, cell in enumerate(row)] for row in table.rows]
    return Table(table.name, table.title, table.columns, rows)


def kinds_table(results, axis, values, rank):
    rows = []
    for (value,), part in groups(results, **{axis: values}):
        words, kinds = ended(part), column(part, "kind")
        n = len(seeds_of(part))
        outcomes = [float(np.sum(words == w)) / n for w in ("worked", "between", "failed")]
        rows.append((value, *outcomes, *(float(np.sum(kinds == k)) / n for k in KINDS)))
    title = f"Rank {rank}: how runs ended by {axis}, per seed; failed by kind"
    return Table(f"kinds_by_{axis}", title, (axis, "worked", "between", "failed", *KINDS), rows)


# ---- Claims that every rank has ----


def whole(results):
    """Whether all 750 settings are there: only then can a count be compared with a published one."""
    return bool(np.all(np.bincount(column(results, "seed"))[seeds_of(results)] == 750))


def large_batches_worse(results):
    """A smaller share of worked runs, and a larger best test error: differences within a seed, in the mean over seeds.
    The best error is that of each batch size, since the best of more runs is smaller by itself."""
    sizes = [[bs for bs in some if bs in results.values("bs")] for some in ((1, 2, 4), (8, 16))]
    if not all(sizes):
        return None
    worked, least = ([np.mean([per_seed(results.select(bs=bs), what) for bs in some], axis=0) for some in sizes]
                     for what in (share_worked, lambda part: np.log10(best(part))))  # fmt: skip
    text = f"worked {worked[0].mean():.1%} at batches 1–4, {worked[1].mean():.1%} at 8 and 16; best error "
    text += f"{10 ** least[0].mean():.1e} and {10 ** least[1].mean():.1e} (geometric means over batches and seeds)"
    found = {"the share of worked runs": worked[0] - worked[1], "the best error": least[1] - least[0]}
    words, said = {}, []
    for word, differences in found.items():
        mean, half = mean_of(differences)
        words[word] = mean > 0 if abs(mean) > half else UNCLEAR
        said.append(f"{mean:.2g}" + ("" if np.isnan(half) else f" ± {half:.2g}"))
    return decided_by(words, f"{text}; fewer by {said[0]}, worse by {said[1]} decades")


def share_worked(part):
    return float(np.mean(ended(part) == "worked"))


def mostly_constants(results):
    """Of the failed runs most have less than a twentieth of the target's variance; decided for each factor as well."""
    failed, flat = ended(results) == "failed", column(results, "varies") <= FLAT
    if not failed.any():
        return None
    good, n, batch = int(np.sum(failed & flat)), int(failed.sum()), column(results, "bs")
    kinds = column(results, "kind")
    medians, means = (int(np.sum((batch == 1) & (kinds == f"constant ({w})"))) for w in ("median", "mean"))
    text = f"{good} of {n} failed runs are constants; at batch 1 {medians} are the median, {means} the mean"
    return holds_in_share(good, n, text, groups=groups_by(results.where(failed), "factor", flat[failed]))
