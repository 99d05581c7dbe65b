"""Losses other than the squared error, given starts, and parameters in any tree."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cases import absolute, linear_setting, minibatch_setting

from saddlescope.engines import Fused
from saddlescope.errors import InvalidInput
from saddlescope.initials import FirstUnits, Scaled, given_weights, weights_of_run
from saddlescope.losses import CrossEntropy, CustomLoss, Loss
from saddlescope.nets import MLP, Net, Tanh, linear_units, low_rank
from saddlescope.observables import Accuracy, FullLoss, HeldOutLoss, Parameters, Sharpness
from saddlescope.optimisers import Adam, GradientDescent, GradientFlow
from saddlescope.setting import Setting
from saddlescope.tasks import ArrayTask
from saddlescope.theory import EmbeddedStart, Equal, Silent, Span
from saddlescope.training import every, observe_saved, train

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 4))
LABELS = np.argmax(X[:, :3], axis=1)
CLASSES = ArrayTask(X, np.eye(3)[LABELS])


def of_classes(**more):
    return Setting(
        **dict(
            task=CLASSES,
            net=MLP((8,), activation=Tanh()),
            optimiser=GradientDescent(0.1),
            steps=50,
            loss=CrossEntropy(),
        )
        | more
    )


def softmax_by_hand(outputs):
    e = np.exp(outputs - outputs.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


@pytest.mark.parametrize("more", [{}, dict(batch=7, steps=None, epochs=10), dict(optimiser=GradientFlow(0.1))])
def test_cross_entropy_is_that_of_the_right_class(more):
    setting = of_classes(**more)
    run = train(setting, (FullLoss(), Accuracy("train"), Parameters()))
    end = {n.removeprefix("param_"): run[n].values[-1] for n in run.data_vars if n.startswith("param_")}
    p = softmax_by_hand(np.asarray(setting.net(end, X)))
    assert float(run["full_loss"][-1]) == pytest.approx(-np.log(p[np.arange(30), LABELS]).mean(), rel=1e-9)
    assert float(run["accuracy"][-1]) == np.mean(np.argmax(p, axis=1) == LABELS)
    assert run["loss"].values[-1] < run["loss"].values[0]


def test_the_gradient_of_cross_entropy_at_zero_output_is_softmax_minus_target():
    gradient = jax.grad(CrossEntropy().of_outputs)(jnp.zeros((30, 3)), jnp.asarray(CLASSES.data(None).y))
    np.testing.assert_allclose(gradient, (1 / 3 - np.eye(3)[LABELS]) / 30, atol=1e-12)


def test_a_loss_of_ones_own_as_a_function_and_as_a_class():
    class Absolute(Loss):
        def of_outputs(self, outputs, targets):
            return jnp.mean(jnp.sum(jnp.abs(outputs - targets), axis=-1))

    function, kind = (train(of_classes(loss=loss))["loss"].values for loss in (CustomLoss(absolute), Absolute()))
    np.testing.assert_allclose(function, kind, rtol=1e-12)
    assert not np.allclose(function, train(of_classes(loss=None))["loss"].values)


def test_what_does_not_go_together_is_refused():
    with pytest.raises(InvalidInput, match="one output per class"):
        minibatch_setting(loss=CrossEntropy())
    with pytest.raises(InvalidInput, match="population"):
        linear_setting(loss=CrossEntropy())
    with pytest.raises(InvalidInput, match="squared error alone"):
        of_classes(net=low_rank(2, 1, 8), batch=5, steps=None, epochs=3, engine=Fused())
    assert of_classes(net=low_rank(2, 1, 8), batch=5, steps=None, epochs=3).engine.name == "jax"
    with pytest.raises(InvalidInput, match="no held-out samples"):
        train(minibatch_setting(epochs=1, task=CLASSES, loss=CrossEntropy()), HeldOutLoss())


# ---- Where a run starts ----


def test_a_branch_goes_on_where_its_run_was():
    """Weights of a run at an epoch, with the order of samples going on: the branch is the rest of the run."""
    setting = minibatch_setting(stop=(), schedule=None, epochs=20)
    run = train(setting, Parameters(), every(setting.steps_per_epoch * 8, setting.budget))
    start = weights_of_run(run, step=8 * setting.steps_per_epoch, starting_epoch=8)
    branch = train(setting.replace(initial=start, epochs=12))
    np.testing.assert_array_equal(branch["loss"], run["loss"][8:])
    assert setting.replace(initial=start).hash != setting.hash
    other = train(setting.replace(initial=weights_of_run(run, step=8 * setting.steps_per_epoch), epochs=12))
    assert not np.array_equal(other["loss"], run["loss"][8:])


def test_first_units_are_those_of_the_wider_net_and_scaled_weights_are_scaled():
    wide = linear_setting(net=linear_units(20, 0.1), seed=3)
    narrow = linear_setting(net=linear_units(8, 0.1), initial=FirstUnits(wide))
    for name, value in narrow.initial_params().items():
        np.testing.assert_array_equal(value, wide.initial_params()[name][:8])
    half = linear_setting(initial=Scaled(0.5)).initial_params()
    np.testing.assert_array_equal(half["u"], 0.5 * linear_setting().initial_params()["u"])
    with pytest.raises(InvalidInput, match="not narrower"):
        linear_setting(net=linear_units(30, 0.1), initial=FirstUnits(wide)).initial_params()


@pytest.mark.parametrize("relation", [Silent(), Equal(), Span()], ids=lambda k: k.name)
def test_an_embedded_start_has_the_narrow_nets_map_and_gradient(relation):
    """At a fixed point of the narrow net the wide one stands still too (Theorem 1)."""
    narrow = linear_setting(net=linear_units(2, 0.3), steps=4000)
    run = train(narrow, Parameters())
    small = {n: run[f"param_{n}"].values[-1] for n in ("u", "v")}
    start = EmbeddedStart(given_weights(small), relation)
    wide = linear_setting(net=linear_units(6, 0.3), initial=start, steps=50)
    x = np.eye(2)
    np.testing.assert_allclose(wide.net(wide.initial_params(), x), narrow.net(small, x), atol=1e-12)
    loss = train(wide)["loss"].values
    assert abs(loss[-1] - loss[0]) < 1e-9


def test_an_embedded_start_is_told_by_its_relation():
    """By all of it: two relations of the same name are two starts."""
    small = given_weights({"u": np.ones((1, 2)), "v": np.ones((1, 2))})
    one, other = (linear_setting(initial=EmbeddedStart(small, Equal(share))) for share in (0.3, 0.5))
    assert one.hash != other.hash
    assert not np.array_equal(one.initial_params()["v"], other.initial_params()["v"])
    with pytest.raises(InvalidInput, match=r"`relation` is Equal\(\), .*; got 'silent'"):
        EmbeddedStart(small, "silent")


def test_given_weights_are_checked_and_enter_by_their_hash():
    given = linear_setting().initial_params()
    one, other = (linear_setting(initial=given_weights({"u": given["u"] + shift})) for shift in (0, 1e-9))
    assert one.hash != other.hash
    assert train(one)["loss"].values[1] == train(linear_setting())["loss"].values[1]
    with pytest.raises(InvalidInput, match=r"no parameter named w; it has u, v"):
        linear_setting(initial=given_weights({"w": given["u"]})).initial_params()
    with pytest.raises(InvalidInput, match=r"has shape \(50, 2\)"):
        linear_setting(initial=given_weights({"u": given["u"][:3]})).initial_params()


@pytest.mark.parametrize("leaf", [[[1.0, 2.0]], (1.0, 2.0), 0.3, "relu", np.array(["a"])])
def test_given_weights_that_are_no_arrays_are_refused_in_a_sentence(leaf):
    """A list of numbers would be a tree of its own, with other names than were meant."""
    with pytest.raises(InvalidInput, match=r"tree of arrays of numbers; 'u.* Give each parameter as an array"):
        given_weights({"u": leaf, "v": np.ones(2)})


def test_given_weights_may_be_any_tree_of_arrays():
    given = given_weights({"layers": [{"w": np.ones((2, 1))}, {"w": jnp.zeros(3)}], "scale": np.float64(2)})
    assert given.names == ("layers.0.w", "layers.1.w", "scale")
    assert [a.shape for a in given.arrays] == [(2, 1), (3,), ()]
    assert given_weights([np.ones(2), np.zeros(1)]).names == ("0", "1")


# ---- Parameters in any tree ----


class Nested(Net):
    """Two dense layers in nested dicts and lists, as other libraries keep them."""

    def init(self, rng, inputs, outputs):
        shapes = ((5, inputs), (outputs, 5))
        return {"layers": [{"w": rng.standard_normal(shape)} for shape in shapes]}

    def __call__(self, params, x):
        first, second = params["layers"]
        return jnp.tanh(x @ first["w"].T) @ second["w"].T


class AsList(Net):
    def init(self, rng, inputs, outputs):
        return [rng.standard_normal((5, inputs)), rng.standard_normal((outputs, 5))]

    def __call__(self, params, x):
        return jnp.tanh(x @ params[0].T) @ params[1].T


@pytest.mark.parametrize("more", [{}, dict(batch=7, steps=None, epochs=6), dict(optimiser=Adam(0.01))])
def test_parameters_may_be_any_tree(tmp_path, more):
    nested, as_list = (of_classes(net=net, **more) for net in (Nested(), AsList()))
    run = train(nested, (Parameters(), Sharpness(8)), checkpoint=tmp_path / "c.npz")
    np.testing.assert_allclose(run["loss"], train(as_list, Parameters())["loss"], rtol=1e-12)
    assert run["param_layers.0.w"].shape[1:] == (5, 4)
    again = observe_saved(run, Sharpness(8), nested)
    np.testing.assert_allclose(again["sharpness_top"], run["sharpness_top"], rtol=1e-9)
    start = weights_of_run(run)
    assert train(nested.replace(initial=start))["loss"].values[0] < run["loss"].values[0]


def test_parameters_that_are_no_arrays_are_refused_in_a_sentence():
    class Odd(AsList):
        def init(self, rng, inputs, outputs):
            return [*super().init(rng, inputs, outputs), "relu"]

    with pytest.raises(InvalidInput, match="tree of arrays of floats; it holds a str"):
        train(of_classes(net=Odd()))
