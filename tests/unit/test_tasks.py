"""Tasks against their formulas, and the grid's limit."""

import numpy as np
import pytest

from saddlescope.errors import InvalidInput
from saddlescope.tasks import (
    ArrayTask,
    Chirp,
    Cosines,
    FunctionTask,
    cosine,
    cosine_sum,
    dyadic,
    multi_frequency,
    two_sided_step,
)

RNG = np.random.default_rng(0)
X = np.linspace(-1, 1, 41)
PI = np.pi


def parabola(x):
    return x**2


FORMULAS = {
    "one cosine": (cosine(1.5, 41), np.cos(3 * PI * X)),
    "a sum": (cosine_sum(3, 41), np.cos(2 * PI * X) + np.cos(4 * PI * X) + np.cos(6 * PI * X)),
    "dyadic": (dyadic(3, 41), np.cos(2 * PI * X) + np.cos(4 * PI * X) + np.cos(8 * PI * X)),
    "chirp": (Chirp(6, 2, 41), np.cos(6 * PI * X**2) - 0.8 * np.cos(2 * PI * X**2)),
    "phases": (
        multi_frequency(0.2, 41),
        np.cos(2.4 * PI * X) + np.cos(4.8 * PI * X + 0.5) + np.cos(7.2 * PI * X) + np.cos(14.4 * PI * X + 0.5),
    ),
    "amplitudes": (Cosines((1, 2), 41, amplitudes=(0.5, -2)), 0.5 * np.cos(2 * PI * X) - 2 * np.cos(4 * PI * X)),
    "a function": (FunctionTask(parabola, 41), X**2),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_targets_are_their_formulas_on_a_grid_with_both_ends(name):
    task, y = FORMULAS[name]
    data = task.data(RNG)
    np.testing.assert_allclose(data.x[:, 0], X, rtol=0, atol=1e-15)
    np.testing.assert_allclose(data.y[:, 0], y, rtol=0, atol=1e-12)


def test_two_sided_step():
    data = two_sided_step(0.5, 2.0).data(RNG)
    assert data.x.tolist() == [[-0.5], [0.5]]
    assert data.y.tolist() == [[2.0], [-2.0]]


def test_arrays_of_ones_own():
    task = ArrayTask([1, 2, 3], [[1, 2], [3, 4], [5, 6]])
    assert (task.inputs, task.outputs, task.size) == (1, 2, 3)
    assert task.data(RNG).y[2].tolist() == [5, 6]


def test_the_nyquist_limit_is_where_another_cosine_has_the_same_samples():
    """On N samples, frequencies that mirror at (N - 1) / 4 agree on the grid: the limit is that mirror."""
    limit = (13 - 1) / 4
    slow, fast = cosine(limit - 1, 13), cosine(limit + 1, 13, allow_aliasing=True)
    np.testing.assert_allclose(slow.data(RNG).y, fast.data(RNG).y, atol=1e-12)
    assert fast.aliased
    assert not slow.aliased
    assert not cosine(limit, 13).aliased


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: cosine_sum(5, 16), "use 21 samples or more"),
        (lambda: Chirp(36, 12, 100), "Nyquist limit of a grid of 100 samples"),
        (lambda: cosine_sum(0, 16), "at most 10,000; got 0"),
        (lambda: Cosines((), 16), "Frequencies must be positive"),
        (lambda: Cosines((1, -2), 16), "Frequencies must be positive"),
        (lambda: Cosines((1, 2), 16, phases=(1,)), "one number for each of 2 cosines; got 1"),
        (lambda: Cosines("abc", 16), "are numbers, one per term"),
        (lambda: cosine(1, 1), "two samples or more"),
        (lambda: cosine(float("nan"), 20), "must be finite"),
        (lambda: ArrayTask([1, 2], [1]), "Every input needs a target"),
        (lambda: ArrayTask([1, float("inf")], [1, 2]), "finite numbers"),
        (lambda: FunctionTask(lambda x: x[:3], 9).data(RNG), "one finite number for each x"),
        (lambda: two_sided_step(-1, 1), "must be positive"),
    ],
)
def test_bad_tasks_are_refused(make, said):
    with pytest.raises(InvalidInput) as refused:
        make()
    assert said in str(refused.value)


def test_the_suggested_number_of_samples_is_the_smallest_that_does():
    assert not cosine_sum(5, 21).aliased
    with pytest.raises(InvalidInput):
        cosine_sum(5, 20)
