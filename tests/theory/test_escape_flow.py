"""Growth, flow in q-time and blow-up of the localized loss, against scipy's solver and plain
descent."""

import itertools

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from saddlescope.errors import InvalidInput
from saddlescope.theory.escape.blow_up import blow_up_time, escape_time
from saddlescope.theory.escape.gradient import flatten, gradient_of, unflatten
from saddlescope.theory.escape.growth import (
    first_time,
    growth_rate,
    norm_after,
    printed_first_time,
    printed_rate,
    time_to_norm,
)
from saddlescope.theory.escape.localized import circle, layers_of, localized_loss, norm_of
from saddlescope.theory.escape.one_neuron import one_neuron_direction, one_neuron_weights
from saddlescope.theory.escape.q_flow import q_flow

DEPTHS = (2, 3, 4, 5)
EXAMPLE_1 = [
    np.array([[1.0, 0], [0, 1], [-1, 0], [0, -1]]) / 2,
    np.array([[1.0, -1, 1, -1]]) / 2,
    np.array([[-1.0]]),
]


def data(seed, inputs=3, points=8, outputs=2):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((inputs, points)), rng.standard_normal((outputs, points)) / points


def draw(depth, seed, X, G, width=6):
    rng = np.random.default_rng([depth, seed])
    sizes = (len(X), *(width,) * (depth - 1), len(G))
    return [rng.standard_normal((b, a)) / 3 for a, b in itertools.pairwise(sizes)]


def direction(depth, seed=0):
    X, G = data(seed)
    u, y, s = one_neuron_direction(X, G, np.random.default_rng(0))
    return X, G, one_neuron_weights(u, y, depth, (3,) * (depth - 1)), s


@pytest.mark.parametrize("depth", DEPTHS)
def test_gradient_is_that_of_finite_differences(depth):
    X, G = data(1)
    weights = draw(depth, 0, X, G)
    theta, step = flatten(weights), 1e-6
    found = flatten(gradient_of(weights, X, G))
    for i in range(0, len(theta), 7):
        e = np.zeros(len(theta))
        e[i] = step
        ahead, behind = (localized_loss(unflatten(theta + k * e, weights), X, G) for k in (1, -1))
        np.testing.assert_allclose(found[i], (ahead - behind) / (2 * step), atol=1e-8)


@pytest.mark.parametrize("depth", DEPTHS)
def test_one_neuron_direction_is_an_escape_direction(depth):
    X, G, rho, s = direction(depth)
    np.testing.assert_allclose(flatten(gradient_of(rho, X, G)), -s * flatten(rho), atol=1e-12)
    np.testing.assert_allclose([norm_of(rho) ** 2, -localized_loss(rho, X, G)], [depth, s], rtol=1e-12)


@pytest.mark.parametrize("depth", DEPTHS)
def test_growth_is_the_flow_and_the_printed_one_is_not(depth):
    X, G, rho, s = direction(depth)
    start = norm_of(rho)
    end = time_to_norm(3 * start, start, growth_rate(s, depth), depth)

    def velocity(t, z):
        return -flatten(gradient_of(unflatten(z, rho), X, G))

    found = solve_ivp(velocity, (0, end), flatten(rho), method="DOP853", rtol=1e-11, atol=1e-13)
    norms = np.linalg.norm(found.y, axis=0)
    np.testing.assert_allclose(norms, norm_after(found.t, start, growth_rate(s, depth), depth), rtol=1e-6)
    np.testing.assert_allclose(printed_rate(s, depth) / growth_rate(s, depth), depth ** (depth / 2))
    r = np.linalg.norm(layers_of(unflatten(found.y[:, -1], rho), X).before[-1])
    size = np.linalg.norm(layers_of(rho, X).before[-1])
    np.testing.assert_allclose(first_time(r, start, s, size, depth), end, rtol=1e-6)
    assert first_time(r, start, s, np.linalg.norm(X), depth) <= end


