"""Published numbers of a sweep beside ours, setting by setting.

Two things are asked. Of n numbers, each with a 95 % interval for one more seed, no more may miss
than chance allows (one of 5, two of 10, three of 25). And ours must tell the published order of the
settings from others: of all orders in which the published numbers could be given to the settings,
at most 5 % fit ours as well. Numbers that lie in wide intervals in any order are not contradicted,
which is no agreement: the word is then "cannot tell". Where more miss, the sentence does not hold:
shuffled runs have a few numbers in their intervals too. (In the first form it then held partly.)
Counts of groups of different sizes are compared as shares, or the sizes alone would set the order.
"""

from itertools import permutations
from typing import NamedTuple

import numpy as np

from saddlescope.claims import CheckResult
from saddlescope.papers.valleys._baseline import counts_of, groups, per_seed, seeds_of
from saddlescope.statistics import one_more

LEVEL = 0.05


class Column(NamedTuple):
    """Published numbers and ours, with where one more seed would lie; settings are the last axis.

    **Arguments:**

    - `name`: what is compared.
    - `settings`: the names of all numbers, in order.
    - `published`, `ours`, `low`, `high`: arrays of one shape.
    """

    name: str
    settings: list[str]
    published: np.ndarray
    ours: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @property
    def inside(self) -> np.ndarray:
        return (self.low <= self.published) & (self.published <= self.high)

    def misfit(self, order) -> float:
        """Squared distance in half intervals, with the published numbers in another order of the settings."""
        half = np.maximum((self.high - self.low) / 2, 1e-12)
        return float(np.sum(((self.published[..., order] - self.ours) / half) ** 2))


def column(name, results, axes, published, numbers) -> Column:
    """`published` has the shape of the axes; numbers(part) gives ours, low, high."""
    parts = groups(results, **axes)
    shape = tuple(len(list(values)) for values in axes.values())
    ours, low, high = np.array([numbers(part) for _, part in parts], float).T.reshape(3, *shape)
    labels = [" ".join(f"{axis} {value}" for axis, value in zip(axes, label, strict=True)) for label, _ in parts]
    return Column(name, labels, np.array(published, float).reshape(shape), ours, low, high)


def count_of(word):
    return lambda part: counts_of(part, word)


def share_of(word):
    """The same over the runs of the group with one seed."""

    def numbers(part):
        runs = part.measured.sizes["run"] / len(seeds_of(part))
        return tuple(count / runs for count in counts_of(part, word))

    return numbers


def error_of(what):
    """Errors and their geometric means are compared by their logarithm."""

    def numbers(part):
        values = np.log10(per_seed(part, what))
        return values.mean(), *one_more(values)

    return numbers


def allowed(n) -> int:
    """How many of n intervals of 95 % may miss by chance, at 5 %."""
    from scipy.stats import binom

    return int(binom.ppf(1 - LEVEL, n, 0.05))


def agree(*columns: Column) -> CheckResult | None:
    """The numbers are ours, setting by setting and in this order; None with one seed, which has no interval."""
    if any(np.isnan(c.low).any() for c in columns):
        return None
    inside = {f"{c.name}, {s}": bool(ok) for c in columns for s, ok in zip(c.settings, c.inside.flat, strict=True)}
    n, missed = len(inside), [name for name, ok in inside.items() if not ok]
    share = as_well(columns)
    text = f"{n - len(missed)} of {n} numbers in their intervals" + (f"; not {', '.join(missed)}" if missed else "")
    text += f"; {share:.1%} of the orders of the settings fit as well as the published one"
    if len(missed) > allowed(n):
        return CheckResult(False, f"{text}; by chance {allowed(n)} may miss")
    return CheckResult(share <= LEVEL, text, unclear=share > LEVEL)


def as_well(columns) -> float:
    """The share of orders of the settings in which the published numbers fit ours as well or better."""
    orders = [list(order) for order in permutations(range(columns[0].published.shape[-1]))]
    fits = np.array([sum(c.misfit(order) for c in columns) for order in orders])
    return float(np.mean(fits <= fits[0] + 1e-9))
