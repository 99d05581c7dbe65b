"""Leaving times against closed forms and against the flow of the reduced equations."""

import numpy as np
import pytest
from scipy.linalg import expm

from saddlescope.theory.meanfield.leaving import blow_up_time, three_block_time, two_block_time


def test_two_blocks_reach_the_level_of_the_exact_flow():
    rng = np.random.default_rng(0)
    S, beta = 1e-5 * rng.standard_normal((2, 3))
    t = two_block_time(S, beta, 0.7, 0.5)
    flow = expm(0.7 * t * np.array([[0.0, 1.0], [1.0, 0.0]]))
    s, b = flow @ np.stack([S, beta])
    assert 0.7 * s @ b == pytest.approx(0.5, rel=1e-6)


@pytest.mark.parametrize("signs", [(1, 1, 1), (1, -1, -1), (1, -1, 1), (-1, -1, -1)])
def test_three_blocks_of_rank_one_blow_up_when_the_elliptic_integral_says(signs):
    S, N, beta = np.array(signs) * (0.03, 0.02, 0.05)
    exact = blow_up_time(S, N, beta, 0.4)
    # A level of 1e6 is reached at weights of size 100: v̇ = 2Λ v^1.5 leaves 1/(100 Λ).
    found = three_block_time(np.array([S]), np.array([[N]]), np.array([beta]), 0.4, 0.4 * 1e6)
    assert found + 1 / (100 * 0.4) == pytest.approx(exact, rel=1e-4)


def test_three_blocks_scale_as_one_over_the_draw():
    rng = np.random.default_rng(1)
    S, N, beta = rng.standard_normal(2), rng.standard_normal((2, 2)), rng.standard_normal(2)
    times = [three_block_time(e * S, e * N, e * beta, 1.0, 1e3 * e**3) for e in (1.0, 1e-2)]
    assert times[1] / times[0] == pytest.approx(100, rel=1e-6)
