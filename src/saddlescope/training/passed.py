"""Saves that a call of the engine passes on its way: which they are, and what is read there."""

import time
from bisect import bisect_left, bisect_right

import jax
import numpy as np

from saddlescope.observables.kept import measure_kept
from saddlescope.observables.observable import measure

READ_SECONDS = 0.25  # aim of reading all saves of one call, so that stops are heard
KEPT_BYTES = 2**24  # of parameters that one call keeps; a larger net takes long enough between two saves
LEAST_SAVES = 64  # with fewer, the calls take less time than the loop around them takes to compile
GROWTH = 4  # of the number of saves from one call to the next


class PassedSaves:
    """The saves of a run, and those of the last call that are not read yet.

    An engine that keeps parameters goes past several saves in one call; all of them are then read in one compiled call.
    Any other engine ends its call at each save.

    **Arguments:**

    - `due`: the steps after which observables are read, rising.
    - `observe`: what is read.
    - `stepper`, `state`: the run's loop, and its state before step 0.
    """

    def __init__(self, due, observe, stepper, state):
        self.due, self.observe = due, observe
        self.rows = _rows(due, stepper, state) if observe and stepper.keeps else 0  # kept by one call; 0: none
        self.at_once = 1  # saves of the next call
        self.steps, self.kept = [], None  # instants of the last call that are not read yet

    def reach(self, step) -> list[int]:
        """The step that the next call must not go beyond; none after the last save."""
        i = bisect_right(self.due, step)
        return self.due[i : i + self.at_once][-1:]

    def asked(self, step, n) -> tuple:
        """What the engine is asked to keep in the next n steps: the further arguments of `advance`."""
        if not self.rows:
            return ()
        between = self.due[bisect_right(self.due, step) : bisect_left(self.due, step + n)]
        self.steps = [*between, step + n]
        keep = np.full(self.rows, n)
        keep[: len(between)] = np.subtract(between, step)
        return (keep,)

    def read(self, snapshot_now, last) -> tuple[list[int], dict]:
        """The steps up to `last` that were passed and not read, and all observables there, one row per step."""
        steps = self.steps[: bisect_right(self.steps, last)]
        if not steps:
            return [], {}
        began, kept = time.perf_counter(), self.kept
        self.steps, self.kept = [], None
        values = measure_kept(self.observe, snapshot_now(), kept, steps)
        fit = READ_SECONDS / (time.perf_counter() - began) * len(steps)
        self.at_once = max(1, min(int(fit), GROWTH * self.at_once, self.rows))
        return steps, values

    def read_now(self, snapshot) -> dict:
        """All observables at one instant, one row. The same compiled function reads one save and many."""
        if not self.rows:
            return {name: [value] for name, value in measure(self.observe, snapshot).items()}
        row = np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(snapshot.net.trained(snapshot.params))])
        kept = np.zeros((self.rows, row.size), row.dtype)
        kept[0] = row
        return measure_kept(self.observe, snapshot, kept, [int(snapshot.step)])


def _rows(due, stepper, state):
    """How many instants a call keeps: a power of two, so that few lengths are compiled; 0 where it would not pay."""
    trained = stepper.net.trained(stepper.params(state))
    fit = KEPT_BYTES // max(1, sum(leaf.nbytes for leaf in jax.tree.leaves(trained)))
    ends = np.searchsorted(due, np.add(due, stepper.max_steps), "right")
    most = int(np.max(ends - np.arange(len(due)), initial=0))
    if len(due) < LEAST_SAVES or min(fit, most - 1) < 2:
        return 0
    return 1 << min((most - 1).bit_length(), fit.bit_length() - 1)
