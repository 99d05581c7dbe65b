"""The engine that computes frozen features once, and nets that are readouts of random features."""

import numpy as np
import pytest
from cases import engine_for

from saddlescope.engines import CachedFeatures, Fused, Jax
from saddlescope.errors import InvalidInput
from saddlescope.losses import CrossEntropy
from saddlescope.nets import MLP, RandomFeatureNet
from saddlescope.nets.random_feature_net import count
from saddlescope.observables import Parameters
from saddlescope.optimisers import Adam, GradientDescent
from saddlescope.setting import Setting
from saddlescope.tasks import ImageClasses, cosine
from saddlescope.training import train

NET = RandomFeatureNet((5,), (20, 30))


def digits(net=NET, **changes):
    """The small digits have 64 inputs; 130 samples make a short last batch."""
    given = dict(optimiser=Adam(1e-3, clip=1.0), loss=CrossEntropy(), batch=50, epochs=4)
    return Setting(ImageClasses("small", 130), net, **given | changes)


@pytest.mark.parametrize("net", [NET, RandomFeatureNet((), (40,))])
def test_runs_are_those_of_the_jax_engine(net):
    cached, plain = (train(digits(net, engine=engine), (Parameters(),)) for engine in (CachedFeatures(), Jax()))
    assert str(cached["engine"].values) == "cached"
    assert np.allclose(cached.loss, plain.loss, rtol=1e-10)
    assert cached.loss[-1] < cached.loss[0]
    for name in (n for n in plain.data_vars if str(n).startswith("param_")):
        assert np.allclose(cached[name], plain[name], rtol=1e-9, atol=1e-12)


def test_features_of_more_than_one_chunk_are_those_of_all_samples(monkeypatch):
    setting = digits()
    monkeypatch.setattr("saddlescope.engines.cached_features.CHUNK", 32)
    stepper = engine_for(setting)
    params = stepper.start()[0]
    assert np.allclose(stepper.seen.x, NET.first_features(params, stepper.data.x), rtol=1e-12)
    assert stepper.data.x.shape == (130, 64)  # what observables see


def test_it_is_chosen_where_it_fits_and_says_why_not():
    assert digits().engine == CachedFeatures()
    for changes in (
        dict(net=MLP((5,))),
        dict(net=RandomFeatureNet((5,), (20, 30), trainable="all")),
        dict(batch=None, epochs=None, steps=5),
    ):
        assert digits(**changes).engine == Jax()
        with pytest.raises(InvalidInput, match="CachedFeatures does not fit this setting"):
            digits(**changes, engine="cached")
    assert Setting(cosine(1, 20), NET, Adam(0.01), batch=4, epochs=1).engine == Fused()  # one input: nothing to gain


def test_outputs_come_from_the_first_features():
    params = NET.init(np.random.default_rng(0), 64, 10)
    x = np.random.default_rng(1).standard_normal((7, 64))
    assert np.array_equal(NET.from_features(params, NET.first_features(params, x)), NET(params, x))


def test_a_net_without_bottleneck_reads_out_random_features():
    net = RandomFeatureNet((), (40,))
    params = net.init(np.random.default_rng(0), 3, 2)
    x = np.random.default_rng(1).standard_normal((7, 3))
    features = np.maximum(x @ params["A0"].T + params["b0"], 0)
    assert np.allclose(net(params, x), features @ params["C0"].T + params["c0"], rtol=1e-12)
    assert count(net, 3, 2) == (40 * 4 + 2 * 41, 2 * 41)


def test_the_fused_kernel_trains_readouts_too():
    given = dict(optimiser=GradientDescent(0.01), batch=4, epochs=5)
    runs = [train(Setting(cosine(1, 30), RandomFeatureNet((), (50,)), engine=e, **given)) for e in ("fused", "jax")]
    assert np.allclose(runs[0].loss, runs[1].loss, rtol=1e-9)
