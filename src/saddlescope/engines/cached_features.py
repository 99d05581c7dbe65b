"""The JAX loop for nets whose first block is frozen: its features of all samples are computed once."""

from typing import final

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from saddlescope.engines.engine import Engine
from saddlescope.engines.jax_loop import Jax, JaxStepper
from saddlescope.nets import RandomFeatureNet
from saddlescope.nets.net import Net

LEAST_INPUTS = 32  # with fewer it is as fast to compute a feature as to read it from memory
MOST_NUMBERS = 5e8  # features that are kept: 2 GB in float32. A constant, so that no machine chooses otherwise
CHUNK = 4096  # samples at once; a fixed number, since it may decide the last bits


@final
class CachedFeatures(Engine):
    """The loop of `Jax` for minibatch runs of random-feature nets whose first map is frozen and wide.

    σ(A₀x + b₀) of every sample is computed once and kept, so that a step costs what its trained maps cost. On MNIST
    (784 inputs, 512 features, rank 10, batches of 128) a step takes a sixth of the time.
    """

    name = "cached"
    overhead = Jax.overhead

    def why_not(self, setting):
        net, task = setting.net, setting.task
        if not isinstance(net, RandomFeatureNet) or net.trainable != "narrow" or net.residual:
            return "it trains random-feature nets with frozen rank → width maps, without residual connections"
        if setting.batch is None or task.inputs < LEAST_INPUTS:
            return f"it trains in batches on tasks of {LEAST_INPUTS} inputs or more"
        if task.size is None or task.size * net.widths[0] > MOST_NUMBERS:
            return f"it keeps at most {MOST_NUMBERS:.0e} features of all samples"
        return Jax().why_not(setting)

    def begin(self, setting):
        return CachedStepper(setting)


class CachedStepper(JaxStepper):
    """The JAX loop of one run, on features in place of inputs. Observables still see net and inputs."""

    def start(self):
        state = super().start()
        chunks = np.array_split(np.arange(self.samples), -(-self.samples // CHUNK))
        features = [_first_features(self.net, state[0], self.data.x[rows[0] : rows[-1] + 1]) for rows in chunks]
        self.seen = eqx.tree_at(lambda data: data.x, self.data, jnp.concatenate(features))
        self.learner = _AfterFeatures(self.net)
        return state


class _AfterFeatures(eqx.Module):
    """A net as the loop sees it, from the features of its first block on."""

    net: Net

    def __call__(self, params, features):
        return self.net.from_features(params, features)  # type: ignore[attr-defined]

    @property
    def read_transposed(self):
        return self.net.read_transposed

    def trained(self, params):
        return self.net.trained(params)

    def merged(self, params, trained):
        return self.net.merged(params, trained)

    def rates(self, trained):
        return self.net.rates(trained)


@eqx.filter_jit
def _first_features(net, params, x):
    return net.first_features(params, x)
