"""The paper's main run, factor 3, 768 samples, batch 8, rank 10, and what is read around its cuts."""

import numpy as np

from saddlescope.named import Name

WIDE = 1024


def main_run(L, seed, width=WIDE, **more):
    """f3_N768_bs8_L2 or _L3; narrower nets for quick looks."""
    return Name(3, 768, 8, L).setting(rank=10, seed=seed, width=width, **more)


def around_cuts(run, name, after=10):
    """Values of an observable before each cut and `after` epochs later, as two arrays; cuts too near the end to have an
    'after' are left out."""
    why, values = run.saved_because.values.astype(str), run[name].values
    at = {int(e): i for i, e in enumerate(run.saved_epoch.values)}
    cuts = [int(e) for e, w in zip(run.saved_epoch.values, why, strict=True) if "before cut" in w]
    pairs = [(at[e], at[e + after]) for e in cuts if e + after in at]
    before, later = (np.array(i, int) for i in zip(*pairs, strict=True)) if pairs else (np.zeros(0, int),) * 2
    return values[before], values[later]


def deepest(run, name):
    """Which cut is followed by the largest fall of an observable, relative to its value before."""
    before, after = around_cuts(run, name)
    return int(np.argmin(after / before))
