"""The nearest embedded fixed point of a linear net against the least distance over Lemma 6, by another optimiser."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

from saddlescope.nets import linear_units
from saddlescope.tasks import Moments
from saddlescope.theory import nearest_embedded

OUTPUTS, INPUTS, UNITS = 2, 2, 5


def random_case(seed, width, spread):
    """Random moments, and weights near a random fixed point of this rank: u = F Bᵀ, v = G Eᵀ with Gᵀ F = 1."""
    rng = np.random.default_rng([seed, width])
    root = rng.standard_normal((INPUTS, INPUTS))
    xx, optimum = root @ root.T / INPUTS + 0.3 * np.eye(INPUTS), rng.standard_normal((OUTPUTS, INPUTS))
    vectors = np.linalg.eigh(optimum @ xx @ optimum.T)[1]
    chosen = rng.choice(OUTPUTS, width, replace=False)
    E = vectors[:, chosen]
    F, G = rng.standard_normal((2, UNITS, width))
    F = F + G @ np.linalg.inv(G.T @ G) @ (np.eye(width) - G.T @ F)
    params = {"u": F @ E.T @ optimum, "v": G @ E.T}
    moved = {n: w + spread * rng.standard_normal(w.shape) for n, w in params.items()}
    return Moments(optimum, xx, np.zeros(())), vectors, moved


def least_distance(optimum, vectors, params, width, rng):
    """Over all sets of so many eigenvectors, by SLSQP from several starts."""
    size = np.sqrt(sum((w**2).sum() for w in params.values()))
    return min(
        nearest_of_set(optimum, vectors[:, list(chosen)], params, rng) for chosen in combinations(range(OUTPUTS), width)
    ) / size  # fmt: skip


def nearest_of_set(optimum, E, params, rng):
    r, B = E.shape[1], E.T @ optimum
    halves = lambda z: z.reshape(2, UNITS, r)  # noqa: E731

    def off(z):
        F, G = halves(z)
        return np.sum((F @ B - params["u"]) ** 2) + np.sum((G @ E.T - params["v"]) ** 2)

    def slope(z):
        F, G = halves(z)
        return np.stack([2 * (F @ B - params["u"]) @ B.T, 2 * (G @ E.T - params["v"]) @ E]).ravel()

    same = {"type": "eq", "fun": lambda z: (halves(z)[1].T @ halves(z)[0] - np.eye(r)).ravel()}
    begin = np.stack([params["u"] @ np.linalg.pinv(B), params["v"] @ E]).ravel()
    starts = [begin, *(begin + 0.3 * rng.standard_normal(begin.shape) for _ in range(3))]
    ends = [minimize(off, z, jac=slope, constraints=same, method="SLSQP", options={"maxiter": 500}) for z in starts]
    return np.sqrt(min(e.fun for e in ends if e.success))


@pytest.mark.parametrize("spread", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("width", [1, 2])
def test_no_fixed_point_of_lemma_6_is_nearer(width, spread):
    """1e-4: the other optimiser stops there."""
    for seed in range(6):
        moments, vectors, params = random_case(seed, width, spread)
        least = least_distance(moments.optimum, vectors, params, width, np.random.default_rng(seed))
        found = nearest_embedded(linear_units(UNITS, 1.0), params, moments, width, INPUTS, OUTPUTS)
        assert found.fixed, seed
        assert found.distance == pytest.approx(least, rel=1e-4), (seed, found.kind)
