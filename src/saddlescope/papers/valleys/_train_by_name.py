"""One run of the paper by its name: its experiment, its summary and its figure, for `saddlescope
train`.
"""

from functools import partial

import numpy as np

from saddlescope.experiment import Experiment
from saddlescope.observables import ChannelPartials, Fit, FullLoss, ResidualAmplitudes, TestError
from saddlescope.papers.valleys._outcomes import failure, outcome
from saddlescope.papers.valleys._protocol import INITS, Name, valleys
from saddlescope.training import log_spaced_epochs, on_cut

OBSERVED = (TestError(), FullLoss(), Fit(), ChannelPartials(points=201), ResidualAmplitudes())
WORDS = {kind: word for word, kind in INITS.items()}


def named_run(text: str):
    """An experiment whose axes are the options of the protocol, and the function that sums up its run."""
    name = Name.parse(text)
    axes = dict(rank=(10,), seed=(0,), init=("uniform",))
    experiment = Experiment(
        title=str(name),
        source="App. A.2",
        setting=partial(valleys, name.factor, name.samples, name.batch, name.depth),
        full=axes,
        quick=axes,
        observe=OBSERVED,
        save_at=_save_at,
        draw=_draw,
        claims=(),
    )
    return experiment, summed_up


def summed_up(run) -> dict:
    """How the run ended, in the paper's words. What is not finite is None, for which JSON has a word."""
    setting, diverged = run.setting, str(run.status.values).startswith("diverged")
    error = np.inf if diverged else float(run["test_error"].values[-1])
    word, train_loss = outcome(error), None if diverged else _number(run["full_loss"].values[-1])
    kind = _kind_of_failure(run, setting.task, diverged) if word == "failed" else None
    init = WORDS[type(setting.net.parameterisation)]
    name, rank, seed = str(Name.of(setting)), setting.net.ranks[0], setting.init_seed
    ended = f"{word} ({kind})" if kind else word
    return {
        "title": f"{name}, rank {rank}, {init}, seed {seed}: {ended}",
        "name": name,
        "rank": rank,
        "seed": seed,
        "init": init,
        "test_mse": _number(error),
        "train_loss": train_loss,
        "outcome": word,
        "failure": kind,
        "width": setting.net.widths[0],
        "lr": setting.optimiser.lr,
        "aliased": setting.task.aliased,
        "notes": _notes(error, train_loss, setting.task.aliased),
    }


def _kind_of_failure(run, task, diverged) -> str:
    fit = np.array([np.nan]) if diverged else run["fit"].values[-1]
    return failure(fit, task.target(np.linspace(-1, 1, len(fit))[:, None])[:, 0])


def _notes(error, train_loss, aliased) -> list[str]:
    loss = "not finite" if train_loss is None else f"{train_loss:.3g}"
    notes = [f"test error {error:.3g}, training loss {loss}"]
    if aliased:
        notes.append("aliased: the target is faster than its samples can show, and the test error shows it")
    return notes


def _number(x) -> float | None:
    return float(x) if np.isfinite(x) else None


def _save_at(epochs=10_000, **_):
    return log_spaced_epochs(40, epochs) | on_cut(after=10)


def _draw(results):
    from saddlescope.papers.valleys._run_figure import draw_run  # brings matplotlib, which `--no-figure` does without

    run = next(iter(results.runs()))
    return draw_run(run, run.setting.task, summed_up(run)["title"])
