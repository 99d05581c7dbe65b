"""The flow of the limit by the memory form."""

from functools import reduce
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from saddlescope.errors import require
from saddlescope.meanfield.flow import Flow, Neurons, labelled
from saddlescope.meanfield.laws.features import with_one
from saddlescope.meanfield.limit import Limit
from saddlescope.meanfield.memory import MemorySolver, Saved, outputs_of, unit_vectors
from saddlescope.meanfield.step_length import COARSER, HIGHER
from saddlescope.theory.meanfield.kernel import closed_form

NEURONS = 1024  # whose weights are found at a time
COMPARED = 9  # saved times of that run


def flow_by_memory(limit: Limit, times: np.ndarray, rtol: float, floor: float) -> Flow:
    """Exact in width; the error is that of the steps, estimated by a second run with larger ones.

    **Arguments:**

    - `limit`: what to solve; its mixing law is Gaussian, its activation ReLU, leaky ReLU or erf.
    - `times`: when to save.
    - `rtol`, `floor`: tolerance and shortest length of a step.
    """
    require(
        has_closed_form(limit),
        "The memory form needs GaussianMixing and ReLU, leaky ReLU or erf: use solver='quadrature' or 'particles'.",
    )
    code = closed_form(limit.activation) or (0, 0.0)
    solver, saves = _march(limit, code, times, rtol, floor)
    # Saved times cut steps short, so that the rough run saves few: its steps are as long as its tolerance allows.
    few = np.unique(np.linspace(0, len(times) - 1, COMPARED).round().astype(int))
    _, rough = _march(limit, code, times[few], COARSER * rtol, HIGHER * floor)
    gaps = [np.abs(saves[i].stage.channels[-1] - b.stage.channels[-1]).max() for i, b in zip(few, rough, strict=True)]
    attributes = {
        "solver": "memory",
        "error": float(max(*gaps, rtol * np.abs(limit.measure.y).max())),
        "steps": solver.steps,
        "on_floor": float(solver.on_floor / (times[-1] - times[0])),
        "note": limit.note,
    }
    data = labelled(limit.measure, times, [_record(limit, s) for s in saves], attributes)
    return Flow(data, MemorySolution(limit, code, solver, saves), limit.title)


def has_closed_form(limit: Limit) -> bool:
    """Whether every average over neurons of a mixing block has one; depth 0 has no such block."""
    gaussian = limit.mixing.deviations(limit.rank) is not None
    return limit.depth == 0 or (gaussian and closed_form(limit.activation) is not None)


def _march(limit: Limit, code: tuple[int, float], times, rtol, floor):
    solver = MemorySolver(limit.problem, *code, rtol, floor)
    saves = [solver.saved()]
    for time in times[1:]:
        solver.advance(time)
        saves.append(solver.saved())
    return solver, saves


def _record(limit, saved: Saved):
    stage = saved.stage
    slopes = reduce(lambda a, b: np.einsum("poi,pij->poj", a, b), reversed(stage.slopes)) if stage.slopes else None
    return limit.problem.loss(stage.channels[-1]), stage.channels, stage.signals, slopes, saved.gamma


class MemorySolution(NamedTuple):
    """The limit at any neuron and any input: sums over atoms up to each saved time.

    **Arguments:**

    - `limit`: what was solved.
    - `code`: its activation, as in `pairs`.
    - `solver`: which keeps the atoms.
    - `saves`: the saved times.
    """

    limit: Limit
    code: tuple[int, float]
    solver: MemorySolver
    saves: list[Saved]

    def weights_at(self, block, frozen):
        """w(t) − w(0); see `Flow`."""
        limit = self.limit
        if block == 0:
            features = np.asarray(limit.activation(frozen @ with_one(limit.measure.x).T))
            return np.stack([-features @ s.gamma for s in self.saves])
        deviations = limit.problem.blocks[block - 1].deviations
        ends = [0, *(s.counts[block - 1] for s in self.saves)]
        ends[0] = ends[1]  # atoms of the start law are part of w(0)
        unit, size, gamma = self.solver.atoms[block - 1].before(ends[-1])
        inputs, parts = unit[:, :-1] * size[:, None] / deviations[:-1], []
        for some in np.array_split(frozen, -(-len(frozen) // NEURONS)):
            features = np.asarray(limit.activation(some @ with_one(inputs).T))
            pieces = [features[:, a:b] @ gamma[a:b] for a, b in pairwise(ends)]
            parts.append(-np.cumsum(pieces, axis=0))
        return np.concatenate(parts, axis=1)

    def channels_at(self, x):
        """The outputs of every block; see `Flow`."""
        limit = self.limit
        first, kernel = limit.first_channels(x), limit.first_kernel(x, limit.measure.x)
        found = [self._forward(first - kernel @ s.gamma, s) for s in self.saves]
        return tuple(map(np.stack, zip(*found, strict=True)))

    def _forward(self, v, saved):
        channels = [v]
        for block, atoms, count in zip(self.limit.problem.blocks, self.solver.atoms, saved.counts, strict=True):
            at = unit_vectors(v, block.deviations)
            v, _ = outputs_of(*self.code, block, atoms.before(count), *at)
            channels.append(v)
        return channels

    def neurons(self, block, count) -> Neurons:
        """Neurons that are evenly spread over the law; see `Flow`."""
        return self.limit.neurons(block, count)
