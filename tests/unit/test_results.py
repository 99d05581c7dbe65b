"""Runs of different lengths in one result: padding is not divergence, divergence is not padding."""

import numpy as np
import pytest
import xarray as xr
from cases import linear_setting, minibatch_setting

from saddlescope.errors import InvalidInput
from saddlescope.nets import linear_units
from saddlescope.observables import FullLoss, UnitNorms
from saddlescope.optimisers import GradientDescent, LossBelow
from saddlescope.results import Results, collect, each_run
from saddlescope.sweeps import grid, sweep
from saddlescope.training import every, on_cut, train

LRS = (0.05, 0.001, 50.0)


def mixed():
    """Three minibatch runs: two of different lengths, one that diverges."""

    def setting(lr):
        return minibatch_setting(optimiser=GradientDescent(lr), stop=(LossBelow(0.45),), epochs=120)

    return setting, sweep(setting, grid(lr=LRS), (FullLoss(),), every(40, 120) | on_cut(after=10))


def test_runs_of_different_lengths_come_back_as_they_were():
    setting, table = mixed()
    assert len(set(table["length"].values.tolist())) == 3
    assert table["finite"].values.tolist() == [True, True, False]
    assert table["lr"].values.tolist() == list(LRS)
    for lr, run in zip(LRS, each_run(table), strict=True):
        alone = train(setting(lr), (FullLoss(),), every(40, 120) | on_cut(after=10))
        for name in ("loss", "full_loss", "learning_rate", "saved_epoch", "saved_because", "event_kind", "status"):
            np.testing.assert_array_equal(run[name].values, alone[name].values.astype(run[name].dtype))
    wild = list(each_run(table))[2]
    assert str(wild["status"].values).startswith("diverged")
    assert not np.isfinite(wild["loss"].values[-1])
    assert np.isfinite(wild["loss"].values[:-1]).all()


def test_padding_is_nan_and_only_padding():
    _, table = mixed()
    for row, n in zip(table["loss"].values, table["length"].values, strict=True):
        assert np.isnan(row[n:]).all()
        assert np.isfinite(row[: n - 1]).all()


def test_selection_keeps_measured_and_predicted_together():
    points = grid(target=("a", "b"), seed=range(2))
    runs = [xr.Dataset({"x": float(i)}) for i in range(4)]
    results = Results(collect(runs, points), collect(runs, points))
    part = results.select(target="b", seed=(0, 1))
    assert part.measured["x"].values.tolist() == part.predicted["x"].values.tolist() == [2.0, 3.0]
    with pytest.raises(InvalidInput, match="no axis 'sede'"):
        results.select(sede=1)


def test_widths_may_differ_between_runs():
    def setting(units):
        return linear_setting(net=linear_units(units, 0.1), steps=5)

    table = sweep(setting, grid(units=(2, 4)), (UnitNorms(),), every(5, 5))
    assert [run["unit_norm"].shape for run in each_run(table)] == [(2, 2), (2, 4)]
    assert table["finite"].all()


def test_a_run_that_measured_nothing_is_still_there():
    runs = [xr.Dataset({"a": 1.0, "b": ("mode", [1.0, 2.0])}), xr.Dataset({"a": 2.0})]
    table = collect(runs, [{"seed": 0}, {"seed": 1}])
    assert np.isnan(table["b"].values[1]).all()
    assert table["mode_length"].values.tolist() == [2, 0]


def test_names_and_kinds_that_clash_are_refused():
    with pytest.raises(InvalidInput, match="'loss' cannot be an axis name"):
        collect([train(linear_setting(steps=2))], [{"loss": 1}])
    with pytest.raises(InvalidInput, match="count time differently"):
        collect([train(linear_setting(steps=2)), train(minibatch_setting(epochs=2))], [{}, {}])
    with pytest.raises(InvalidInput, match="positive number of processes"):
        sweep(minibatch_setting, [{}], workers=0)
