"""Filters and quantiles of the stage finder against scipy's, to the last bit where scipy fuses no operations."""

import platform
from fractions import Fraction

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d, median_filter, uniform_filter1d
from scipy.special import ndtri

from saddlescope.stages import filters
from saddlescope.stages.noise import RISES
from saddlescope.stages.normal import upper_quantile
from saddlescope.stages.spikes import _that_come_back

SAME_BITS = platform.machine() == "x86_64"  # elsewhere compilers fuse a product with its sum
LENGTHS = (1, 2, 7, 100, 3001, 2 * filters.PIECE + 5)


def curve(n):
    """Values of very different sizes, so that the order of a sum shows in its last bits."""
    rng = np.random.default_rng(n)
    return np.exp(np.cumsum(rng.normal(size=n)) * 0.1) * (1 + 0.1 * rng.normal(size=n))


def assert_same(ours, theirs):
    if SAME_BITS:
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("width", [0.05, 0.3, 2.0, 4.5, 15.1875, 20.0])
def test_gaussian(n, width):
    assert_same(filters.gaussian(curve(n), width), gaussian_filter1d(curve(n), width, mode="nearest"))


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("size", [1, 2, 7, 41, 600])
def test_moving_mean(n, size):
    assert_same(filters.moving_mean(curve(n), size), uniform_filter1d(curve(n), size, mode="nearest"))
    padded = filters.moving_mean(curve(n), size, beyond=0.0)
    assert_same(padded, uniform_filter1d(curve(n), size, mode="constant"))


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("size", [1, 5, 51])
def test_moving_median(n, size):
    np.testing.assert_array_equal(filters.moving_median(curve(n), size), median_filter(curve(n), size, mode="nearest"))


@pytest.mark.parametrize("digits", [1, 16])
def test_moving_median_of_a_curve_that_falls_with_a_bump(digits):
    """Where a curve only falls, or stays, nothing needs to be sorted."""
    x = np.linspace(0, 1, 400)
    falls = np.round(1 / (1 + np.exp((x - 0.5) / 0.05)) + 0.1 * np.exp(-(((x - 0.8) / 0.01) ** 2)), digits)
    for values in (falls, -falls, np.ones(400)):
        np.testing.assert_array_equal(filters.moving_median(values, 21), median_filter(values, 21, mode="nearest"))


def test_quantiles():
    """Shares of rises are fractions of a few dozen steps."""
    shares = sorted({float(Fraction(a, b)) for b in range(1, 150) for a in range(1, b // 2 + 1) if a > RISES * b})
    assert_same([upper_quantile(s) for s in shares], ndtri(1 - np.array(shares)))
    assert upper_quantile(0.5) == 0


def test_a_point_that_comes_back_is_told_from_the_edge_of_a_drop():
    """A spike, the edge of a drop, and a last point of which nobody knows yet."""
    loss = np.array([2.0, 2, 9, 8, 2, 2, 1.8, 1, 1, 1, 5])
    off = np.array([0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1], bool)
    assert _that_come_back(loss, off, off).tolist() == [0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0]
    assert not _that_come_back(loss, off & False, off & False).any()
