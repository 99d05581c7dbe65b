"""The loss on the first samples, against a mean written out."""

import numpy as np
import pytest
from cases import linear_setting, minibatch_setting

from saddlescope.errors import InvalidInput
from saddlescope.observables import FullLoss, LossOnFirst
from saddlescope.training import loss_at, observe_at


def test_it_is_the_mean_over_these_samples():
    setting = minibatch_setting()
    params, data = setting.initial_params(), setting.data()
    outputs = np.tanh(data.x @ params["u"][:, :1].T + params["u"][:, 1]) @ params["v"]
    brute = np.mean(np.sum((data.y - outputs)[:5] ** 2, axis=1))
    found = observe_at(setting, params, LossOnFirst(5))["loss_on_first"]
    assert found == pytest.approx(brute, rel=1e-12)
    everything = observe_at(setting, params, (LossOnFirst(10_000), FullLoss()))
    assert everything["loss_on_first"] == pytest.approx(everything["full_loss"], rel=1e-14)
    assert loss_at(setting, params) == pytest.approx(everything["full_loss"], rel=1e-14)


def test_refuses_a_population_and_no_samples():
    setting = linear_setting()
    with pytest.raises(InvalidInput, match="population"):
        observe_at(setting, setting.initial_params(), LossOnFirst(5))
    with pytest.raises(InvalidInput, match="positive whole number"):
        LossOnFirst(0)
