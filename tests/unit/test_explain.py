"""The diagnosis of a run, against the closed form of a linear net, and what it refuses."""

import numpy as np
import pytest
from cases import linear_setting, minibatch_setting

from saddlescope.explanation import COLUMNS, explain
from saddlescope.observables import Parameters
from saddlescope.optimisers import GradientDescent
from saddlescope.refusal import Refusal
from saddlescope.stages import find_stages
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
    with pytest.raises(Refusal, match="weights of this run were not saved"):
        explain(train(linear_setting(steps=20)))
    with pytest.raises(Refusal, match="full-batch"):
        explain(train(minibatch_setting(epochs=3), (Parameters(),)))
    with pytest.raises(Refusal, match="without momentum"):
        explain(train(linear_setting(steps=20, optimiser=GradientDescent(0.01, momentum=0.9)), (Parameters(),)))
    with pytest.raises(Refusal, match="takes a trained run"):
        explain("x")
    with pytest.raises(Refusal, match="takes a trained run"):
        explain(run.drop_vars("setting"))
