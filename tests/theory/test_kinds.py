"""Embedded fixed points and invariant manifolds: against gradients, brute force and another optimiser."""

from itertools import combinations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cases import relu_setting
from scipy.optimize import minimize

from saddlescope.errors import InvalidInput
from saddlescope.losses import squared_error
from saddlescope.nets import CustomUnit, Identity, Neuron, ReLU, Sigmoid, Sin, Square, Tanh, Units, low_rank
from saddlescope.observables import Parameters
from saddlescope.tasks import Samples
from saddlescope.theory import (
    Equal,
    Rays,
    Silent,
    Span,
    data_with_fixed_point,
    embed,
    manifold_residual,
    nearest_embedded,
    properties,
    reduce,
    relax,
    saddle,
)  # fmt: skip
from saddlescope.theory.relations.constraint import onto_product
from saddlescope.theory.relations.kind import stacked
from saddlescope.theory.relations.span import without
from saddlescope.training import every, train

WAYS = {"equal": (Tanh(), Equal(0.3)), "silent": (Square(), Silent()), "rays": (ReLU(), Rays(0.7, 0.4)),
        "span": (Identity(), Span((0.7, -0.2), (0.3, 0.5))), "mirrored": (Tanh(), Equal(0.3, mirrored=True)),
        "lines": (Identity(), Rays(-0.7, 0.4, lines=True))}  # fmt: skip


def at_fixed_point(activation, seed=0, units=2):
    rng = np.random.default_rng(seed)
    net = Units(units, Neuron(activation), 1.0)
    params = net.init(rng, 3, 2)
    return net, params, data_with_fixed_point(net, params, rng.standard_normal((40, 3)), rng), rng


def slope(net, params, data):
    return max(
        float(jnp.abs(g).max())
        for g in jax.grad(lambda p: squared_error(net, p, data))(jax.tree.map(jnp.asarray, params)).values()
    )


@pytest.mark.parametrize("way", WAYS)
def test_embedding_keeps_map_and_fixed_point(way):
    activation, kind = WAYS[way]
    net, narrow, data, _ = at_fixed_point(activation)
    wide = embed(narrow, 5, kind)
    assert len(wide["u"]) == 5
    np.testing.assert_allclose(net(wide, data.x), net(narrow, data.x), atol=1e-12)
    assert slope(net, wide, data) < 1e-12


@pytest.mark.parametrize(
    ("activation", "kind"),
    [(Sigmoid(), Silent()), (Tanh(), Rays(0.7, 0.4)), (ReLU(), Span((1.0, -1.0), (0.5, 0.5))),
     (ReLU(), Rays(-0.7, 0.4)), (Square(), Equal(0.3, mirrored=True)), (ReLU(), Rays(-0.7, 0.4, lines=True))],
)  # fmt: skip
def test_embedding_fails_where_the_theorem_does_not_speak(activation, kind):
    net, narrow, data, _ = at_fixed_point(activation)
    wide = embed(narrow, 3, kind)
    lost = max(slope(net, wide, data), float(jnp.abs(net(wide, data.x) - net(narrow, data.x)).max()))
    assert lost > 1e-3
    assert not kind.fits(properties(Neuron(activation), 3, 2))


@pytest.mark.parametrize("way", WAYS)
def test_what_is_reduced_from_a_manifold_has_the_same_map(way):
    activation, kind = WAYS[way]
    net, narrow, data, _ = at_fixed_point(activation, units=2)
    on = kind.project(embed(narrow, 6, kind), 2)
    assert manifold_residual(on, kind, 2) < 1e-7
    np.testing.assert_allclose(net(reduce(on, kind, 2), data.x), net(on, data.x), atol=1e-10)


@pytest.mark.parametrize("way", WAYS)
def test_lifted_is_a_fixed_point_near_the_weights(way):
    activation, kind = WAYS[way]
    net, narrow, data, rng = at_fixed_point(activation)
    wide = embed(narrow, 6, kind)
    near = {name: w + 1e-3 * rng.standard_normal(w.shape) for name, w in wide.items()}
    lifted = kind.lift(narrow, near)
    assert slope(net, lifted, data) < 1e-10
    np.testing.assert_allclose(net(lifted, data.x), net(narrow, data.x), atol=1e-10)
    noise = np.linalg.norm(stacked(near) - stacked(wide))
    assert np.linalg.norm(stacked(near) - stacked(lifted)) <= noise  # the point it came from is no nearer


def test_lifted_rays_have_no_negative_factor():
    """Units that point the other way are silent, and the point is still a fixed point with the narrow net's map."""
    net, narrow, data, _ = at_fixed_point(ReLU())
    wide = embed(narrow, 8, Rays(0.7, 0.4))
    turned = {name: np.where(np.arange(8)[:, None] >= 4, -0.1 * w, w) for name, w in wide.items()}
    lifted = Rays().lift(narrow, turned)
    np.testing.assert_allclose(net(lifted, data.x), net(narrow, data.x), atol=1e-10)
    assert slope(net, lifted, data) < 1e-10
    rays = narrow["u"] / np.linalg.norm(narrow["u"], axis=1, keepdims=True)
    assert (lifted["u"] @ rays.T).max(axis=1).min() > -1e-12


