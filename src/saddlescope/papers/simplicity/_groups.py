"""Checks that are decided setting by setting, or seed by seed."""

from itertools import product

import numpy as np

from saddlescope.checks import holds_in_share, share_text


def of_each(check, *axes):
    """A check that counts runs, decided for each setting of these axes as well: one of them may fail while most of all
    runs are good."""

    def grouped(results):
        whole = check(results)
        if whole is None:
            return None
        parts = {}
        for point in product(*(results.values(axis) for axis in axes)):
            part = results.select(**dict(zip(axes, point, strict=True)))
            if part.measured.sizes["run"]:
                count = check(part).counts[0]
                parts[", ".join(_said(*at) for at in zip(axes, point, strict=True))] = count.good, count.n
        total = whole.counts[0]
        return holds_in_share(total.good, total.n, whole.evidence, total.asked, parts)

    return grouped


def _said(axis, value):
    return value if isinstance(value, str) else f"{axis} = {value:g}"


def in_each_seed(axis, read, test, say):
    """test(read(run) of one seed's runs, from the least value of the axis to the largest) is true in most seeds.

    Runs of one seed share their draw: a seed counts once. One that lacks a value, or is not finite, is no good."""

    def check(results):
        along = sorted(results.values(axis))
        if len(along) < 2:
            return None
        rows = {}
        for run in results.runs():
            rows.setdefault(int(run["seed"]), {})[float(run[axis])] = read(run) if run.finite else None
        whole = [[row.get(v) for v in along] for row in rows.values()]
        good = sum(all(x is not None for x in row) and bool(test(row)) for row in whole)
        return holds_in_share(good, len(rows), f"{share_text(good, len(rows)).replace('run', 'seed')}; {say(results)}")

    return check


def rising(rows):
    """Each value, or each of several, is larger than the one before; what is NaN or twice infinite is not."""
    with np.errstate(invalid="ignore"):
        return np.all(np.diff(np.array(rows, float), axis=0) > 0)


def falling(rows):
    return rising(np.negative(rows))
