"""What the mean-field limit refuses, in one sentence each; and what it says of a start that does not move."""

import numpy as np
import pytest

from saddlescope.errors import InvalidInput
from saddlescope.meanfield import (
    GaussianFeatures,
    GaussianMixing,
    LaplaceMixing,
    Measure,
    PseudoHuber,
    StartLaw,
    UniformMixing,
    meanfield,
)
from saddlescope.nets import Erf, Identity, LeakyReLU, ReLU, Tanh, low_rank
from saddlescope.tasks import LinearTeacher, cosine

TWO = Measure([-0.5, 0.5], [1.0, -1.0])
CURVE = Measure([-1.0, -0.5, 0.5, 1.0], [1.0, 0.0, 0.0, 1.0])
STILL = StartLaw(mean=0.0, slope=0.0)


def falling(t):
    return 1 - t


def limit(**more):
    return meanfield(TWO, 1, 1, Erf(), **more)


REFUSED = {
    "no bias": (lambda: meanfield(CURVE, 1, features=GaussianFeatures(1.0, 0.0)), "cannot be fitted"),
    "rank 0": (lambda: meanfield(TWO, 0), "`rank` must be a positive whole number; got 0"),
    "rank 1.5": (lambda: meanfield(TWO, 1.5), "`rank` must be a positive whole number"),
    "depth -1": (lambda: meanfield(TWO, 1, -1), "`depth` must be a whole number"),
    "linear": (lambda: meanfield(TWO, 1, 1, Identity()), "makes a linear net"),
    "activation": (lambda: meanfield(TWO, 1, 1, "tanh"), "such as Tanh"),
    "a net as task": (lambda: meanfield(low_rank(2, 1, 8), 1), "a task or a Measure"),
    "population": (lambda: meanfield(LinearTeacher(((1, 0),), ((1, 0), (0, 1))), 1), "needs points"),
    "features": (lambda: limit(features=GaussianMixing()), "`features` must be one of"),
    "mixing": (lambda: limit(mixing=GaussianFeatures()), "`mixing` must be one of"),
    "residual": (lambda: limit(residual="huber"), "`residual` must be one of"),
    "start": (lambda: limit(start=0.5), "2 blocks need 2 start laws"),
    "three starts": (lambda: limit(start=(STILL,) * 3), "2 blocks need 2 start laws"),
    "schedule": (lambda: limit(schedules=1.0), "2 blocks need 2 schedules"),
    "negative schedule": (lambda: limit(schedules=falling).flow(2.0), "must stay at 0 or above; it is -1 at time 2"),
    "net's schedule": (lambda: limit(schedules=falling).net(8).flow(2.0), "schedule of block 1"),
    "weights": (lambda: Measure([0, 1], [0, 1], [0.5, 0.6]), "sum of 1.1: divide by it"),
    "negative weights": (lambda: Measure([0, 1], [0, 1], [1.5, -0.5]), "not negative"),
    "three weights": (lambda: Measure([0, 1], [0, 1], [0.2, 0.3, 0.5]), "2 points need 2 weights; got 3"),
    "one target": (lambda: Measure([0, 1], [0]), "Every input needs a target"),
    "nan": (lambda: Measure([0, np.nan], [0, 1]), "finite numbers"),
    "words": (lambda: Measure(["a", "b"], [0, 1]), "are numbers, one row per point"),
    "no points": (lambda: Measure([], []), "finite numbers, one row per point"),
    "zero-mean start": (lambda: limit(start=STILL).distance([8], [0], 1.0), "measures noise alone"),
    "no widths": (lambda: limit().distance([], [0], 1.0), "one width and one seed"),
    "no floor": (
        lambda: meanfield(TWO, 1, 1, LeakyReLU(0.1)).flow(1.0, floor=0.0),
        "give a `floor` above 0, or use Rounded",
    ),
    "net without floor": (lambda: meanfield(TWO, 1, 1, ReLU()).net(8).flow(1.0, floor=0), "RoundedLeakyReLU"),
    "floor": (lambda: limit().flow(1.0, floor=2.0), "`floor` must lie between 0 and T"),
    "too long": (lambda: limit().flow(1e6, solver="memory"), "keeps the whole past"),
    "time": (lambda: limit().flow(-1.0), "T must be a positive time"),
    "infinite time": (lambda: limit().flow(np.inf), "T must be a positive time"),
    "times": (lambda: limit().flow(1.0, times=[0, 0.5]), "must rise from 0 to T"),
    "one time": (lambda: limit().flow(1.0, times=1), "`times` must be 2 or more"),
    "rtol": (lambda: limit().flow(1.0, rtol=0.0), "`rtol` must lie between"),
    "solver": (lambda: limit().flow(1.0, solver="euler"), "memory, quadrature or particles; got 'euler'"),
    "option": (lambda: limit().flow(1.0, solver="quadrature", count=9), "has no option 'count'; it has nodes"),
    "memory form": (lambda: meanfield(TWO, 1, 1, Tanh()).flow(1.0, solver="memory"), "needs GaussianMixing and ReLU"),
    "memory and law": (lambda: limit(mixing=UniformMixing()).flow(1.0, solver="memory"), "needs GaussianMixing"),
    "nodes": (lambda: meanfield(TWO, 9, 1, Tanh()).flow(1.0, solver="quadrature"), "more than 200,000"),
    "kinked nodes": (lambda: meanfield(TWO, 3, 1, ReLU()).flow(1.0, solver="quadrature"), "rank 1 or 2; got 3"),
    "particles": (lambda: limit().flow(1.0, solver="particles", count=4), "32 particles or more"),
    "kinked implicit": (
        lambda: meanfield(TWO, 1, 1, ReLU()).flow(1.0, solver="quadrature", implicit=True),
        "need a smooth activation",
    ),
    "large implicit": (lambda: limit().net(5000).flow(1.0, implicit=True), "at most 4,000 numbers"),
    "width": (lambda: limit().net(0), "`width` must be a positive"),
    "seed": (lambda: limit().net(8, -1), "`seed` must be a whole number"),
    "other neurons": (lambda: limit().net(8).flow(1.0).weights_at(0, np.ones((2, 2))), "its own neurons alone"),
    "block": (lambda: limit().flow(1.0).density(2), "blocks 0 to 1; got 2"),
    "channel": (lambda: limit().flow(1.0).density(0, channel=3), "channels 0 to 0; got 3"),
    "inputs": (lambda: limit().flow(1.0).channels_at([[0.0, 1.0]]), "have 1 coordinates; got 2"),
    "figure": (lambda: limit().flow(1.0).draw("limit.txt"), ".png, .pdf or .svg"),
    "step": (lambda: limit().net(8).descend(1.0, 2.0), "`step` must lie between 0 and T"),
    "moves": (lambda: limit().escape_time(100), "not stationary in the limit"),
    "deep": (lambda: meanfield(TWO, 1, 2, Erf(), start=STILL).escape_time(100), "two blocks and one output"),
    "std": (lambda: StartLaw(std=-1), "`std` must not be negative"),
    "mean": (lambda: StartLaw(mean="a"), "finite number, or one per channel"),
    "means": (lambda: meanfield(TWO, 3, 1, Erf(), start=StartLaw((1, 2))), "one per channel; got 2 for 3"),
    "atoms": (lambda: StartLaw(atoms=3), "Atoms are pairs"),
    "places": (lambda: limit(start=StartLaw(atoms=(((0, 0), 1),))), "as many coordinates"),
    "deviation": (lambda: GaussianMixing(0.0), "must be positive"),
    "Laplace": (lambda: LaplaceMixing(-1), "must be positive"),
    "delta": (lambda: PseudoHuber(0), "`delta` must be positive"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_one_sentence(name):
    call, said = REFUSED[name]
    with pytest.raises(InvalidInput) as refusal:
        call()
    assert said in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_without_bias_a_target_that_is_two_rays_can_be_fitted():
    rays = Measure([-1.0, -0.5, 0.5, 1.0], [2.0, 1.0, 0.5, 1.0])
    assert meanfield(rays, 1, features=GaussianFeatures(1.0, 0.0)).rank == 1


def test_a_time_that_explicit_steps_cannot_reach(monkeypatch):
    from saddlescope.meanfield import node_solver

    monkeypatch.setattr(node_solver, "MOST_STEPS", 10)
    with pytest.raises(InvalidInput, match=r"stopped at time .* implicit=True"):
        meanfield(TWO, 1, 1, Tanh()).flow(300.0, times=2, nodes=8)


def test_a_start_that_does_not_move_is_told():
    still = meanfield(TWO, 1, 1, Erf(), start=STILL)
    flow = still.flow(5.0, times=3)
    assert "stationary point of the limit" in str(flow)
    assert flow.loss.values == pytest.approx(flow.loss.values[0], abs=1e-12)
    assert not meanfield(TWO, 1, 1, Erf()).note
    assert still.escape_time(10_000) > still.escape_time(100) > 0


def test_nets_leave_it_when_it_says():
    """Within a third for the median of nine nets: the growth from noise is a product of two Gaussian numbers."""
    still = meanfield(TWO, 2, 1, Erf(), start=STILL)
    predicted, when = still.escape_time(4096), []
    for seed in range(9):
        loss = still.net(4096, seed).flow(3 * predicted, times=301).loss
        when.append(float(loss.time[np.argmax(loss.values < loss.values[0] / 2)]))
    assert np.median(when) == pytest.approx(predicted, rel=1 / 3)


def test_a_task_is_its_samples():
    task = cosine(1, 12)
    found = meanfield(task, 2).measure
    assert found.weights == pytest.approx(1 / 12)
    assert found.x.shape == (12, 1)
    assert found.y == pytest.approx(np.asarray(task.data(np.random.default_rng(0)).y))


def test_distance_falls_with_the_width():
    """Sixteen nets at two widths: a factor of four in width is about two in distance."""
    found = meanfield(TWO, 1, 1, Erf()).distance([128, 2048], range(16), 2.0)
    for name in ("rms", "sup", "output"):
        assert -0.75 < found.attrs[f"slope_{name}"] < -0.25
    assert set(found.sizes.items()) == {("width", 2), ("seed", 16)}
    assert np.isnan(meanfield(TWO, 1, 1, Erf()).distance([16], [0], 1.0).attrs["slope_rms"])