@pytest.mark.parametrize("kind", [Equal(), Rays()])
def test_no_narrow_unit_is_left_without_a_wide_one(kind):
    """All wide units are nearest to the first narrow one: the second still finds a place, and the map is kept."""
    net, narrow, data, _ = at_fixed_point(ReLU())
    alike = {name: np.tile(w[:1], (3, 1)) for name, w in narrow.items()}
    np.testing.assert_allclose(net(kind.lift(narrow, alike), data.x), net(narrow, data.x), atol=1e-10)


def test_silent_projection_is_the_best_of_all_choices():
    params = {
        "u": np.random.default_rng(0).standard_normal((6, 2)),
        "v": np.random.default_rng(1).standard_normal((6, 1)),
    }
    theta = stacked(params)
    best = min(np.linalg.norm(np.delete(theta, keep, axis=0)) for keep in map(list, combinations(range(6), 2)))
    assert manifold_residual(params, Silent(), 2) == pytest.approx(best / np.linalg.norm(theta), rel=1e-12)


def test_span_projection_is_that_of_the_singular_values():
    params = {
        "u": np.random.default_rng(0).standard_normal((6, 3)),
        "v": np.random.default_rng(1).standard_normal((6, 2)),
    }
    s = np.linalg.svd(stacked(params), compute_uv=False)
    assert manifold_residual(params, Span(), 2) == pytest.approx(np.linalg.norm(s[2:]) / np.linalg.norm(s), rel=1e-12)


@pytest.mark.parametrize("activation", [Tanh(), Sin()])
def test_units_of_either_sign_are_one_where_the_function_is_odd(activation):
    """Half of the units of an embedded fixed point turned to (-v, -u): the same map, and the same fixed point."""
    net, narrow, data, _ = at_fixed_point(activation, units=1)
    wide = embed(narrow, 10, Equal(0.1))
    side = np.where(np.arange(10) % 2, 1.0, -1.0)[:, None]
    turned = {name: side * w for name, w in wide.items()}
    near = nearest_embedded(Units(10, Neuron(activation), 1.0), turned, data, 1, 3, 2)
    assert near.fixed
    assert near.distance < 1e-6
    assert near.level == pytest.approx(float(squared_error(net, narrow, data)), rel=1e-9)
    assert near.kind == Equal(mirrored=True)


def test_a_line_is_a_ray_of_either_sign():
    """Weights of rank one and of mixed signs lie on one line, on two rays, and not on one."""
    rng = np.random.default_rng(0)
    theta = np.outer(rng.standard_normal(12), rng.standard_normal(4))
    params = {"u": theta[:, 1:], "v": theta[:, :1]}
    assert manifold_residual(params, Rays(lines=True), 1) < 1e-12
    assert manifold_residual(params, Rays(), 2) < 1e-12
    assert manifold_residual(params, Rays(), 1) > 0.3


def test_rays_and_centres_are_found():
    rng = np.random.default_rng(0)
    rays = np.array([[1.0, 0.2, 0.5], [-0.3, 1.0, 0.4]])
    theta = rng.uniform(0.5, 2, (10, 1)) * rays[rng.integers(0, 2, 10)]
    params = {"u": theta[:, 1:], "v": theta[:, :1]}
    assert manifold_residual(params, Rays(), 2) < 1e-12
    assert manifold_residual(params, Rays(), 1) > 0.1
    same = {"u": rays[rng.integers(0, 2, 10)][:, 1:], "v": np.ones((10, 1))}
    assert manifold_residual(same, Equal(), 2) < 1e-12
    assert manifold_residual(same, Equal(), 1) > 0.1


def test_nearest_coordinates_against_another_optimiser():
    rng = np.random.default_rng(3)
    F, G, product = rng.standard_normal((5, 2)), rng.standard_normal((5, 3)), rng.standard_normal((2, 3))
    product = F.T @ G + 0.05 * product  # near: the steps find it to second order
    F1, G1 = onto_product(F, G, product)
    np.testing.assert_allclose(F1.T @ G1, product, atol=1e-12)
    start = np.concatenate([F.ravel(), G.ravel()])
    cut = lambda z: z[:10].reshape(5, 2).T @ z[10:].reshape(5, 3)  # noqa: E731
    same = {"type": "eq", "fun": lambda z: (cut(z) - product).ravel()}
    best = minimize(lambda z: np.sum((z - start) ** 2), start, constraints=same, method="SLSQP",
                    options={"maxiter": 500, "ftol": 1e-14})  # fmt: skip
    mine = np.sum((np.concatenate([F1.ravel(), G1.ravel()]) - start) ** 2)
    assert mine == pytest.approx(best.fun, rel=0.02)


