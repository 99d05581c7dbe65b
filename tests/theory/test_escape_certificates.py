"""Certificates of escape speeds against answers from outside: brute force over directions, a
mixed-integer program over weights, random nets, closed forms of circles.
"""

from functools import cache

import numpy as np
import pytest
from theory.depth3_program import best_speed

from saddlescope.errors import InvalidInput
from saddlescope.theory.escape.certificates import (
    BOUNDED,
    EXACT,
    all_depths_optimum,
    depth2_optimum,
    depth3_optimum,
    every_depth_bound,
    speed_bound,
)
from saddlescope.theory.escape.certificates.by_width import width_optimum
from saddlescope.theory.escape.certificates.closed_set import ClosedSet
from saddlescope.theory.escape.localized import circle, localized_loss


def gaussian(seed, inputs, points, outputs=1):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((inputs, points)), rng.standard_normal((outputs, points))


def shaken_circle(seed, points):
    """A circle with alternating G, both shaken: data on which depth 3 is often faster than depth 2."""
    rng = np.random.default_rng(seed)
    X, G = circle(points)
    return X + 0.1 * rng.standard_normal(X.shape), G * rng.uniform(0.8, 1.2, G.shape)


def by_brute_force(X, G, rng):
    """max ‖Gσ(Xᵀu)‖ over unit u: the best of many directions, each refined by ever smaller random
    steps.
    """
    value = lambda u: np.linalg.norm(G @ np.maximum(X.T @ u, 0), axis=0)  # noqa: E731
    unit = lambda u: u / np.linalg.norm(u, axis=0)  # noqa: E731
    u = unit(rng.standard_normal((len(X), 50_000)))
    u = u[:, np.argsort(-value(u))[:8]]
    for size in np.geomspace(0.1, 1e-9, 300):
        tried = unit(u[:, :, None] + size * rng.standard_normal((*u.shape, 40)))
        tried = np.concatenate([u[:, :, None], tried], axis=2)
        best = np.argmax(value(tried.reshape(len(X), -1)).reshape(tried.shape[1:]), axis=1)
        u = tried[:, np.arange(u.shape[1]), best]
    return value(u).max()


@pytest.mark.parametrize("outputs", [1, 2, 3])
@pytest.mark.parametrize(("inputs", "points"), [(2, 5), (2, 12), (3, 6), (3, 10), (4, 6)])
def test_depth_2_is_the_best_of_brute_force(inputs, points, outputs):
    for seed in range(3):
        X, G = gaussian([seed, inputs, points], inputs, points, outputs)
        found = depth2_optimum(X, G)
        brute = by_brute_force(X, G, np.random.default_rng(seed))
        assert found.kind == EXACT
        assert brute <= found.speed * (1 + 1e-12)
        assert found.speed == pytest.approx(brute, rel=1e-7)
        assert -localized_loss(found.weights, X, G) == pytest.approx(found.speed, rel=1e-12)
        assert [np.linalg.norm(w) for w in found.weights] == pytest.approx([1, 1])


def test_depth_2_on_points_in_special_position():
    """Repeated, opposite and zero points, several on one plane, and all in a plane of three
    dimensions.
    """
    X = np.array([[1, 1, -1, 0, 0, 2, 0], [0, 0, 0, 1, -1, 1, 0], [0, 0, 0, 0, 0, 0, 0.0]])
    G = np.array([[1, -2, 0.5, 1, 1, -1, 3.0]])
    brute = by_brute_force(X[:2], G, np.random.default_rng(0))
    assert depth2_optimum(X, G).speed == pytest.approx(brute, rel=1e-8)
    cube = np.array(np.meshgrid(*[(-1.0, 1.0)] * 3)).reshape(3, -1)
    G = np.array([[1, -1, 2, -2, 1, 1, -3, 1.0]])
    assert depth2_optimum(cube, G).speed == pytest.approx(by_brute_force(cube, G, np.random.default_rng(0)), rel=1e-7)


def test_depth_2_beyond_enumeration_is_bounded():
    X, G = gaussian(0, 12, 40)
    found = depth2_optimum(X, G)
    assert found.kind == BOUNDED
    assert by_brute_force(X, G, np.random.default_rng(0)) <= found.bound
    assert -localized_loss(found.weights, X, G) == pytest.approx(found.speed)


DATA = [
    *[(gaussian, seed, 2, 4) for seed in range(16)],
    *[(gaussian, seed, 2, 5) for seed in range(12)],
    *[(gaussian, seed, 3, 4) for seed in range(2)],
    *[(shaken_circle, seed, 6) for seed in range(22)],
]


def made(case):
    return case[0](*case[1:])


@cache
def optimum_of(case):
    return depth3_optimum(*made(case))


