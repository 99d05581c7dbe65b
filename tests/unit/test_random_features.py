"""Random-feature nets as settings: which engine they get, what is trained, how many numbers that is."""

import jax
import numpy as np
import pytest
from by_hand import by_hand, distance, loss_and_gradient, made, norm_of
from cases import advance_epochs, engine_for, minibatch_setting, random_feature_setting
from hypothesis import given, settings
from hypothesis import strategies as st

from saddlescope.engines import Jax
from saddlescope.errors import InvalidInput
from saddlescope.nets import MLP, Gaussian, LeakyReLU, MeanField, Tanh, low_rank
from saddlescope.nets.parameterisation import Parameterisation
from saddlescope.nets.random_feature_net import RandomFeatureNet, count
from saddlescope.observables import Parameters
from saddlescope.optimisers import Adam, GradientDescent, GradientFlow
from saddlescope.setting import Setting
from saddlescope.training import train


class OwnRates(Parameterisation):
    """A user's: C learns at a rate of its width, c at three times the common one."""

    def wide(self, rng, shape, fan_in):
        return rng.standard_normal(shape) / np.sqrt(fan_in)

    def narrow(self, rng, shape, fan_in):
        return self.wide(rng, shape, fan_in)

    def rate(self, name, width):
        return 3.0 if name == "c" else 1 / width


UNEVEN = RandomFeatureNet((3,), (20, 30), parameterisation=MeanField())
RESOLVED = {
    "as it is": (dict(), "fused"),
    "float32": (dict(precision="float32"), "fused"),
    "momentum": (dict(optimiser=GradientDescent(0.1, 0.9)), "fused"),
    "leaky": (dict(net=low_rank(3, 2, 20, activation=LeakyReLU())), "fused"),
    "mean field": (dict(net=low_rank(3, 2, 20, parameterisation=MeanField())), "fused"),
    "uneven widths": (dict(net=RandomFeatureNet((3,), (20, 30))), "fused"),
    "uneven mean field": (dict(net=UNEVEN), "jax"),
    "rates of its own": (dict(net=low_rank(3, 2, 20, parameterisation=OwnRates())), "jax"),
    "tanh": (dict(net=low_rank(3, 2, 20, activation=Tanh())), "jax"),
    "all trained": (dict(net=low_rank(3, 2, 20, trainable="all")), "jax"),
    "residual": (dict(net=low_rank(3, 2, 20, residual=True)), "jax"),
    "another net": (dict(net=MLP((5,))), "jax"),
    "Adam": (dict(optimiser=Adam(0.01)), "fused"),
    "Adam without eps": (dict(optimiser=Adam(0.01, eps=0.0)), "jax"),
    "full batch": (dict(batch=None, epochs=None, steps=5), "jax"),
    "flow": (dict(batch=None, epochs=None, steps=5, optimiser=GradientFlow(0.01)), "flow"),
}


@pytest.mark.parametrize("name", RESOLVED)
def test_a_setting_resolves_to_the_engine_that_fits_and_says_so(name):
    changes, engine = RESOLVED[name]
    setting = random_feature_setting(**changes)
    assert setting.engine.name == engine
    assert setting.json_values()["engine"] == setting.engine.json_values()
    assert random_feature_setting(**changes, engine=engine).hash == setting.hash
    if engine == "fused":
        assert random_feature_setting(**changes, engine=Jax()).hash != setting.hash
        assert type(engine_for(setting)).__name__ == "FusedStepper"
    else:
        match = "Fused does not fit this setting.*leave `engine` out"
        with pytest.raises(InvalidInput, match=match):
            random_feature_setting(**changes, engine="fused")


