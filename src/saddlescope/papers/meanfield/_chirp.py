"""Nets on the chirp cos(f₁πx²) - 0.8 cos(f₂πx²): Fig. 7 to 9 and App. I. Adam at 1e-3, × 0.9 every 100 epochs.

Gradients are clipped to norm 1, as App. I lists for its runs; Table 2, of the figures, says nothing of it.
The rate falls by a factor of ten in 2,200 epochs: the sum of all learning rates is that of 1,000
epochs at the first one, and 2,000 epochs contain 88 % of it. Of the paper's 5,000 or 10,000 epochs
the later ones hardly move a net.
"""

import numpy as np

from saddlescope.checks import mean_odd_share, odd_shares
from saddlescope.nets import MLP, LeakyReLU, ReLU, low_rank
from saddlescope.observables import ChannelPartials, SymmetryDefect, TestError
from saddlescope.optimisers import Adam, StepDecay
from saddlescope.setting import Setting
from saddlescope.tasks import Chirp

FITS = 0.01  # a test error below this is a fit, as in the valleys paper; the target's variance is 0.8
EVEN = 0.05  # an odd share below this counts as symmetric
ACTIVATIONS = {"ReLU": ReLU(), "leaky ReLU": LeakyReLU(0.01)}
FROZEN, FREE, TRUE = "frozen", "all trained", "MLP"


def chirp_net(kind, rank, depth, width, activation):
    """A low-rank net with frozen features, one with all maps trained, or a true MLP of as many parameters."""
    act = ACTIVATIONS[activation]
    if kind == TRUE:
        return MLP((round(np.sqrt(2 * width * rank)),) * depth, act)
    return low_rank(rank, depth, width, activation=act, trainable="narrow" if kind == FROZEN else "all")


def chirp_run(net, f1, samples, epochs, seed, batch=100):
    """f₂ is a third of f₁, as everywhere in the paper."""
    return Setting(
        task=Chirp(f1=f1, f2=f1 / 3, samples=samples),
        net=net,
        optimiser=Adam(1e-3, clip=1.0),
        schedule=StepDecay(0.9, every=100),
        batch=batch,
        epochs=epochs,
        precision="float32",
        seed=seed,
    )


OBSERVED = (SymmetryDefect(), TestError(1234, seed=0), ChannelPartials(points=401))


def analyse(run, made):
    """Errors, odd shares by hidden block untrained and trained, spikes, and eight channels to draw."""
    hidden = len(odd_shares(run))
    last = run[f"partial_{hidden - 1}"].values[-1]
    peaks = [spikes(run[f"partial_{k}"].values[-1]) for k in range(hidden)]
    return {
        "test_error": float(run.test_error.values[-1]),
        "last_loss": float(run.loss.values[-1]),
        "odd": mean_odd_share(run),
        "odd_untrained": mean_odd_share(run, 0),
        "odd_by_block": (("block",), odd_shares(run)),
        "odd_by_block_untrained": (("block",), odd_shares(run, 0)),
        "spike": float(np.mean(peaks[hidden // 2 :])),
        "channels": (("x", "channel"), last[:, :8]),
        "fit": (("x",), run[f"partial_{hidden}"].values[-1][:, 0]),
    }


def spikes(f):
    """How far channels' extremes lie from their mean, in deviations, mean over channels: √2 for a sine."""
    f = f - f.mean(axis=0)
    return float(np.mean(np.abs(f).max(axis=0) / np.maximum(f.std(axis=0), 1e-12)))


def fits(run):
    return bool(run.finite and run.test_error < FITS)


def fitting(results, **point):
    """The runs that fit the target: only these are compared."""
    return [m for m in results.select(**point).runs() if fits(m)]
