"""Distances to the limit, nets side by side, and the checks of the experiments on width."""

import numpy as np
import pytest
import xarray as xr

from saddlescope.claims import FAILS, HOLDS, UNCLEAR
from saddlescope.errors import InvalidInput
from saddlescope.meanfield import Measure, RowMixing, meanfield
from saddlescope.meanfield.by_nodes import follow_nodes
from saddlescope.meanfield.distance import follow_nets, gaps_over_time, outputs_of, weights_of
from saddlescope.nets.activation import Erf, RoundedLeakyReLU
from saddlescope.numerics import reproducible
from saddlescope.papers.meanfield import (
    channel_collapse,
    frequency_order,
    mixing_structure,
    wide_reference,
    width_limit,
)
from saddlescope.papers.meanfield._coupling import slope_check, word_in_band
from saddlescope.papers.meanfield.finite_width import with_sobol
from saddlescope.papers.meanfield.wide_reference import first_neurons
from saddlescope.papers.meanfield.width_limit import correlated, setting
from saddlescope.results import Results

TIMES = np.linspace(0, 3, 4)


@pytest.fixture(autouse=True)
def _exact():
    with reproducible():
        yield


@pytest.fixture
def limit():
    return meanfield(Measure((-0.5, 0.2, 0.9), (1.0, -1.0, 0.5)), 2, 1, Erf())


@pytest.mark.parametrize("activation", [Erf(), RoundedLeakyReLU(0.5, 0.1)])
@pytest.mark.parametrize("depth", [1, 2])
def test_nets_side_by_side_follow_their_own_flows(activation, depth):
    limit = meanfield(Measure((-0.5, 0.2), (1.0, -1.0)), 2, depth, activation)
    nets = [limit.net(16, seed) for seed in (0, 1)]
    for net, state in zip(nets, follow_nets(nets, TIMES), strict=True):
        alone = net.flow(TIMES[-1], times=TIMES)
        assert np.allclose(outputs_of(net, state), alone.data.output.values, atol=1e-5)
        for block, moved in enumerate(weights_of(net, state)):
            assert np.allclose(moved, alone.weights_at(block, net.frozen[block]), atol=1e-5)


def test_distances_are_those_of_single_nets(limit):
    found = limit.distance([8, 16], [0, 1, 2], 3.0, times=TIMES)
    flow, net = limit.flow(3.0, times=TIMES), limit.net(16, 2)
    gaps = gaps_over_time(flow, net, follow_nets([net], TIMES)[0])
    for name in ("sup", "rms", "output"):
        assert found[name].sel(width=16, seed=2) == pytest.approx(gaps[name].max(), rel=1e-4)


def test_weights_of_many_neurons_are_those_of_few(limit):
    flow, frozen = limit.flow(3.0, times=TIMES), limit.net(2500, 0).frozen[1]
    assert np.allclose(flow.weights_at(1, frozen)[:, 2000:], flow.weights_at(1, frozen[2000:]), atol=1e-12)


def test_descent_tends_to_the_flow(limit):
    net = limit.net(16, 0)
    (state,) = follow_nets([net], TIMES)
    gaps = [np.abs(net.descend(3.0, step)[1][0] - state[1][0][-1]).max() for step in (0.1, 0.05)]
    assert gaps[1] == pytest.approx(gaps[0] / 2, rel=0.2)
    assert not np.array_equal(net.descend(3.0, 0.1, seed=0)[0], net.descend(3.0, 0.1, seed=1)[0])


def test_quadrature_nodes_agree_with_the_memory_form(limit):
    channels, outputs = follow_nodes(limit, TIMES)
    flow = limit.flow(3.0, times=TIMES)
    assert np.allclose(outputs, flow.data.output.values, atol=1e-5)
    assert np.allclose(channels, flow.data.channels.values[:, 0], atol=1e-5)


def test_a_sobol_matrix_has_the_moments_of_its_law(limit):
    mixing = with_sobol(limit.net(1024, 0), 0).frozen[1][:, :2]
    assert np.allclose(mixing.mean(axis=0), 0, atol=0.01)
    assert np.allclose(mixing.T @ mixing / 1024, np.eye(2), atol=0.02)


def test_nested_nets_share_neurons(limit):
    wide = limit.net(32, 0)
    small = first_neurons(wide, 8)
    assert small.width == 8
    assert np.array_equal(small.frozen[1], wide.frozen[1][:8])
    assert np.array_equal(small.start[0], wide.start[0][:8])


