"""Stages of odd curves: hardly any points, other units, rounding, bad input; and how stages print and convert."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from staircases import even, staircase

from saddlescope.errors import InvalidInput
from saddlescope.stages import find_stages


def test_the_index_of_a_series_or_data_array_is_its_time():
    x, centres, _, loss = even(2)
    for curve in (xr.DataArray(loss, {"epoch": 10 * x}, "epoch"), pd.Series(loss, 10 * x)):
        np.testing.assert_allclose([d.at for d in find_stages(curve).drops], 10 * centres, rtol=1e-3)


def test_rounded_values():
    x = np.arange(3000.0)
    for digits in (2, 3, 5):
        found = find_stages(np.round(staircase(x, [800, 2000], [1.5, 1, 0.1], 10), digits))
        assert found.n_drops == 2


def test_sharp_steps_and_few_points():
    assert find_stages([5, 5, 5, 5, 1, 1, 1, 1, 0.1, 0.1, 0.1]).n_drops == 2
    assert find_stages(np.repeat([2.0, 1.0, 0.2], 1000)).n_drops == 2


def test_negative_losses():
    x = np.arange(3000.0)
    found = find_stages(staircase(x, [800, 2000], [0.5, 0, -0.9], 10))
    assert found.n_drops == 2


def test_a_curve_that_stops_being_finite_is_cut_there():
    _, _, _, loss = even(3)
    loss[1200:] = np.nan
    found = find_stages(loss)
    assert found.n_drops == 2
    assert found.note == "not finite from point 1200"
    assert "not finite from point 1200" in str(found)
    loss[[0, 100]] = np.inf, np.nan
    found = find_stages(loss)
    assert found.n_drops == 2
    assert found.note == "2 points without a finite value: left out; not finite from point 1200"


def test_few_values_with_many_spikes():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        loss = np.full(1000, 2.0)
        loss[rng.choice(1000, 30, replace=False)] = 2.5
        assert find_stages(loss).n_drops == 0
        assert str(find_stages((rng.random(200) < 0.15) * 1.0))


@pytest.mark.parametrize(("loss", "plateaus"), [([], 0), ([1.0], 1), ([2.0, 1.0], 1), ([np.nan], 0), ([1, 1, 1], 1)])
def test_hardly_a_curve(loss, plateaus):
    found = find_stages(loss)
    assert found.n_drops == 0
    assert len(found.plateaus) == plateaus
    assert str(found)


def test_bad_input_is_refused():
    for bad in (np.zeros((2, 3)), ["a", "b"], np.zeros(3, complex)):
        with pytest.raises(InvalidInput, match="one row of numbers"):
            find_stages(bad)
    for wrong, sentence in (
        ({"min_fall": 0}, "`min_fall` is a share"),
        ({"prominence": 1}, "a factor above 1"),
        ({"smooth": -1}, "0 to 1e6"),
        ({"time": ["a", "b", "c"]}, "row of numbers"),
    ):
        with pytest.raises(InvalidInput, match=sentence):
            find_stages([1, 2, 3], **wrong)
    with pytest.raises(InvalidInput, match="as long as the loss"):
        find_stages([1, 2, 3], time=[1, 2])
    with pytest.raises(InvalidInput, match="must increase"):
        find_stages([1, 2, 3], time=[1, 3, 2])
    with pytest.raises(InvalidInput, match="positive times"):
        find_stages([1, 2, 3], time=[0, 1, 2], log_time=True)


@settings(max_examples=150, deadline=None)
@given(arrays(float, st.integers(0, 80), elements=st.floats(allow_nan=True, allow_infinity=True)))
def test_no_numbers_make_it_fail(loss):
    found = find_stages(loss)
    ends = [t for stage in (*found.plateaus, *found.all_falls) for t in (stage.start, stage.end)]
    assert all(0 <= t <= len(loss) for t in ends)
    assert str(found)
    assert len(found.to_pandas()) == len(found.rows())


@settings(max_examples=20, deadline=None)
@given(st.floats(1e-12, 1e12), st.floats(1e-6, 1e6), st.floats(-1e3, 1e3))
def test_units_do_not_matter(loss_unit, time_unit, shift):
    x, _, _, loss = even(3, n=600, width=0.01)
    loss = loss * (1 + 0.01 * np.random.default_rng(0).standard_normal(len(x)))
    one, other = find_stages(loss, x), find_stages(loss_unit * loss, time_unit * (x + shift))
    assert other.n_drops == one.n_drops == 3
    at = np.array([d.at for d in other.drops]) / time_unit - shift
    np.testing.assert_allclose(at, [d.at for d in one.drops], rtol=1e-3)
    level = np.array([p.level for p in other.plateaus]) / loss_unit
    np.testing.assert_allclose(level, [p.level for p in one.plateaus], rtol=1e-6)


def test_prints_converts_and_draws():
    x, _, _, loss = even(2)
    found = find_stages(loss, x)
    text = str(found)
    assert text.count("\n") == 6
    assert text.splitlines()[0].split() == ["stage", "start", "end", "at", "level", "fall", "flatness", "quality"]
    table = found.to_pandas()
    assert table["stage"].tolist() == ["plateau", "drop", "plateau", "drop", "plateau"]
    assert table["level"].iloc[0] == pytest.approx(3)
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots()
    ax.plot(x, loss)
    found.draw(ax)
    assert {t.get_text() for t in ax.legend().get_texts()} >= {"plateau", "drop"}
    plt.close(figure)