def case_name(case):
    """Without the function's address, which differs from process to process."""
    return f"{case[0].__name__}-{'-'.join(map(str, case[1:]))}"


@pytest.mark.parametrize("case", DATA, ids=case_name)
def test_depth_3_is_the_optimum_of_a_mixed_integer_program(case):
    """The program's rows hold to 1e-7 and its tangents to 1e-6, so that it may lie above by a few
    1e-6.
    """
    X, G = made(case)
    found = optimum_of(case)
    assert found.kind == EXACT
    assert found.speed == pytest.approx(best_speed(X, G[0], np.random.default_rng(0)), rel=1e-5)


def test_the_program_tells_depths_apart():
    """Else the test above would compare s*(2) with itself."""
    gains = [optimum_of(c).speed / depth2_optimum(*made(c)).speed - 1 for c in DATA]
    assert len(DATA) >= 50
    assert sum(gain > 0.01 for gain in gains) >= 15


@pytest.mark.parametrize("case", DATA[::4], ids=case_name)
def test_depth_3_has_weights_and_a_dual_that_prove_it(case):
    X, G = made(case)
    found = optimum_of(case)
    assert -localized_loss(found.weights, X, G) == pytest.approx(found.speed, rel=1e-12)
    assert [np.linalg.norm(w) for w in found.weights] == pytest.approx([1, 1, 1])
    assert len(found.dual) == 2 ** np.sum(G > 0) + 2 ** np.sum(G < 0)
    for (sign, chosen), (bound, lam) in found.dual.items():
        c = -sign * G[0]
        w = np.where(c < 0, lam * c, 0)
        w[list(chosen)] = c[list(chosen)]
        assert lam.min() >= 0
        assert lam.max() <= 1
        assert by_brute_force(X, w[None], np.random.default_rng(0)) <= bound * (1 + 1e-9) + 1e-12
        assert bound <= found.bound


def by_random_search(X, G, depth, rng, width=4):
    """The best speed of a random search: the best of many nets, each changed at random and kept
    where it is faster.
    """
    sizes = list(zip([len(X), *[width] * (depth - 1)], [*[width] * (depth - 1), len(G)], strict=True))
    nets = [rng.standard_normal((4_000, b, a)) for a, b in sizes]
    speeds = speeds_of(nets, X, G)
    first = np.argsort(-speeds)[:100]
    nets, speeds = [w[first] for w in nets], speeds[first]
    for size in np.geomspace(1, 1e-3, 900):
        unit = [w / np.linalg.norm(w, axis=(1, 2))[:, None, None] for w in nets]
        tried = [w + size * rng.standard_normal(w.shape) / w[0].size ** 0.5 for w in unit]
        found = speeds_of(tried, X, G)  # a speed is that of unit weights, so that those of `unit` are known
        better, speeds = found > speeds, np.maximum(found, speeds)
        nets = [np.where(better[:, None, None], t, w) for t, w in zip(tried, unit, strict=True)]
    return speeds_of(nets, X, G).max()


def speeds_of(nets, X, G):
    z, scale = X, 1.0
    for w in nets[:-1]:
        z, scale = np.maximum(w @ z, 0), scale * np.linalg.norm(w, axis=(1, 2))
    return -np.sum(G * (nets[-1] @ z), axis=(1, 2)) / (scale * np.linalg.norm(nets[-1], axis=(1, 2)))


@pytest.mark.parametrize("depth", [2, 3, 4, 5])
@pytest.mark.parametrize("outputs", [1, 2, 3])
def test_no_net_of_a_random_search_exceeds_the_bound(depth, outputs):
    rng = np.random.default_rng(depth)
    for X, G in [gaussian(seed, 2 + seed, 5, outputs) for seed in range(2)] + [shaken_circle(0, 6)]:
        found = speed_bound(X, G, depth)
        reached = by_random_search(X, G, depth, rng)
        assert 0.7 * found.speed < reached <= found.bound * (1 + 1e-9)
        assert -localized_loss(found.weights, X, G) == pytest.approx(found.speed, rel=1e-9)
        assert [np.linalg.norm(w) for w in found.weights] == pytest.approx([1] * depth)


@pytest.mark.parametrize(("width", "speed"), [(1, 0), (2, 3**0.5 / 4), (3, 2 * 3**0.5 - 3)])
def test_narrow_first_layers_on_six_points_of_a_circle(width, speed):
    """Random nets of this width come near the certificate, and not above it."""
    X, G = circle(6)
    found = width_optimum(X, G, width)
    assert found.kind == EXACT
    assert found.speed == pytest.approx(speed, abs=1e-9)
    reached = by_random_search(X, G, 3, np.random.default_rng(0), width)
    assert 0.9 * speed - 1e-12 <= reached <= found.bound + 1e-9


