"""Lemma 6 against the gradient of a plain NumPy net and the loss on samples."""

import numpy as np
import pytest

from saddlescope.tasks import Moments, Samples
from saddlescope.theory.linear_fixed_points import LinearFixedPoints


@pytest.fixture
def samples():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((50, 3)) @ rng.standard_normal((3, 3))
    return x, x @ rng.standard_normal((3, 3)) + 0.3 * rng.standard_normal((50, 3))


def test_every_set_is_a_fixed_point_at_its_level(samples):
    x, y = samples
    points = LinearFixedPoints(Moments.of(Samples(x, y)))
    assert len(points.sets) == 8
    for chosen in points.sets:
        p = points.weights(chosen, 5, np.random.default_rng(1))
        error = y - x @ p["u"].T @ p["v"]
        slopes = p["u"] @ x.T @ error / 50, p["v"] @ error.T @ x / 50
        assert max(np.abs(s).max() for s in slopes) < 1e-10
        assert points.level(chosen) == pytest.approx((error**2).sum(1).mean(), rel=1e-10)
        assert points.nearest(p)[0] == chosen
        assert points.outside(p, chosen) < 1e-10


def test_weights_off_the_list_are_told(samples):
    points = LinearFixedPoints(Moments.of(Samples(*samples)))
    p = points.weights((0, 2), 5, np.random.default_rng(1))
    moved = p | {"u": p["u"] + 0.1}
    assert points.nearest(moved)[1] > 1e-2
    assert points.outside(moved, (0, 2)) > 1e-2
