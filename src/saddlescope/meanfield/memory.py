"""The limit solved exactly: Runge-Kutta in the space of all weights, every average over neurons in closed form.

Gaussian mixing laws with ReLU, leaky ReLU or erf, any rank, any number of blocks. A step of the pair of Dormand and
Prince (orders 5 and 4) makes six *atoms* per point and block (`atoms.py`), so the only error is that of the steps:
width is infinite. S steps with P points cost 21 S² P² kernels per block.
"""

from typing import NamedTuple

import numpy as np
from scipy.integrate import RK45

from saddlescope.errors import InvalidInput
from saddlescope.meanfield.atoms import Arrays, Atoms, start_of, sum_of_atoms, unit_vectors
from saddlescope.meanfield.problem import Block, Problem
from saddlescope.meanfield.step_length import StepLength
from saddlescope.theory.meanfield.kernel import unit_rows

STAGES = 6
MOST_KERNELS = 9e10  # about an hour


class Stage(NamedTuple):
    """The limit at one instant.

    **Arguments:**

    - `channels`: the outputs of every block at every point; the last are ŷ.
    - `inputs`: what enters each block above the first, as unit vectors and sizes.
    - `signals`: g of every block: the loss's derivative by the block's outputs.
    - `slopes`: the derivative of every block's outputs by its inputs, point × output × input.
    """

    channels: tuple[np.ndarray, ...]
    inputs: tuple[tuple[np.ndarray, np.ndarray], ...]
    signals: tuple[np.ndarray, ...]
    slopes: tuple[np.ndarray, ...]


class Saved(NamedTuple):
    """The limit at a saved time.

    **Arguments:**

    - `time`: t.
    - `gamma`: Γ of the first layer, point × channel.
    - `counts`: how many atoms each block has.
    - `stage`: channels and signals.
    """

    time: float
    gamma: np.ndarray
    counts: tuple[int, ...]
    stage: Stage