def test_only_trained_weights_are_correlated():
    made = setting("mean zero", 16, 0)
    before, after = made.initial_params(), correlated(made)
    assert np.array_equal(before["A1"], after["A1"])
    extra = after["C1"] - np.asarray(before["C1"])
    assert np.allclose(extra, before["A1"].sum(axis=1) + before["b1"])


def test_a_word_needs_the_whole_interval():
    band = (-0.56, -0.44)
    assert word_in_band((-0.5, 0.05), band) == HOLDS
    assert word_in_band((-0.5, 0.07), band) == UNCLEAR
    assert word_in_band((-0.3, 0.05), band) == FAILS


@pytest.mark.parametrize(("slope", "holds"), [(-0.5, True), (-0.2, False)])
def test_the_check_of_slopes_can_fail(slope, holds):
    n = np.repeat([32, 512, 8192], 4)
    noise = np.random.default_rng(0).normal(0, 0.02, (12, 10))
    values = n[:, None] ** slope * np.exp(noise)
    coords = {"n": ("run", n), "case": ("run", ["erf"] * 12)}
    results = Results(xr.Dataset({"rms": (("run", "net"), values)}, coords), xr.Dataset({"run": np.arange(12)}))
    found = slope_check("rms", "n", ("erf",), (-0.56, -0.44))(results)
    assert found is not None
    assert found.holds is holds
    assert found.unclear is False


def test_half_times():
    times = np.array([0.0, 1.0, 2.0])
    assert frequency_order.half_time(times, np.array([1.0, 0.75, 0.25])) == pytest.approx(1.5)
    assert frequency_order.half_time(times, np.array([1.0, 0.9, 0.8])) == np.inf


def test_log_ratio_is_zero_where_both_channels_vanish():
    assert np.allclose(channel_collapse.log_ratio(np.array([[0.0, 0.0], [2.0, -1.0]])), [0, np.log(2)])


def test_rows_of_a_structure_have_their_weights():
    nodes, weights = mixing_structure.STRUCTURES["axes 1:4"].nodes(2, 12, False)
    assert weights.sum() == pytest.approx(1)
    assert weights @ nodes[:, 0] ** 2 == pytest.approx(0.5)
    assert weights @ nodes[:, 1] ** 2 == pytest.approx(8)
    assert not (nodes[:, 0] * nodes[:, 1]).any()
    drawn = mixing_structure.STRUCTURES["axes 1:4"].draw(np.random.default_rng(0), 20_000, 2)
    assert np.allclose((drawn**2).mean(axis=0), [0.5, 8, 0], rtol=0.1)


def test_rows_need_one_number_per_channel():
    with pytest.raises(InvalidInput, match="one number per channel, 3; got 2"):
        mixing_structure.STRUCTURES["axes"].nodes(3, 12, False)
    with pytest.raises(InvalidInput, match="rows of finite numbers"):
        RowMixing((1.0, 2.0))


@pytest.mark.parametrize(("shared", "holds"), [(True, True), (False, False)])
def test_shared_neurons_show_in_the_mean_square(shared, holds):
    """a_n and a_N are averages over n and N neurons; a reference of other neurons has (1/n + 1/N)."""
    rng, n, N = np.random.default_rng(0), wide_reference.WIDTHS[-1], wide_reference.REFERENCE
    own = rng.normal(0, n**-0.5, 400)
    rest = rng.normal(0, (N - n) ** -0.5, 400)
    wide = (n * own + (N - n) * rest) / N if shared else rng.normal(0, N**-0.5, 400)
    arrays = {"nested": np.abs(own - wide)[:, None], "coupled": np.abs(own)[:, None]}
    data = xr.Dataset({name: (("run", "width"), values) for name, values in arrays.items()})
    found = wide_reference.as_shared(Results(data, xr.Dataset({"run": np.arange(400)})))
    assert found.holds is holds
    assert not found.unclear


def test_half_times_of_training_lie_between_steps():
    half = np.mean(np.cos(np.pi * width_limit.X) ** 2) / 2
    loss = half * np.array([2.0, 1.5, 0.5, 0.1])
    assert width_limit.half_step(loss) == pytest.approx(1.5)
    assert np.isnan(width_limit.half_step(loss[:2]))
