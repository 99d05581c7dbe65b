"""Closed-form kernels and means of feature laws against quadrature by scipy."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import dblquad, quad
from scipy.stats import norm

from saddlescope.errors import InvalidInput
from saddlescope.meanfield.laws import GaussianFeatures, SphereFeatures, UniformFeatures
from saddlescope.nets import Erf, LeakyReLU, ReLU, RoundedLeakyReLU, Sigmoid, Tanh
from saddlescope.numerics import reproducible
from saddlescope.theory.meanfield.kernel import closed_form, gaussian_kernel, gaussian_mean
from saddlescope.theory.meanfield.pairs import LEAKY, pair, single

CLOSED = (ReLU(), LeakyReLU(0.1), LeakyReLU(0.5), Erf())
RNG = np.random.default_rng(4)


def in_numpy(activation):
    from scipy.special import erf, expit

    slope = {ReLU: 0.0, LeakyReLU: getattr(activation, "slope", 0.0)}.get(type(activation))
    smooth = {Erf: erf, Tanh: np.tanh, Sigmoid: expit}.get(type(activation))
    return smooth or (lambda z: np.where(z > 0, z, slope * z))


def polar(phi, u, v):
    """E φ(g·u) φ(g·v) over g in the plane of u and v: a Gauss rule of |g| between the rays on which φ bends.

    A homogeneous φ² is a polynomial in |g|, and erf is smooth: 80 nodes of |g| up to 9 and 60 per arc are exact.
    """
    size_u, size_v = np.linalg.norm(u), np.linalg.norm(v)
    theta = np.arccos(np.clip(u @ v / size_u / size_v, -1, 1))
    bends = np.sort(np.array([np.pi / 2, 3 * np.pi / 2, theta + np.pi / 2, theta - np.pi / 2]) % (2 * np.pi))
    edges = np.append(bends, bends[0] + 2 * np.pi)
    x, w = np.polynomial.legendre.leggauss(80)
    r, wr = 4.5 * (x + 1), 4.5 * w
    total = 0.0
    for a, b in pairwise(edges):
        angle, wa = (a + b) / 2 + (b - a) / 2 * x, (b - a) / 2 * w
        R, A = np.meshgrid(r, angle)
        f = phi(size_u * R * np.cos(A)) * phi(size_v * R * np.cos(A - theta)) * R * np.exp(-(R**2) / 2) / (2 * np.pi)
        total += wa @ f @ wr
    return total


@pytest.mark.parametrize("activation", CLOSED)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_gaussian_kernels_with_bias(activation, d):
    """To 1e-10, in 1, 2 and 5 dimensions, with a bias of another deviation; the cut at |g| = 9 is e^-40."""
    x = 0.6 * RNG.standard_normal((3, d))
    law = GaussianFeatures(0.8, 0.5)
    with reproducible():
        found = law.kernel(activation, x, x)
    u = np.hstack([0.8 * x, np.full((3, 1), 0.5)])
    wanted = [[polar(in_numpy(activation), a, b) for b in u] for a in u]
    assert np.abs(found - wanted).max() < 1e-10


@pytest.mark.parametrize("activation", [Tanh(), Sigmoid()])
def test_smooth_kernels_by_quadrature(activation):
    """In two coordinates by a product rule, in three by angles; sizes up to 3."""
    u = np.array([[0.9, 0.5], [-0.3, 0.5], [3.0, 0.5]])
    wanted = [[polar(in_numpy(activation), a, b) for b in u] for a in u]
    with reproducible():
        assert np.abs(gaussian_kernel(activation, u, u) - wanted).max() < 1e-10
        more = np.hstack([u, np.zeros((3, 1))])
        assert np.abs(gaussian_kernel(activation, more, more) - wanted).max() < 1e-10


@pytest.mark.parametrize(("width", "within"), [(0.5, 1e-10), (0.1, 1e-10), (0.01, 1e-4)])
def test_rounded_leaky_relu(width, within):
    """Exact while its rounding is resolved; at a width of 0.01 2,001 nodes leave the error of a kink, h²."""
    activation, alpha = RoundedLeakyReLU(width), 0.1

    def phi(z):
        return (1 + alpha) / 2 * z + (1 - alpha) / 2 * (np.hypot(z, width) - width)

    with reproducible():
        mean = gaussian_mean(activation, np.array([[1.2]]))[0][0]
        kernel = gaussian_kernel(activation, np.array([[1.2]]), np.array([[-0.7]]))[0, 0]
    parts = [(-12, -1), (-1, -0.1), (-0.1, 0), (0, 0.1), (0.1, 1), (1, 12)]
    average = lambda f: sum(quad(lambda z: f(z) * norm.pdf(z), *p, epsabs=1e-13)[0] for p in parts)  # noqa: E731
    assert mean == pytest.approx(average(lambda z: phi(1.2 * z)), abs=within)
    assert kernel == pytest.approx(average(lambda z: phi(1.2 * z) * phi(-0.7 * z)), abs=within)


@pytest.mark.parametrize("activation", [*CLOSED, Tanh(), Sigmoid()])
def test_gaussian_means(activation):
    phi, v = in_numpy(activation), np.array([[0.4, 0.3], [1.5, -1.0]])
    with reproducible():
        mean, slope = gaussian_mean(activation, v)
    for i, s in enumerate(np.linalg.norm(v, axis=1)):
        parts = [(-12, 0), (0, 12)]
        of_mean = sum(quad(lambda z, s=s: phi(s * z) * norm.pdf(z), *p, epsabs=1e-13)[0] for p in parts)
        of_slope = sum(quad(lambda z, s=s: z * phi(s * z) * norm.pdf(z), *p, epsabs=1e-13)[0] for p in parts) / s
        assert mean[i] == pytest.approx(of_mean, abs=1e-10)
        assert slope[i] == pytest.approx(of_slope, abs=1e-10)


@pytest.mark.parametrize("activation", CLOSED)
@pytest.mark.parametrize("angle", [1e-6, 0.3, 1.5, 3.0, np.pi - 1e-6])
def test_gradients_of_pairs(activation, angle):
    """∂k/∂v by central differences: 1e-8 is their own error at steps of 1e-5 and 1e-16/1e-5 of rounding."""
    kind, alpha = closed_form(activation) or (LEAKY, np.nan)
    u, v = np.array([0.7, 0.0]), 1.3 * np.array([np.cos(angle), np.sin(angle)])

    def k(v):
        return gaussian_kernel(activation, u[None], v[None])[0, 0]

    unit_u, unit_v = u / np.linalg.norm(u), v / np.linalg.norm(v)
    apart, together = ((unit_u - unit_v) ** 2).sum(), ((unit_u + unit_v) ** 2).sum()
    value, by_u, by_v = pair(kind, alpha, np.linalg.norm(u), np.linalg.norm(v), apart, together)
    numeric = [(k(v + h) - k(v - h)) / 2e-5 for h in 1e-5 * np.eye(2)]
    assert value == pytest.approx(k(v), abs=1e-14)
    assert np.abs(by_u * unit_u + by_v * unit_v - numeric).max() < 1e-8


@pytest.mark.parametrize("activation", CLOSED)
def test_derivatives_of_singles(activation):
    kind, alpha = closed_form(activation) or (LEAKY, np.nan)
    up, down = (np.array(single(kind, alpha, 0.8 + h)) for h in (1e-6, -1e-6))
    _, dmu, _, dnu = single(kind, alpha, 0.8)
    numeric = (up - down) / 2e-6
    assert [dmu, dnu] == pytest.approx([numeric[0], numeric[2]], abs=1e-8)


def test_parallel_inputs_keep_their_digits():
    """At angle 1e-9 the arc cosine of the cosine would be off by 1e-8: here sin θ is exact."""
    u = np.array([[1.0, 0.0], [np.cos(1e-9), np.sin(1e-9)]])
    assert gaussian_kernel(ReLU(), u[:1], u[1:])[0, 0] == pytest.approx(0.5, abs=1e-15)
    assert gaussian_kernel(ReLU(), u[:1], -u[1:])[0, 0] == pytest.approx(1e-27 / (3 * np.pi * 2), rel=1e-3, abs=1e-24)


@pytest.mark.parametrize("activation", [ReLU(), LeakyReLU(0.1)])
def test_uniform_kernel_mean_and_slope(activation):
    """Against the integral over L of the one over b, cut where φ bends."""
    law, phi = UniformFeatures(), in_numpy(activation)
    x = np.array([[-0.8], [0.3], [1.0]])
    L, w = np.polynomial.legendre.leggauss(30)

    def over_bias(f, places):
        edges = np.unique(np.clip([-1, 1, *places], -1, 1))
        return sum((b - a) / 2 * w @ f((a + b) / 2 + (b - a) / 2 * L) for a, b in pairwise(edges)) / 2

    def average(f, points):
        inner = lambda one: over_bias(lambda b: f(one, b), [-one * p for p in points])  # noqa: E731
        return quad(inner, -1, 0, epsabs=1e-12)[0] / 2 + quad(inner, 0, 1, epsabs=1e-12)[0] / 2

    found = law.kernel(activation, x, x), law.mean(activation, x), law.slope(activation, x)
    for i, a in enumerate(x[:, 0]):
        assert found[1][i] == pytest.approx(average(lambda L, b, a=a: phi(L * a + b), [a]), abs=1e-10)
        assert found[2][i, 0] == pytest.approx(average(lambda L, b, a=a: L * phi(L * a + b), [a]), abs=1e-10)
        assert found[2][i, 1] == pytest.approx(average(lambda L, b, a=a: b * phi(L * a + b), [a]), abs=1e-10)
        for j, c in enumerate(x[:, 0]):
            wanted = average(lambda L, b, a=a, c=c: phi(L * a + b) * phi(L * c + b), [a, c])
            assert found[0][i, j] == pytest.approx(wanted, abs=1e-10)


def test_uniform_smooth_kernel():
    law = UniformFeatures(2.0, 1.5)
    with reproducible():
        found = law.kernel(Tanh(), np.array([[0.4]]), np.array([[-0.7]]))[0, 0]
    f = lambda b, L: np.tanh(0.4 * L + b) * np.tanh(-0.7 * L + b) / 12  # noqa: E731
    assert found == pytest.approx(dblquad(f, -2, 2, -1.5, 1.5, epsabs=1e-12)[0], abs=1e-10)


@pytest.mark.parametrize("bias", [True, False])
def test_sphere_by_its_angles(bias):
    """On a circle the average over the angle; with a bias and one input, or with two inputs."""
    law, phi = SphereFeatures(bias), in_numpy(LeakyReLU(0.1))
    x = np.array([[0.5], [-1.2]]) if bias else np.array([[0.5, 1.0], [-1.2, 0.3]])
    u = np.hstack([x, np.ones((2, 1))]) if bias else x

    def average(f):
        bends = np.sort(np.concatenate([np.arctan2(-u[:, 0], u[:, 1]) + k * np.pi for k in range(2)]) % (2 * np.pi))
        edges = np.append(bends, bends[0] + 2 * np.pi)
        parts = pairwise(edges)
        return sum(quad(f, a, b, epsabs=1e-13)[0] for a, b in parts) / (2 * np.pi)

    def turned(t, row):
        return phi(np.cos(t) * row[0] + np.sin(t) * row[1])

    activation = LeakyReLU(0.1)
    K, mean, slope = law.kernel(activation, x, x), law.mean(activation, x), law.slope(activation, x)
    assert K[0, 1] == pytest.approx(average(lambda t: turned(t, u[0]) * turned(t, u[1])), abs=1e-10)
    assert mean[0] == pytest.approx(average(lambda t: turned(t, u[0])), abs=1e-10)
    assert slope[0, 0] == pytest.approx(average(lambda t: np.cos(t) * turned(t, u[0])), abs=1e-10)


@pytest.mark.parametrize("law", [GaussianFeatures(0.7, 0.4), SphereFeatures(), SphereFeatures(bias=False)])
def test_draws_have_the_kernel(law):
    """Six deviations of a Monte-Carlo average in three dimensions."""
    x, count = RNG.standard_normal((2, 3)), 200_000
    drawn = law.draw(np.random.default_rng(1), count, 3)
    features = in_numpy(ReLU())(drawn @ np.hstack([x, np.ones((2, 1))]).T)
    product = features[:, 0] * features[:, 1]
    found = law.kernel(ReLU(), x, x)[0, 1]
    assert abs(product.mean() - found) < 6 * product.std() / np.sqrt(count)


def test_laws_without_a_closed_form_say_so():
    with pytest.raises(InvalidInput, match="ReLU and leaky ReLU alone"):
        SphereFeatures().kernel(Tanh(), np.ones((1, 2)), np.ones((1, 2)))
    with pytest.raises(InvalidInput, match="needs one input"):
        UniformFeatures().kernel(Tanh(), np.ones((1, 2)), np.ones((1, 2)))
    with pytest.raises(InvalidInput, match="both bounds 1"):
        UniformFeatures(2.0).kernel(ReLU(), np.ones((1, 1)), np.ones((1, 1)))
    with pytest.raises(InvalidInput, match="rescale"):
        UniformFeatures().kernel(ReLU(), 2 * np.ones((1, 1)), np.ones((1, 1)))
