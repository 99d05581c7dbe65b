"""The gap between descent and flow, against the closed-form flow of one unit and plain NumPy descent."""

import numpy as np
import pytest
from theory.descent import linear_setting

from saddlescope.errors import InvalidInput
from saddlescope.initials import given_weights
from saddlescope.nets import linear_units, low_rank
from saddlescope.optimisers import GradientDescent
from saddlescope.tasks import LinearTeacher, cosine
from saddlescope.theory import EulerGap

START = 0.1  # of both weights, so that they stay equal


def one_unit(lr, time=4.0):
    """One unit, one input, one output, teacher 1 on white data: L = (1 - uv)²."""
    start = given_weights({"u": np.array([[START]]), "v": np.array([[START]])})
    given = dict(task=LinearTeacher(((1,),), ((1,),)), net=linear_units(1, 0.1), initial=start)
    return linear_setting(lr=lr, steps=round(time / lr), **given)


def gap_by_hand(lr, time=4.0):
    """The flow of a = u² is ȧ = 4 a (1 - a), a logistic curve; descent is written out."""
    steps = round(time / lr)
    t, a0 = lr * np.arange(steps + 1), START**2
    flow = a0 / (a0 + (1 - a0) * np.exp(-4 * t))
    u, descent = START, []
    for _ in range(steps + 1):
        descent.append(u * u)
        u = u + 2 * lr * (1 - u * u) * u
    return np.max(np.abs((1 - np.array(descent)) ** 2 - (1 - flow) ** 2))


def said(setting):
    axes, value = EulerGap()(setting)["gap"]
    assert axes == ()
    return value


def test_the_error_of_the_first_order_is_of_second_order():
    rates = np.array([0.02, 0.01, 0.005, 0.0025])
    errors = [abs(said(one_unit(lr)) / gap_by_hand(lr) - 1) for lr in rates]
    slope = np.polyfit(np.log(rates), np.log(errors), 1)[0]
    assert slope == pytest.approx(1, abs=0.1)
    assert errors[-1] < 0.01


def test_it_is_proportional_to_the_learning_rate():
    assert said(one_unit(0.002)) / said(one_unit(0.001)) == pytest.approx(2, rel=1e-4)


def test_refuses_what_is_not_plain_descent_of_all_weights():
    with pytest.raises(InvalidInput, match="full-batch gradient descent"):
        EulerGap()(linear_setting(optimiser=GradientDescent(0.01, momentum=0.9)))
    with pytest.raises(InvalidInput, match="at one rate"):
        EulerGap()(linear_setting(task=cosine(1, 16), net=low_rank(2, 1, 4)))
