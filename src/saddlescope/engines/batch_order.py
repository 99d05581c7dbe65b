"""The order of the samples in an epoch."""

import numpy as np

BATCH = 2  # the stream of random numbers of batch orders


def permutation(seed: int, epoch: int, samples: int) -> np.ndarray:
    """A function of (seed, epoch), so a resume needs no generator state."""
    return np.random.default_rng([seed, BATCH, epoch]).permutation(samples)


def permutations(seed: int, epoch: int, n: int, samples: int) -> np.ndarray:
    """The orders of n epochs, one row each."""
    return np.stack([permutation(seed, epoch + i, samples) for i in range(n)])