CIRCLES = {4: (1, 1), 6: (0, 2 * 3**0.5 - 3), 8: (2**0.5 - 1, 1 / 2), 10: (0, None), 12: (2 - 3**0.5, (3**0.5 - 1) / 2)}


@pytest.mark.parametrize("points", CIRCLES)
def test_circles_have_their_closed_forms(points):
    X, G = circle(points)
    two, three = depth2_optimum(X, G), depth3_optimum(X, G)
    assert two.kind == three.kind == EXACT
    assert two.speed == pytest.approx(CIRCLES[points][0], abs=1e-12)
    assert (two.weights is None) == (CIRCLES[points][0] == 0)
    assert three.gap < 1e-10
    if CIRCLES[points][1] is not None:
        assert three.speed == pytest.approx(CIRCLES[points][1], abs=1e-10)


def test_example_1_is_settled_at_every_depth():
    found = speed_bound(*circle(8), 5)
    assert (found.kind, found.name) == (EXACT, "closed set of weight vectors")
    assert found.bound == pytest.approx(0.5, abs=1e-9)


def test_a_closed_set_is_not_found_below_what_nets_attain():
    for seed in range(6):
        X, G = gaussian(seed, 2, 6)
        three = depth3_optimum(X, G)
        assert all_depths_optimum(X, G).kind == EXACT
        assert not ClosedSet(X, 0.999 * three.speed).contains(G[0])
    X, G = circle(8)
    assert not ClosedSet(X, 0.4999, 100_000, np.array([0, 2**0.5 / 4, 1])).contains(G[0])


def test_depth_gains_nothing_where_all_weights_have_one_sign():
    X, G = gaussian(1, 3, 7)
    found = [speed_bound(X, np.abs(G), depth) for depth in (2, 3, 7)]
    assert [f.kind for f in found] == [EXACT] * 3
    assert np.ptp([f.bound for f in found]) < 1e-9
    assert every_depth_bound(X, np.abs(G)) == pytest.approx(found[0].speed)


def test_scale_does_not_matter():
    X, G = shaken_circle(3, 6)
    plain = depth3_optimum(X, G).speed
    assert depth3_optimum(1e4 * X, 1e-9 * G).speed == pytest.approx(1e-5 * plain, rel=1e-9)


def test_two_classes_under_cross_entropy_are_one_output():
    X, G = gaussian(5, 2, 6)
    one, two = speed_bound(X, 2**0.5 * G, 3), speed_bound(X, np.concatenate([G, -G]), 3)
    assert two.kind == EXACT
    assert two.speed == pytest.approx(one.speed)


@pytest.mark.parametrize(
    ("X", "G", "depth", "word"),
    [
        (np.ones((2, 3)), np.ones((1, 4)), 3, "as many points"),
        (np.ones((2, 3)), np.full((1, 3), np.nan), 3, "finite"),
        (np.ones((2, 3)), np.zeros((1, 3)), 3, "all zero"),
        (np.ones((2, 3)), np.ones((1, 3)), 1, "at least 2"),
        (np.ones(3), np.ones((1, 3)), 2, "(inputs, points)"),
    ],
)
def test_bad_data_are_refused(X, G, depth, word):
    with pytest.raises(InvalidInput, match=word.replace("(", r"\(").replace(")", r"\)")):
        speed_bound(X, G, depth)


@pytest.mark.parametrize("depth", [2, 3, 4])
@pytest.mark.parametrize("size", [1e-12, 1e-3, 1e200])
def test_sizes_of_points_do_not_matter(depth, size):
    """x_j r with G_j / r is the same question, and the size of all points is that of the speed."""
    X, G = circle(8)
    one = speed_bound(X, G, depth)
    all_points = speed_bound(size * X, G, depth)
    assert all_points.bound == pytest.approx(size * one.bound, rel=1e-9)
    assert all_points.kind == one.kind
    factors = size ** np.linspace(0, 0.5, 8)
    each = speed_bound(X * factors, G / factors, depth)
    assert each.bound == pytest.approx(one.bound, rel=1e-9)
    assert -localized_loss(each.weights, X * factors, G / factors) == pytest.approx(each.speed, rel=1e-9)


def test_points_without_weight_do_not_matter():
    X, G = circle(8)
    far = speed_bound(np.c_[X, [1e10, 0]], np.c_[G, 0], 3)
    assert (far.speed, far.kind) == (pytest.approx(0.5), "exact")
    nothing = speed_bound(np.array([[1.0, 0]]), np.array([[0, 1.0]]), 3)
    assert (nothing.bound, nothing.kind, nothing.weights) == (0, "exact", None)


def test_a_closed_set_depends_on_the_size_of_its_vector():
    X, G = circle(8)
    found = ClosedSet(X, 0.3)
    assert found.contains(0.3 * G[0])
    assert not found.contains(G[0])
