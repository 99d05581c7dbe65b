"""The diagnosis of a run, against the closed form of a linear net, and what it refuses."""

import numpy as np
import pytest
from cases import linear_setting, minibatch_setting

from saddlescope.errors import InvalidInput
from saddlescope.explanations import COLUMNS, explain
from saddlescope.nets import Neuron, TanhTimes, Units
from saddlescope.observables import Parameters
from saddlescope.optimisers import GradientDescent
from saddlescope.setting import Setting
from saddlescope.stages import find_stages
from saddlescope.tasks import ArrayTask, Teacher
from saddlescope.theory import DropSchedule, LinearLevels
from saddlescope.training import every, train


@pytest.fixture(scope="module")
def run():
    return train(linear_setting(steps=1200), (Parameters(),), every(5, 1200))


def test_linear_net_is_explained_as_its_closed_form_says(run):
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in explain(run).rows]
    setting = linear_setting(steps=1200)
    levels, drops = LinearLevels()(setting)["plateau_level"][1], DropSchedule()(setting)["drop_step"][1]
    assert [row["width"] for row in rows] == [0, 1, 2]
    assert [row["its kind"] for row in rows] == ["strict saddle", "strict saddle", "minimum"]
    np.testing.assert_allclose([row["its level"] for row in rows], levels, atol=1e-9)
    np.testing.assert_allclose([rows[0]["predicted"], rows[1]["predicted"]], drops, rtol=0.02)
    seen = find_stages(run["loss"].values)
    np.testing.assert_allclose([row["predicted"] for row in rows[:2]], [d.at for d in seen.drops], rtol=0.01)
    np.testing.assert_allclose([row["its level"] for row in rows[:2]], [p.level for p in seen.plateaus[:2]], rtol=1e-3)
    assert rows[1]["manifold"] == "(iv) span"
    assert rows[1]["fixed point at"] < 1e-3


def test_the_end_of_a_plateau_is_predicted_before_it_comes(run):
    """From the first 600 of 1,200 steps: the second drop, which comes later."""
    rows = explain(train(linear_setting(steps=600), (Parameters(),), every(5, 600))).rows
    last = dict(zip(COLUMNS, rows[-1], strict=True))
    assert last["next drop"] is None
    assert last["predicted"] == pytest.approx(explain(run).rows[1][COLUMNS.index("next drop")], rel=0.02)


def test_a_plateau_without_saved_weights_says_so():
    rows = explain(train(linear_setting(steps=1200), (Parameters(),), every(1200, 1200))).rows
    assert [row[4] for row in rows] == ["all silent", "no weights saved on it", "(iv) span"]


def test_it_prints_a_table(run):
    text = explain(run).text()
    assert "strict saddle" in text
    assert "next drop" in text


def test_what_cannot_be_explained_is_refused(run):
    with pytest.raises(InvalidInput, match="weights of this run were not saved"):
        explain(train(linear_setting(steps=20)))
    with pytest.raises(InvalidInput, match="full-batch"):
        explain(train(minibatch_setting(epochs=3), (Parameters(),)))
    with pytest.raises(InvalidInput, match="without momentum"):
        explain(train(linear_setting(steps=20, optimiser=GradientDescent(0.01, momentum=0.9)), (Parameters(),)))
    with pytest.raises(InvalidInput, match="takes a trained run"):
        explain("x")
    with pytest.raises(InvalidInput, match="takes a trained run"):
        explain(run.drop_vars("setting"))
    with pytest.raises(InvalidInput, match="there is no run 3"):
        explain(run, 3)
    with pytest.raises(InvalidInput, match="were not saved"):
        explain(run.drop_vars("param_v"))
    with pytest.raises(InvalidInput, match="diverged"):
        explain(run.assign(param_u=run.param_u * np.nan))


def test_a_run_on_arrays_of_ones_own_is_explained_with_its_setting():
    """The arrays are not in the run, only their hashes; a lambda is not stored at all."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 2)) * (1, 2)
    setting = linear_setting(task=ArrayTask(x, x), steps=300)
    made = train(setting, (Parameters(),), every(5, 300))
    with pytest.raises(InvalidInput, match="setting="):
        explain(made)
    assert explain(made, setting=setting).rows[0][COLUMNS.index("its kind")] == "strict saddle"


def test_single_precision_is_explained_as_double_is(run):
    single = train(linear_setting(steps=1200, precision="float32"), (Parameters(),), every(5, 1200))
    for name in ("width", "its kind"):
        assert [r[COLUMNS.index(name)] for r in explain(single).rows[:2]] == [
            r[COLUMNS.index(name)] for r in explain(run).rows[:2]
        ]
    for name in ("its level", "predicted"):
        at = COLUMNS.index(name)
        both = ([r[at] for r in explain(one).rows[:2]] for one in (single, run))
        np.testing.assert_allclose(*both, rtol=0.01)


def test_what_is_far_is_not_called_a_saddle():
    """z tanh z: one unit does best with infinite weights, and the plateau waits at no fixed point."""
    task = Teacher(TanhTimes(1), ((1, 0), (0, 2)), 200)
    setting = Setting(task, Units(6, Neuron(TanhTimes(1)), 0.05), GradientDescent(0.02), steps=1500, seed=1)
    rows = [
        dict(zip(COLUMNS, row, strict=True)) for row in explain(train(setting, (Parameters(),), every(5, 1500))).rows
    ]
    far = [row for row in rows if row["its kind"] in ("none near", "none found")]
    assert far
    assert all(row["predicted"] is None and row["fixed point at"] is None for row in far)