def test_unknown_engines_are_refused_and_the_run_names_its_own():
    with pytest.raises(InvalidInput, match="must be an engine such as Jax"):
        random_feature_setting(engine="torch")
    with pytest.raises(InvalidInput, match="follows gradient flow alone"):
        random_feature_setting(engine="flow")
    for engine in ("jax", "fused"):
        run = train(random_feature_setting(engine=engine, epochs=2))
        assert str(run["engine"].values) == engine
        assert Setting.from_json(str(run["setting"].values)).engine.name == engine
    assert minibatch_setting().engine == Jax()


@pytest.mark.parametrize("engine", ["jax", "fused"])
def test_mean_field_is_maximal_update_written_with_a_multiplier(engine):
    """C of deviation 1/n at the rate lr / n, and no multiplier, by a loop in numpy."""
    n, lr = 200, 0.05
    net = low_rank(3, 2, n, parameterisation=MeanField())
    setting = made(net, GradientDescent(lr), 5, 12, 2, 2, 3, engine=engine)
    data, params = setting.data(), setting.initial_params()
    params |= {f"C{j}": params[f"C{j}"] / n for j in range(3)}
    assert np.std(params["C1"]) == pytest.approx(1 / n, rel=0.1)
    plain = low_rank(3, 2, n, parameterisation=Gaussian())
    for epoch in range(10):
        for rows in np.split(setting.permutation(epoch), [5, 10]):
            gradient = loss_and_gradient(plain, params, data.x[rows], data.y[rows])[1]
            params |= {k: params[k] - (lr / n if k[0] == "C" else lr) * g for k, g in gradient.items()}
    run = engine_for(setting)
    found = run.params(advance_epochs(run, run.start(), 0, 10, lr)[0])
    moved = {k: np.asarray(v) / (n if k[0] == "C" else 1) for k, v in found.items()}
    assert distance(moved, params) < 1e-12
    assert (
        distance(moved, setting.initial_params() | {f"C{j}": setting.initial_params()[f"C{j}"] / n for j in range(3)})
        > 1e-2
    )


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 300), st.integers(1, 12), st.integers(1, 6))
def test_parameters_are_counted(more, r, L):
    W = r + more
    assert count(low_rank(r, L, W), 1, 1) == (2 * W + L * (2 * W * r + W + r) + W + 1, L * (W * r + r) + W + 1)


@pytest.mark.parametrize("engine", ["jax", "fused"])
def test_frozen_maps_stay_and_the_clip_is_over_trained_parameters_alone(engine):
    setting = made(low_rank(3, 2, 20), GradientDescent(1.0, clip=0.01), 5, 5, 2, 1, 0, engine=engine)
    run, before = engine_for(setting), setting.initial_params()
    after = {k: np.asarray(v) for k, v in run.params(advance_epochs(run, run.start(), 0, 1, 1.0)[0]).items()}
    step = {k: after[k] - before[k] for k in before}
    assert norm_of(step) == pytest.approx(0.01, rel=1e-10)
    assert {k for k in before if not step[k].any()} == {f"{name}{j}" for name in "Ab" for j in range(3)}
    assert distance(after, by_hand(setting, 1, 1.0)[1]) < 1e-14


@pytest.mark.parametrize("more", [{}, dict(residual=True, activation=Tanh()), dict(trainable="all")])
def test_maps_that_the_loop_stores_transposed_change_no_number(more, monkeypatch):
    """The products are the same; only the order of their sums may differ."""
    net = low_rank(3, 2, 20, **more)
    setting = random_feature_setting(net=net, engine=Jax(), epochs=6, schedule=None)
    assert net.read_transposed == (set() if "trainable" in more else {"A0", "A1", "A2"})
    turned = train(setting, (Parameters(),))
    monkeypatch.setattr(RandomFeatureNet, "read_transposed", frozenset())
    jax.clear_caches()
    plain = train(setting, (Parameters(),))
    for name in (n for n in plain.data_vars if str(n).startswith(("param", "loss"))):
        np.testing.assert_allclose(turned[name], plain[name], rtol=1e-11, atol=1e-14)
    jax.clear_caches()