@pytest.mark.parametrize("depth", DEPTHS)
def test_printed_bound_exceeds_the_time_for_large_data(depth):
    """‖Y_ρ‖ = 100, and a level that is reached after 0.2 % of growth."""
    start, s, size = np.sqrt(depth), 1.0, 100.0
    r = 1.002**depth * size
    assert printed_first_time(r, start, s, depth) > first_time(r, start, s, size, depth) > 0


def test_norm_is_infinite_past_the_blow_up():
    assert np.isinf(norm_after(2.0, 1.0, 1.0, 3))
    np.testing.assert_allclose(time_to_norm(np.inf, 0.5, 2.0, 4), quad(lambda R: 1 / (2 * R**3), 0.5, np.inf)[0])


@pytest.mark.parametrize("depth", DEPTHS)
def test_q_flow_is_the_flow_in_t(depth):
    """Near an escape direction, up to where it slides; a gap of time counts (R/R₀)^(L−2)-fold near
    the blow-up."""
    X, G, rho, _ = direction(depth, seed=5)
    noise = draw(depth, 2, X, G, width=3)
    start = [w + n / norm_of(noise) for w, n in zip(rho, noise, strict=True)]
    size = norm_of(start)
    rows = []
    for now in q_flow(start, X, G):
        if now.slides or now.log_norm > 1:
            break
        rows.append(now)
    last = rows[-1]
    assert last.log_norm > 0.3

    def velocity(t, z):
        return -flatten(gradient_of(unflatten(z, start), X, G))

    end = last.time * size ** (2.0 - depth)
    found = solve_ivp(velocity, (0, end), flatten(start), method="DOP853", rtol=1e-11, atol=1e-13).y[:, -1]
    np.testing.assert_allclose(np.linalg.norm(found), size * np.exp(last.log_norm), rtol=1e-6)
    np.testing.assert_allclose(found / np.linalg.norm(found), flatten(last.weights), atol=1e-6)


def euler_blow_up(weights, X, G, turn):
    """Plain Euler steps in θ, h = turn ‖θ‖ / ‖∇L0‖, until the norm is 1e4 times the start;
    Proposition 2.2 then."""
    depth, theta, t = len(weights), flatten(weights), 0.0
    far = 1e4 * np.linalg.norm(theta)
    while np.linalg.norm(theta) < far:
        gradient = flatten(gradient_of(unflatten(theta, weights), X, G))
        h = turn * np.linalg.norm(theta) / np.linalg.norm(gradient)
        theta, t = theta - h * gradient, t + h
    R = np.linalg.norm(theta)
    rate = -depth * localized_loss(unflatten(theta / R, weights), X, G)
    return t + R ** (2 - depth) / ((depth - 2) * rate)


@pytest.mark.parametrize("depth", [3, 4])
@pytest.mark.parametrize("seed", range(4))
def test_blow_up_is_the_limit_of_euler_steps(depth, seed):
    """Random draws slide along kinks; 2 %: both have errors there in proportion to their steps."""
    X, G = circle(8)
    weights = draw(depth, seed, X, G)
    coarse, fine = (euler_blow_up(weights, X, G, turn) for turn in (0.01, 0.005))
    np.testing.assert_allclose(blow_up_time(weights, X, G), 2 * fine - coarse, rtol=0.02)


def test_the_worst_of_these_closes_in_on_euler_with_slope_one():
    X, G = circle(8)
    weights = draw(4, 2, X, G)
    gaps = [euler_blow_up(weights, X, G, 0.64 * turn) - blow_up_time(weights, X, G, turn) for turn in (1 / 64, 1 / 256)]
    np.testing.assert_allclose(np.log(gaps[0] / gaps[1]) / np.log(4), 1, atol=0.3)


def test_blow_up_of_a_direction_is_closed_form():
    X, G, rho, s = direction(4)
    np.testing.assert_allclose(
        blow_up_time(rho, X, G), time_to_norm(np.inf, norm_of(rho), growth_rate(s, 4), 4), rtol=1e-7
    )


