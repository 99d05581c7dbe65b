"""The linear system against the matrix exponential."""

import numpy as np
import pytest
from scipy.linalg import expm

from saddlescope.theory.linear_system import LinearSystem


@pytest.mark.parametrize("shape", [(2, 2), (2, 4), (3, 2), (1, 3)])
def test_time_course_is_the_matrix_exponential(shape):
    rng = np.random.default_rng(sum(shape))
    sigma, theta = rng.standard_normal(shape), rng.standard_normal((5, sum(shape)))
    M = np.block([[np.zeros((shape[0],) * 2), sigma], [sigma.T, np.zeros((shape[1],) * 2)]])
    system = LinearSystem(sigma)
    for t in (0.0, 0.3, 2.0):
        np.testing.assert_allclose(system.at(theta, t), theta @ expm(M * t), rtol=1e-11, atol=1e-11)


def test_projection_keeps_what_grows_fastest():
    system = LinearSystem(np.diag([3.0, 1.0]))
    theta = np.random.default_rng(0).standard_normal((4, 4))
    late = system.at(theta, 20.0)
    np.testing.assert_allclose(system.projected(late), late, rtol=0, atol=1e-15 * np.abs(late).max())
    np.testing.assert_allclose(system.projected(system.projected(theta)), system.projected(theta), atol=1e-15)
    assert system.exponent() == pytest.approx(1 - 1 / 3)