class MemorySolver:
    """One run of the memory form.

    **Arguments:**

    - `problem`: data, first layer, blocks, loss and schedules.
    - `kind`, `alpha`: the activation of all blocks above the first, as in `pairs`.
    - `rtol`: the allowed error of one step, relative to the largest channel or target.
    - `floor`: the shortest step where the flow slides along a kink: no shorter step helps there.
    """

    def __init__(self, problem: Problem, kind: int, alpha: float, rtol: float, floor: float):
        self.problem, self.kind, self.alpha = problem, kind, alpha
        self.rtol, self.length = rtol, StepLength(floor, rtol)
        self.atoms = [Atoms(len(b.deviations), b.outputs) for b in problem.blocks]
        for atoms, block in zip(self.atoms, problem.blocks, strict=True):
            atoms.add(*unit_rows(block.places * block.deviations), -block.heights)
        self.gamma = np.zeros_like(problem.first)
        self.time, self.steps, self.rejected, self.on_floor = 0.0, 0, 0, 0.0
        self._stage = self.stage(self.gamma)
        per_step = 21 * len(problem.weights) ** 2 * max(len(problem.blocks), 1)
        self.most_steps = int(np.sqrt(MOST_KERNELS / per_step))

    # ---- One instant ----

    def stage(self, gamma) -> Stage:
        """Forward and backward with the past and the atoms of this step, as they are weighed now."""
        v = self.problem.first - self.problem.kernel @ gamma
        channels, inputs, slopes = [v], [], []
        for block, atoms in zip(self.problem.blocks, self.atoms, strict=True):
            at = unit_vectors(v, block.deviations)
            v, slope = outputs_of(self.kind, self.alpha, block, atoms.all, *at)
            channels.append(v)
            inputs.append(at)
            slopes.append(slope)
        return Stage(tuple(channels), tuple(inputs), self._signals(v, slopes), tuple(slopes))

    def _signals(self, outputs, slopes):
        g = self.problem.residual.derivative(outputs - self.problem.targets)
        signals = [g]
        for slope in reversed(slopes):
            g = np.einsum("po,poj->pj", g, slope)
            signals.append(g)
        return tuple(reversed(signals))

    def rates(self, time, stage):
        """What one unit of time adds: to Γ, and to the atoms of every block."""
        return [
            xi(time) * self.problem.weights[:, None] * g
            for xi, g in zip(self.problem.schedules, stage.signals, strict=True)
        ]

    # ---- Steps ----

    def advance(self, end: float):
        """Go to `end`."""
        while self.time < end:
            last = self.time + self.length.next >= end * (1 - 1e-15)
            h = end - self.time if last else self.length.next
            error, rates, gamma, stage = self._try(h)
            if self.length.takes(h, error, end, last):
                self._accept(h, rates, gamma, stage, end if last else self.time + h)
                self.on_floor += h if error > 1 else 0.0
            else:
                self.rejected += 1

    @np.errstate(over="ignore", invalid="ignore")  # a step that is far too long has an infinite error
    def _try(self, h):
        rates, stage = [self.rates(self.time, self._stage)], self._stage
        for atoms in self.atoms:
            atoms.begin_step()
        for i in range(1, STAGES):
            _, stage = self._next_stage(stage, h * RK45.A[i, :i], rates)
            rates.append(self.rates(self.time + RK45.C[i] * h, stage))
        gamma, stage = self._next_stage(stage, h * RK45.B, rates)
        rates.append(self.rates(self.time + h, stage))
        return self._error(h * RK45.E, rates, stage), rates[:STAGES], gamma, stage

    def _next_stage(self, stage, weights, rates):
        """The stage that follows `stage` with these weights of all rates so far."""
        for i, atoms in enumerate(self.atoms):
            atoms.append(*stage.inputs[i])
            atoms.weigh([w * r[i + 1] for w, r in zip(weights, rates, strict=True)])
        gamma = self.gamma + sum(w * r[0] for w, r in zip(weights, rates, strict=True))
        return gamma, self.stage(gamma)

    def _error(self, weights, rates, stage):
        """The step's error in channels and outputs, over what is allowed."""
        errors = [self.problem.kernel @ sum(w * r[0] for w, r in zip(weights, rates, strict=True))]
        for i, (atoms, at) in enumerate(zip(self.atoms, stage.inputs, strict=True)):
            atoms.append(*at)
            atoms.weigh([w * r[i + 1] for w, r in zip(weights, rates, strict=True)])
            errors.append(sum_of_atoms(self.kind, self.alpha, *atoms.step, *at)[0])
        largest = np.abs(self.problem.targets).max()
        sizes = [max(np.abs(c).max(), largest) or 1.0 for c in stage.channels]  # all may be 0
        # Python's `max` would drop a NaN.
        return float(np.max([np.abs(e).max() / (self.rtol * s) for e, s in zip(errors, sizes, strict=True)]))

    def _accept(self, h, rates, gamma, stage, time):
        for i, atoms in enumerate(self.atoms):
            atoms.accept([w * r[i + 1] for w, r in zip(h * RK45.B, rates, strict=True)])
        self.gamma, self._stage, self.time = gamma, stage, time
        self.steps += 1
        if self.steps > self.most_steps:
            raise InvalidInput(
                f"The memory form has taken {self.steps:,} steps to time {time:g}: it keeps the whole past. Use fewer "
                "points, a shorter time, smaller targets, or solver='quadrature'."
            )

    def saved(self) -> Saved:
        """The present."""
        return Saved(self.time, self.gamma, tuple(a.count for a in self.atoms), self._stage)


def outputs_of(kind, alpha, block: Block, atoms: Arrays, unit, size):
    """A block's outputs at inputs (v̂, |v|), and their derivative by v, point × output × channel."""
    value, slope = start_of(kind, alpha, block.mean, block.slope * block.deviations, unit, size)
    past, past_slope = sum_of_atoms(kind, alpha, *atoms, unit, size)
    return value - past, (slope - past_slope)[:, :, :-1] * block.deviations[:-1]