@pytest.mark.parametrize("alpha", [1e-1, 1e-3])
def test_blow_up_scales_exactly(alpha):
    X, G = circle(8)
    weights = draw(4, 0, X, G)
    scaled = blow_up_time([alpha * w for w in weights], X, G)
    np.testing.assert_allclose(scaled, alpha**-2 * blow_up_time(weights, X, G), rtol=1e-9)


def test_blow_up_refuses_depth_two_and_is_infinite_for_a_dead_net():
    X, G = circle(8)
    with pytest.raises(InvalidInput, match="depth 3"):
        blow_up_time([np.ones((2, 2)), np.ones((1, 2))], X, G)
    dead = [np.ones((2, 2)), -np.ones((2, 2)), np.ones((1, 2))]
    assert np.isinf(blow_up_time(dead, X, G))
    assert np.isinf(escape_time(dead, X, G, 0.1, 1.0))


@pytest.mark.parametrize(("depth", "power"), [(2, 0.0), (3, 0.0), (4, 2.0)])
def test_escape_time_counts_the_steps_of_descent(depth, power):
    X, G = data(5)
    weights = draw(depth, 4, X, G)
    level, lr = 0.5 * np.linalg.norm(X), 0.002 * norm_of(weights) ** power
    said = escape_time(weights, X, G, lr, level, power)
    now, steps = weights, 0
    while np.linalg.norm(layers_of(now, X).before[-1]) < level:
        rate = lr * norm_of(now) ** -power
        now = [w - rate * g for w, g in zip(now, gradient_of(now, X, G), strict=True)]
        steps += 1
    assert steps > 200
    np.testing.assert_allclose(said, steps, rtol=0.02)


def test_the_direction_of_example_1_has_speed_one_half():
    X, G = circle(8)
    np.testing.assert_allclose(-localized_loss(EXAMPLE_1, X, G), 0.5, atol=1e-15)


ONES = [[[1.0]]] * 3


def test_a_net_that_only_shrinks_never_leaves():
    """L0 = w₃w₂w₁ > 0: the flow goes to the origin. Lists are taken as arrays."""
    assert np.isinf(blow_up_time(ONES, [[1.0]], [[1.0]]))
    assert np.isinf(escape_time(ONES, [[1.0]], [[1.0]], 0.1, 2.0))
    assert blow_up_time(ONES, [[1.0]], [[-1.0]]) == pytest.approx(1)


def test_a_flow_that_rests_on_a_kink_never_leaves():
    """x = ±1 with G = 1: any neuron loses on one of them, and dies at the kink of the other layer."""
    rng = np.random.default_rng(0)
    weights = [rng.standard_normal(s) for s in ((2, 1), (2, 2), (1, 2))]
    X, G = np.array([[1.0, -1]]), np.array([[1.0, 1]])
    assert np.isinf(escape_time(weights, X, G, 0.1, 10.0))


@pytest.mark.parametrize("layer", range(3))
def test_a_layer_that_is_nearly_zero_counts(layer):
    """w₁′ = w₂w₃ and so on from (1, 1, 0): w₃ = tan t, so that T∞ = π/2."""
    sizes = np.ones(3)
    sizes[layer] = 1e-13
    found = blow_up_time([[[s]] for s in sizes], [[1.0]], [[-1.0]])
    assert found == pytest.approx(np.pi / 2, rel=1e-8)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (([[[np.nan]], *ONES[1:]], [[1.0]], [[1.0]]), "1 in weights"),
        ((ONES, [[np.inf]], [[1.0]]), "1 in X"),
        ((ONES, [["a"]], [[1.0]]), "tables of numbers"),
        ((5, [[1.0]], [[1.0]]), "tables of numbers"),
    ],
)
def test_bad_weights_are_one_sentence_at_once(bad, said):
    for function in (blow_up_time, lambda *net: escape_time(*net, 0.1, 1.0)):
        with pytest.raises(InvalidInput, match=said):
            function(*bad)