def test_equation_28():
    rng = np.random.default_rng(0)
    net, gamma = Units(4, Neuron(Identity()), 1.0), np.array([0.5, -1.0, 2.0])
    params = {name: np.array(w) for name, w in net.init(rng, 3, 2).items()}
    for w in params.values():
        w[3] = gamma @ w[:3]
    x = rng.standard_normal((9, 3))
    np.testing.assert_allclose(net(without(params, 3, gamma), x), net(params, x), atol=1e-12)


def test_nearest_embedded_finds_the_point_it_was_moved_from():
    """Real targets: the best net of one quadratic unit, embedded in five, moved a little."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((400, 2))
    data = Samples(x, (x[:, :1] ** 2 + 0.5 * x[:, 1:] ** 2))
    net = Units(5, Neuron(Square()), 1.0)
    statistics = net.statistics(data)
    start = {"u": np.array([[0.9, 0.1]]), "v": np.array([[0.8]])}
    narrow, level, flat = relax(Units(1, Neuron(Square()), 1.0), start, statistics)
    assert flat < 1e-9
    moved = {n: w + 1e-3 * rng.standard_normal(w.shape) for n, w in embed(narrow, 5, Silent()).items()}
    found = nearest_embedded(net, moved, statistics, 1, 2, 1)
    assert isinstance(found.kind, Silent)
    assert found.level == pytest.approx(level, rel=1e-9)
    assert found.distance < 5e-3
    assert found.saddle.gradient < 1e-9


def test_properties_are_measured():
    seen = [properties(Neuron(a), 3, 2) for a in (Identity(), ReLU(), Square(), Tanh(), Sigmoid())]
    assert [p.order for p in seen] == [1, 1, 2, 1, 0]
    assert [p.linear for p in seen] == [True, False, False, False, False]
    assert [p.positively for p in seen] == [True, True, False, False, False]
    assert [p.homogeneous for p in seen] == [True, False, False, False, False]
    assert [p.silent for p in seen] == [True, True, True, True, False]


def test_the_plateau_of_a_relu_net_is_near_a_true_fixed_point():
    setting = relu_setting(steps=800)
    run = train(setting, (Parameters(),), every(800, 800))
    params = {name: run[f"param_{name}"].values[-1] for name in ("u", "v")}
    found = nearest_embedded(setting.net, params, setting.net.statistics(setting.data()), 1, 2, 1)
    assert found.fixed
    assert found.saddle.gradient < 1e-9
    assert found.distance < 0.05
    assert found.saddle.kind == "not smooth"


def test_refusals():
    params = {"u": np.ones((3, 2)), "v": np.ones((3, 1))}
    net, data = Units(3, Neuron(Square()), 1.0), Samples(jnp.ones((4, 2)), jnp.ones((4, 1)))
    cases = {
        "no unit 7": lambda: embed(params, 5, Equal(unit=7)),
        "must be whole": lambda: embed(params, 5.5, Silent()),
        "`kind` is": lambda: embed(params, 5, Silent),
        "more factors": lambda: embed(params, 5, Span((1.0,) * 4, (1.0,) * 4)),
        "between 1 and 3; got 1.5": lambda: reduce(params, Silent(), 1.5),
        "between 1 and 3; got 0": lambda: manifold_residual(params, Rays(), 0),
        "not all be zero": lambda: nearest_embedded(net, {n: 0 * w for n, w in params.items()}, data, 1, 2, 1),
        "two-layer nets": lambda: nearest_embedded(low_rank(2, 1, 4), params, data, 1, 2, 1),
        "gives zero": lambda: properties(CustomUnit(lambda x, u: 0 * x[0]), 2),
        "at least one": lambda: embed({"u": np.zeros((0, 2)), "v": np.zeros((0, 1))}, 3, Silent()),
        "a row for each unit": lambda: reduce({"u": np.ones((3, 2)), "v": np.ones((2, 1))}, Silent(), 1),
        "finite": lambda: manifold_residual({"u": np.full((3, 2), np.nan), "v": np.ones((3, 1))}, Span(), 1),
        r"\{'u'": lambda: reduce([1, 2], Silent(), 1),
        "no unit 1.5": lambda: embed(params, 5, Rays(unit=1.5)),
        "3 units of 2 inner": lambda: nearest_embedded(net, {n: w[:2] for n, w in params.items()}, data, 1, 2, 1),
        "power 0.33": lambda: properties(CustomUnit(lambda x, u: jnp.cbrt(u @ x)), 2),
        "`unit` must be": lambda: properties(Square(), 2),
        "positive whole": lambda: properties(Neuron(Square()), 0),
        "not all numbers": lambda: saddle(net, {n: w / 0 for n, w in params.items()}, data),
    }
    for words, call in cases.items():
        with np.errstate(divide="ignore"), pytest.raises(InvalidInput, match=words):
            call()
    with pytest.raises(InvalidInput, match="2 units are fewer than the 3"):
        embed(params, 2, Silent())
    with pytest.raises(InvalidInput, match="between 1 and 3"):
        reduce(params, Silent(), 4)
