"""The reduced-width model against descent of the wide net.

How good it is follows from what it leaves out, beside what the later modes start from. At the first drop, at time
t₁ ≈ ln(1/ε)/s₁, mode 2 has grown to ε exp(s₂t₁) = ε^(1 - s₂/s₁). The shrinking part of the draw is at ε exp(-s₂t₁),
and the part that neither grows nor shrinks (N_u ≠ N_v) is still ε. Where the moments commute none of it feeds mode 2:
the error is ε². Where they do not, the drop turns the modes and it does: the error is of the order of ε^(2s₂/s₁), and
of ε^(s₂/s₁) where N_u ≠ N_v.
"""

import numpy as np
import pytest
from theory.descent import COVARIANCE, EYE2, descend_linear, linear_setting, random_problem

from saddlescope.errors import InvalidInput
from saddlescope.nets import Neuron, Tanh, Units
from saddlescope.optimisers import GradientDescent
from saddlescope.tasks import LinearTeacher, Points
from saddlescope.theory import ReducedWidth


def gap(setting):
    """Largest gap of the two loss curves, over the start."""
    axes, predicted = ReducedWidth()(setting)["loss"]
    measured, _ = descend_linear(setting)
    assert axes == "step"
    assert predicted.shape == measured.shape
    assert measured[-1] < 0.9 * measured[0]  # something was learned
    return np.max(np.abs(predicted - measured)) / measured[0]


def slope(scales, **setting):
    """gap ∝ scale^slope, by least squares in logarithms."""
    gaps = [gap(linear_setting(scale=scale, **setting)) for scale in scales]
    return np.polyfit(np.log(scales), np.log(gaps), 1)[0]


@pytest.mark.parametrize("seed", range(2))
def test_diagonal_teacher_on_the_paper_s_covariance(seed):
    assert gap(linear_setting(((1, 0), (0, 0.5)), seed=seed, steps=4000)) < 1e-6


@pytest.mark.parametrize("seed", [4, 5, 6, 7])
def test_random_teachers(seed):
    """Teachers with s₂/s₁ > 0.1, where ε^(2s₂/s₁) times the overlap of the draws is small enough."""
    W, xx = random_problem(np.random.default_rng(seed), 3, 3)
    assert gap(linear_setting(W, xx, seed=seed, steps=4000)) < 1e-6


def test_noisy_samples():
    rng = np.random.default_rng(2)
    x = rng.standard_normal((40, 2)) * (1, 2)
    y = x @ np.array([[1, 0.3], [0, 0.8]]) + 0.3 * rng.standard_normal((40, 2))
    setting = linear_setting(task=Points(x, y), steps=4000)
    assert descend_linear(setting)[0][-1] > 0.1  # the floor
    assert gap(setting) < 1e-6


@pytest.mark.parametrize(("matrix", "covariance"), [
    (EYE2, COVARIANCE),
    (((1, 0.2, 0), (0, 0.5, 0.3)), np.eye(3)),
    (((1, 0), (0, 0.5), (0.3, 0)), 2 * np.eye(2)),
], ids=["identity teacher", "white, more inputs", "white, more outputs"])  # fmt: skip
def test_error_is_of_second_order_where_moments_commute(matrix, covariance):
    found = slope((1e-3, 1e-4, 1e-5), matrix=matrix, covariance=covariance, steps=4000)
    assert found == pytest.approx(2, abs=0.02)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("matrix", "covariance", "power"), [
    (((1, 0), (0, 0.5)), COVARIANCE, 2),
    (((1, 0, 0), (0, 0.5, 0)), ((2, 0.5, 0.3), (0.5, 1, 0.4), (0.3, 0.4, 1)), 1),
], ids=["square", "more inputs"])  # fmt: skip
def test_error_is_of_lower_order_where_moments_do_not_commute(matrix, covariance, power, seed):
    s = np.linalg.svd(np.array(matrix) @ np.array(covariance))[1]
    found = slope((1e-6, 1e-7, 1e-8), matrix=matrix, covariance=covariance, steps=4000, units=2, seed=seed)
    # 10 %: the next order, one more power of ε^(s₂/s₁), is not far below.
    assert found == pytest.approx(power * s[1] / s[0], rel=0.1)


def test_refuses_what_it_does_not_cover():
    task = LinearTeacher(EYE2, COVARIANCE, samples=64)
    for sentence, setting in (
        ("never escapes", linear_setting(((1, 0), (0, 0)), EYE2)),
        ("cannot learn", linear_setting(units=1)),
        ("linear nets", linear_setting(task=task, net=Units(4, Neuron(Tanh()), 0.1))),
        ("without momentum", linear_setting(optimiser=GradientDescent(0.01, momentum=0.9))),
        ("full-batch", linear_setting(task=task, batch=8, steps=None, epochs=10)),
    ):
        with pytest.raises(InvalidInput, match=sentence):
            ReducedWidth()(setting)
