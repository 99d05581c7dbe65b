"""The flow of the limit by the memory form."""

from functools import reduce
from itertools import pairwise

import numpy as np

from saddlescope.errors import require
from saddlescope.meanfield.flow import Flow, labelled
from saddlescope.meanfield.laws.features import with_one
from saddlescope.meanfield.limit import Limit
from saddlescope.meanfield.memory import MemorySolver, Saved
from saddlescope.theory.meanfield.kernel import closed_form

NEURONS = 1024  # whose weights are found at a time
COARSER = 100.0  # the second run that estimates the error has a tolerance this much larger


def flow_by_memory(limit: Limit, times: np.ndarray, rtol: float, floor: float) -> Flow:
    """Exact in width; the error is that of the steps, estimated by a second run with larger ones.

    **Arguments:**

    - `limit`: what to solve; its mixing law is Gaussian, its activation ReLU, leaky ReLU or erf.
    - `times`: when to save.
    - `rtol`, `floor`: tolerance and shortest length of a step.
    """
    code, gaussian = closed_form(limit.activation), limit.mixing.deviations(limit.rank) is not None
    require(
        (code is not None and gaussian) or limit.depth == 0,
        "The memory form needs GaussianMixing and ReLU, leaky ReLU or erf: use solver='quadrature' or 'particles'.",
    )
    solver, saves = _march(limit, code or (0, 0.0), times, rtol, floor)
    # Saved times cut steps short, so that the rough run saves few: its steps are as long as its tolerance allows.
    few = [0, len(times) // 2, len(times) - 1] if len(times) > 2 else [0, len(times) - 1]
    _, rough = _march(limit, code or (0, 0.0), times[few], COARSER * rtol, floor)
    gaps = [np.abs(saves[i].stage.channels[-1] - b.stage.channels[-1]).max() for i, b in zip(few, rough, strict=True)]
    size = np.abs(limit.measure.y).max()
    span = times[-1] - times[0]
    attributes = {
        "solver": "memory",
        "error": float(max(*gaps, rtol * size)),
        "steps": solver.steps,
        "on_floor": float(solver.on_floor / span),
        "note": stationary_note(saves[0], limit),
    }
    records = [_record(limit, s) for s in saves]
    data = labelled(limit.measure, times, records, attributes)
    return Flow(data, _weights(limit, solver, saves), f"limit, rank {limit.rank}, {limit.depth + 1} blocks")


def _march(limit, code, times, rtol, floor):
    solver = MemorySolver(limit.problem, *code, rtol, floor)
    saves, h = [solver.saved()], min(0.01, times[1])
    for time in times[1:]:
        h = solver.advance(time, h)
        saves.append(solver.saved())
    return solver, saves


def _record(limit, saved: Saved):
    stage = saved.stage
    slopes = reduce(lambda a, b: np.einsum("poi,pij->poj", a, b), reversed(stage.slopes)) if stage.slopes else None
    return limit.problem.loss(stage.channels[-1]), stage.channels, stage.signals, slopes, saved.gamma


def _weights(limit, solver, saves):
    """w(t) − w(0) of neurons with given frozen weights: a sum over atoms up to each time."""
    x = with_one(limit.measure.x)

    def weights_at(block, frozen):
        if block == 0:
            features = np.asarray(limit.activation(frozen @ x.T))
            return np.stack([-features @ s.gamma for s in saves])
        atoms, deviations = solver.atoms[block - 1], limit.mixing.deviations(limit.rank)
        scaled = frozen / np.where(deviations > 0, deviations, np.inf)
        ends = [0, *(s.counts[block - 1] for s in saves)]
        ends[0] = ends[1]  # atoms of the start law are part of w(0)
        inputs = atoms.unit * atoms.size[:, None]
        parts = []
        for some in np.array_split(scaled, -(-len(scaled) // NEURONS)):
            features = np.asarray(limit.activation(some @ inputs.T))
            pieces = [features[:, a:b] @ atoms.gamma[a:b] for a, b in pairwise(ends)]
            parts.append(-np.cumsum(pieces, axis=0))
        return np.concatenate(parts, axis=1)

    return weights_at


def stationary_note(start: Saved, limit: Limit) -> str:
    """A sentence where nothing moves at the start."""
    from saddlescope.meanfield.stationary import SENTENCE, is_stationary

    return SENTENCE if is_stationary(limit) else ""
