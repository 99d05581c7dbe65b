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
    RowMixing,
    SphereFeatures,
    StartLaw,
    UniformFeatures,
    UniformMixing,
    marching,
    meanfield,
)
from saddlescope.meanfield.flow import _check_falls
from saddlescope.meanfield.node_solver import _said_of_end
from saddlescope.meanfield.stationary import escape_level
from saddlescope.nets import Erf, Identity, LeakyReLU, ReLU, Tanh, low_rank
from saddlescope.tasks import LinearTeacher, cosine

TWO = Measure([-0.5, 0.5], [1.0, -1.0])
CURVE = Measure([-1.0, -0.5, 0.5, 1.0], [1.0, 0.0, 0.0, 1.0])
STILL = StartLaw(mean=0.0, slope=0.0)


NOTHING = Measure([-0.5, 0.5], [0.0, 0.0])
FAR = Measure([-30.0, 30.0], [1.0, -1.0])


def stepped(t):
    return 1.0 if t < 0.5 else 0.5


def falling(t):
    return 1 - t


def limit(**more):
    return meanfield(TWO, 1, 1, Erf(), **more)


REFUSED = {
    "no bias": (lambda: meanfield(CURVE, 1, features=GaussianFeatures(1.0, 0.0)), "cannot be fitted"),
    "rank 0": (lambda: meanfield(TWO, 0), "`rank` must be a positive whole number; got 0"),
    "large rank": (lambda: meanfield(TWO, 10**9), "`rank` must be at most 10,000"),
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
    "schedule of vectors": (lambda: limit(schedules=lambda t: np.ones(2)).flow(1.0), "one number per time"),
    "schedule of numpy": (lambda: limit(schedules=np.exp).net(8).flow(1.0), "write it with jax.numpy"),
    "schedule with if": (lambda: limit(schedules=stepped).flow(1.0, nodes=8), "write it with jax.numpy"),
    "net's schedule": (lambda: limit(schedules=falling).net(8).flow(2.0), "schedule of block 1"),
    "weights": (lambda: Measure([0, 1], [0, 1], [0.5, 0.6]), "sum of 1.1: divide by it"),
    "negative weights": (lambda: Measure([0, 1], [0, 1], [1.5, -0.5]), "not negative"),
    "three weights": (lambda: Measure([0, 1], [0, 1], [0.2, 0.3, 0.5]), "2 points need 2 weights; got 3"),
    "one target": (lambda: Measure([0, 1], [0]), "Every input needs a target"),
    "two weights each": (lambda: Measure([0, 1], [0, 1], [[0.5, 0.1], [0.5, 0.9]]), "one weight; got 2 per point"),
    "nan": (lambda: Measure([0, np.nan], [0, 1]), "finite numbers"),
    "words": (lambda: Measure(["a", "b"], [0, 1]), "are numbers, one row per point"),
    "no points": (lambda: Measure([], []), "finite numbers, one row per point"),
    "zero-mean start": (lambda: limit(start=STILL).distance([8], [0], 1.0), "measures noise alone"),
    "one number as widths": (lambda: limit().distance(64, [0], 1.0), "`widths` must be several whole numbers"),
    "one number as seeds": (lambda: limit().distance([64], 3, 1.0), "`seeds` must be several whole numbers"),
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
    "one time": (lambda: limit().flow(1.0, times=1), "`times` must be 2 to 100,000"),
    "many times": (lambda: limit().flow(1.0, times=10**12), "`times` must be 2 to 100,000"),
    "times as words": (lambda: limit().flow(1.0, times="ten"), "the times themselves; got 'ten'"),
    "time as word": (lambda: limit().flow("4"), "T must be a positive time; got '4'"),
    "floor as word": (lambda: limit().flow(1.0, floor="low"), "`floor` must lie between"),
    "large numbers": (lambda: Measure([1e200, -1], [1, -1]), "scale them"),
    "wild floor": (lambda: _check_falls(np.array([1.0, 2.0]), 0.5), "loss rises by 1. Give a smaller `floor`"),
    "rtol": (lambda: limit().flow(1.0, rtol=0.0), "`rtol` must lie between"),
    "solver": (lambda: limit().flow(1.0, solver="euler"), "memory, quadrature or particles; got 'euler'"),
    "solvers": (lambda: limit().flow(1.0, solver=["memory"]), "memory, quadrature or particles"),
    "tol": (lambda: limit().flow(1.0, tol=1e-3), "Did you mean 'rtol'?"),
    "no nodes": (lambda: limit().flow(1.0, nodes=0), "`nodes` must be a whole number, 3 or more"),
    "many nodes": (lambda: limit().flow(1.0, nodes=1000), "`nodes` must be at most 180"),
    "implicit": (lambda: limit().flow(1.0, implicit="yes"), "`implicit` must be True or False"),
    "particles' seed": (lambda: limit().flow(1.0, solver="particles", seed=-1), "`seed` must be a whole number"),
    "option": (lambda: limit().flow(1.0, solver="quadrature", count=9), "has no option 'count'; it has nodes"),
    "memory form": (lambda: meanfield(TWO, 1, 1, Tanh()).flow(1.0, solver="memory"), "needs GaussianMixing and ReLU"),
    "memory and law": (lambda: limit(mixing=UniformMixing()).flow(1.0, solver="memory"), "needs GaussianMixing"),
    "nodes": (lambda: meanfield(TWO, 9, 1, Tanh()).flow(1.0, solver="quadrature"), "more than 200,000"),
    "kinked nodes": (lambda: meanfield(TWO, 3, 1, ReLU()).flow(1.0, solver="quadrature"), "rank 1 or 2; got 3"),
    "particles": (lambda: limit().flow(1.0, solver="particles", count=4), "`count` must be a whole number, 32 or more"),
    "kinked implicit": (
        lambda: meanfield(TWO, 1, 1, ReLU()).flow(1.0, solver="quadrature", implicit=True),
        "need a smooth activation",
    ),
    "large implicit": (lambda: limit().net(5000).flow(1.0, implicit=True), "at most 4,000 numbers"),
    "width": (lambda: limit().net(0), "`width` must be a positive"),
    "seed": (lambda: limit().net(8, -1), "`seed` must be a whole number"),
    "other neurons": (lambda: limit().net(8).flow(1.0).weights_at(0, np.ones((2, 2))), "its own neurons alone"),
    "wide net": (lambda: limit().net(10**13), "`width` must be at most"),
    "neurons of two inputs": (lambda: limit().flow(1.0).weights_at(1, np.ones((3, 3))), "have 2 frozen weights"),
    "no neurons": (lambda: limit().flow(1.0).weights_at(1, np.ones((0, 2))), "one row per point"),
    "density's time": (lambda: limit().flow(1.0).density(0, time=-1), "`time` must lie between 0 and 1"),
    "density's places": (lambda: limit().flow(1.0).density(0, at="a"), "places of a density"),
    "density of none": (lambda: limit().flow(1.0).density(0, count=0), "`count` must be a positive"),
    "density of a spike": (lambda: limit(start=StartLaw(0.5, 0, 0)).flow(1.0).density(0), "have no density"),
    "block": (lambda: limit().flow(1.0).density(2), "blocks 0 to 1; got 2"),
    "channel": (lambda: limit().flow(1.0).density(0, channel=3), "channels 0 to 0; got 3"),
    "inputs": (lambda: limit().flow(1.0).channels_at([[0.0, 1.0]]), "have 1 coordinates; got 2"),
    "figure 3": (lambda: limit().flow(1.0).draw(3), ".png, .pdf or .svg file; got 3"),
    "figure": (lambda: limit().flow(1.0).draw("limit.txt"), ".png, .pdf or .svg"),
    "step": (lambda: limit().net(8).descend(1.0, 2.0), "`step` must lie between 0 and T"),
    "steps diverge": (lambda: meanfield(FAR, 1, 1, ReLU()).net(8).descend(100.0, 10.0), "take shorter ones"),
    "sphere": (lambda: SphereFeatures("no"), "`bias` must be True or False"),
    "moves": (lambda: limit().escape_time(100), "not stationary in the limit"),
    "deep": (lambda: meanfield(TWO, 1, 3, Erf(), start=STILL).escape_time(100), "two and three blocks"),
    "row law": (
        lambda: meanfield(TWO, 2, 1, Erf(), start=STILL, mixing=RowMixing(((1, 0), (0, 1)))).escape_time(100),
        "channels are alike",
    ),
    "no target": (lambda: meanfield(NOTHING, 1, 1, Erf(), start=STILL).escape_time(64), "never leave"),
    "no noise": (lambda: limit(start=StartLaw(0, 0, 0)).escape_time(64), "without noise"),
    "half a neuron": (lambda: limit(start=STILL).escape_time(1.5), "`width` must be a positive whole number"),
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
    monkeypatch.setattr(marching, "MOST_STEPS", 10)
    with pytest.raises(InvalidInput, match=r"stopped at time .* implicit=True"):
        meanfield(TWO, 1, 1, Tanh()).flow(300.0, times=2, nodes=8)


def test_what_to_do_when_a_solver_stops():
    assert "a larger floor" in _said_of_end(3.0, 1e9, marching.MOST_STEPS, False)
    assert "a smaller floor" in _said_of_end(900.0, 1e4, 3, False)
    assert "floor" not in _said_of_end(900.0, 1e4, 3, True)


def test_a_start_that_does_not_move_is_told():
    still = meanfield(TWO, 1, 1, Erf(), start=STILL)
    flow = still.flow(5.0, times=3)
    assert "stationary point of the limit" in str(flow)
    assert flow.loss.values == pytest.approx(flow.loss.values[0], abs=1e-12)
    assert not meanfield(TWO, 1, 1, Erf()).note
    assert still.escape_time(10_000) > still.escape_time(100) > 0


LEAVES = {
    "plain": dict(start=STILL),
    "mixing bias": dict(start=STILL, mixing=GaussianMixing(1.0, 1.0)),
    "mean without noise": dict(start=StartLaw(1.0, 0.0, 0.0)),
}


@pytest.mark.parametrize("name", LEAVES)
def test_nets_leave_it_when_it_says(name):
    """Within a third for the median of nine nets: the growth from noise is a product of two Gaussian numbers."""
    still = meanfield(TWO, 2, 1, Erf(), **LEAVES[name])
    predicted, when = still.escape_time(1024), []
    for seed in range(9):
        flow = still.net(1024, seed).flow(4 * predicted, times=201)
        overlap = (flow.data.output.values[..., 0] * TWO.y[:, 0]) @ TWO.weights
        when.append(float(flow.data.time[np.argmax(overlap > escape_level(still))]))
    assert np.median(when) == pytest.approx(predicted, rel=1 / 3)


def test_zero_targets_at_a_still_start_end():
    """Every size is zero there: a relative tolerance alone would never accept a step."""
    assert meanfield(NOTHING, 1, 1, Erf(), start=STILL).flow(2.0, times=3).loss.values.tolist() == [0.0] * 3


def test_a_floor_is_no_licence_for_wild_steps():
    """A transient that is faster than the floor is followed all the same, to what a lower floor gives."""
    fast = meanfield(Measure([-1.0, 1.0], [3.0, 2.0]), 2, 2, ReLU(), start=StartLaw(1.0, 4.0))
    exact, rough = fast.flow(1.0, times=6, floor=1e-3), fast.flow(1.0, times=6, floor=0.2)
    assert np.abs(exact.data.output - rough.data.output).max() < 0.05


def test_a_uniform_law_draws_up_to_its_edge():
    edge = meanfield(Measure([-1.0, 1.0], [1.0, -1.0]), 1, 1, ReLU(), features=UniformFeatures())
    assert float(edge.flow(1.0, times=3).between().x.max()) == 1.0


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
