"""The largest singular values, by iteration, against the whole decomposition."""

import numpy as np
import pytest

from saddlescope.errors import InvalidInput
from saddlescope.observables import TopSingularValues
from saddlescope.observables.singular_values import top_singular_values


def layer(sizes, noise, shape=(300, 200)):
    """Noise with directions of the given sizes over it."""
    rng = np.random.default_rng(0)
    left, right = (np.linalg.qr(rng.standard_normal((n, len(sizes))))[0] for n in shape)
    return noise * rng.standard_normal(shape) + (left * sizes) @ right.T


@pytest.mark.parametrize("noise", [1e-12, 1e-6, 1.0])
@pytest.mark.parametrize("turned", [False, True])
def test_they_are_those_of_the_whole_decomposition(noise, turned):
    w = layer(np.array([3.0, 1.0, 1e-3]), noise)
    w = w.T if turned else w
    np.testing.assert_allclose(top_singular_values(w, 3), np.linalg.svd(w, compute_uv=False)[:3], rtol=1e-9)


def test_the_size_of_the_weights_does_not_matter():
    w = layer(np.array([3.0, 1.0]), 1e-3)
    np.testing.assert_allclose(top_singular_values(1e-200 * w, 2), 1e-200 * top_singular_values(w, 2), rtol=1e-12)


def test_of_what_is_not_finite_they_are_not_either():
    w = layer(np.array([1.0]), 1.0)
    w[3, 4] = np.nan
    assert np.isnan(top_singular_values(w, 3)).all()


def test_of_nothing_they_are_nothing():
    assert top_singular_values(np.zeros((300, 200)), 3).tolist() == [0, 0, 0]


def test_of_a_small_matrix_no_more_than_there_are():
    assert top_singular_values(np.diag([1.0, 3.0]), 5).tolist() == [3, 1]


@pytest.mark.parametrize("most", [0, -1, 2.5])
def test_a_count_is_asked_for(most):
    with pytest.raises(InvalidInput, match="most"):
        TopSingularValues(most)
