"""Branches of a run at its learning-rate cuts: with and without the cut, the noise of batches, and
clipping.

Every branch starts from the weights before a cut and continues with the same order of samples, for
ten epochs or as many steps of full batch, in ten stretches.
"""

import numpy as np

from saddlescope.errors import require
from saddlescope.initials import weights_of_run
from saddlescope.observables import GradientNoise, Parameters, Sharpness
from saddlescope.optimisers import Constant, GradientDescent
from saddlescope.sweeps import TrainJob
from saddlescope.training import SaveAt, every_epoch, loss_at, observe_at

AFTER, LATE, LOST = 10, 5, 1e9


def _epochs_before(run, setting, cuts):
    """The first cuts, each with the last five epochs before it, as far as the rule could have cut
    in them.

    The cut that ends a run has no branches, so that 13 are left of a whole run.
    """
    last, found = 0, {}
    for cut in [int(epoch) for epoch in run.cuts if epoch < run.sizes["epoch"]][:cuts]:
        found[cut] = range(max(last + setting.schedule.patience, cut - LATE + 1), cut + 1)
        last = cut
    require(bool(found), "The run has no cut to look at.")
    return found


def follow(run, setting, cuts):
    """Four runs from the weights at every cut; and the run again, to see it before the cuts."""
    looked_at = _epochs_before(run, setting, cuts)
    times = SaveAt(epochs=tuple(e for epochs in looked_at.values() for e in epochs))
    found = {"again": TrainJob(setting, (Parameters(),), times)}
    for cut in looked_at:
        for name, branch in _branches(run, setting, cut).items():
            stretches = every_epoch(branch.epochs // AFTER, branch.epochs)
            found[f"{name} {cut}"] = TrainJob(branch, (Parameters(),), stretches)
    return found


def _branches(run, setting, cut):
    """Settings that continue from the weights before a cut, with the same order of samples."""
    clip, each = setting.optimiser.clip, setting.steps_per_epoch
    start = weights_of_run(run, cut * each, starting_epoch=cut)
    old, new = (float(run.learning_rate[epoch]) for epoch in (cut - 1, cut))
    there = setting.replace(initial=start, schedule=Constant(), stop=(), epochs=AFTER)
    # As many steps of full batch, less one per stretch: odd, so that a swing of two steps is seen.
    whole = dict(batch=setting.samples, epochs=AFTER * (each - 1))
    return {
        "cut": there.replace(optimiser=GradientDescent(new, clip=clip)),
        "uncut": there.replace(optimiser=GradientDescent(old, clip=clip)),
        "calm": there.replace(optimiser=GradientDescent(old, clip=clip), **whole),
        "free": there.replace(optimiser=GradientDescent(old), **whole),
    }


def analyse(runs, settings, cuts):
    """One row per cut, by name."""
    looked_at = _epochs_before(runs[""], settings[""], cuts)
    rows = [_at_cut(runs, settings[""], cut, epochs) for cut, epochs in looked_at.items()]
    return {name: (("cut",), np.array([row[name] for row in rows], float)) for name in rows[0]}


def _at_cut(runs, setting, cut, epochs):
    """The loss before a cut and of every branch, sharpness before and after, the noise of the
    gradient.
    """
    old, again = float(runs[""].learning_rate[cut - 1]), _saved_weights(runs["again"])
    names = ("cut", "uncut", "calm", "free")
    iterates = {name: list(_saved_weights(runs[f"{name} {cut}"]).values())[1:] for name in names}
    first = _look(setting, again[cut], old)
    trace, signal = (first[f"gradient_noise_{name}"] for name in ("trace", "signal"))
    after = _look(setting, iterates["cut"][-1], old) if iterates["cut"] else {}
    return {
        "lr": old,
        "before": np.mean([loss_at(setting, again[epoch]) for epoch in epochs]),
        **{name: _late_loss(setting, rows) for name, rows in iterates.items()},
        "averaged": _average_loss(setting, iterates["uncut"]),
        "calm_averaged": _average_loss(setting, iterates["calm"]),
        "noise_over_signal": trace / setting.batch / signal,
        "sharp_before": first["sharpness_over_limit"],
        "sharp_after": after.get("sharpness_over_limit", np.nan),
        "cut_epoch": cut,
    }


def _saved_weights(run):
    """Epoch → trained weights."""
    names = [str(name) for name in run.data_vars if str(name).startswith("param_")]
    rows = {name.removeprefix("param_"): run[name].values for name in names}
    return {int(e): {n: v[i] for n, v in rows.items()} for i, e in enumerate(run.saved_epoch.values)}


def _late_loss(setting, iterates):
    """The mean full loss at the ends of the last five of ten stretches; 1e9 for those after a
    divergence.
    """
    late = [_bounded_loss(setting, weights) for weights in iterates[AFTER - LATE :]]
    return np.mean(late + [LOST] * (LATE - len(late)))


def _average_loss(setting, iterates):
    """The loss of the average of all ten iterates; 1e9 where the branch diverged."""
    if len(iterates) < AFTER:
        return LOST
    mean = {name: np.mean([w[name] for w in iterates], axis=0) for name in iterates[0]}
    return _bounded_loss(setting, mean)


def _bounded_loss(setting, weights):
    return min(float(np.nan_to_num(loss_at(setting, weights), nan=LOST)), LOST)


def _look(setting, weights, lr):
    """Sharpness × lr / 2 and the gradient noise."""
    found = observe_at(setting, weights, (Sharpness(), GradientNoise()), lr=lr)
    return {name: float(value) for name, value in found.items()}
