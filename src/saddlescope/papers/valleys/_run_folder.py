"""One named run from setting to folder: trained with a checkpoint, summed up, drawn."""

import json
from pathlib import Path

import numpy as np
import xarray as xr

from saddlescope.figures import save_figure, style
from saddlescope.observables import ChannelPartials, Fit, FullLoss, ResidualAmplitudes, TestError
from saddlescope.papers.valleys._outcomes import failure, outcome
from saddlescope.papers.valleys._protocol import Name
from saddlescope.papers.valleys._run_figure import draw_run
from saddlescope.results import Results, Run, collect, each_run
from saddlescope.storage.result_folder import make_folder, save_results, seal, unseal, write_bytes
from saddlescope.training import log_spaced_epochs, on_cut, train

CHECKPOINT = "checkpoint.npz"


def folder_for(out, setting) -> Path:
    """One folder a setting: the name for people, the hash for the rest."""
    rank, seed = setting.net.ranks[0], setting.init_seed
    return Path(out) / f"{Name.of(setting)}_rank{rank}_seed{seed}_{setting.hash[:8]}"


def train_to_folder(setting, out, quiet=False):
    """Train, resuming from the folder's checkpoint if there is one; the folder, the run and its summary."""
    folder = folder_for(out, setting)
    make_folder(folder)
    observe = (TestError(), FullLoss(), Fit(), ChannelPartials(points=201), ResidualAmplitudes())
    save_at = log_spaced_epochs(40, setting.epochs) | on_cut(after=10)
    run = train(setting, observe, save_at, checkpoint=folder / CHECKPOINT, quiet=quiet)
    summary = summed_up(run, setting)
    unseal(folder)
    measured, nothing = (collect([d], [{"seed": setting.init_seed}]) for d in (run, xr.Dataset()))
    about = dict(key=summary["name"], scale="train", title=caption(summary))
    save_results(folder / "results.nc", Results(measured, nothing), **about)
    write_bytes(folder / "summary.json", json.dumps(summary, indent=1).encode())
    with style():
        save_figure(draw_run(Run(next(each_run(measured))), setting.task, caption(summary)), folder)
    (folder / CHECKPOINT).unlink(missing_ok=True)
    seal(folder)
    return folder, run, summary


def summed_up(run, setting) -> dict:
    """What `--json` prints. A number that is not finite is None: JSON has no word for it."""
    task, losses = setting.task, run["loss"].values
    diverged = str(run.status.values).startswith("diverged")
    error = np.inf if diverged else float(run["test_error"].values[-1])
    kind = None
    if (word := outcome(error)) == "failed":
        fit = np.array([np.nan]) if diverged else run["fit"].values[-1]
        kind = failure(fit, task.target(np.linspace(-1, 1, len(fit))[:, None])[:, 0])
    finite = losses[np.isfinite(losses)]
    return {
        "name": str(Name.of(setting)), "rank": setting.net.ranks[0], "seed": setting.init_seed,
        "init": type(setting.net.parameterisation).__name__, "engine": setting.engine,
        "test_mse": number(error), "train_loss": None if diverged else number(run["full_loss"].values[-1]),
        "min_loss": number(finite.min(initial=np.inf)), "epochs": len(losses), "cuts": len(run.cuts),
        "outcome": word, "failure": kind, "cpu_seconds": round(float(run.cpu_seconds), 3),
        "status": str(run.status.values), "width": setting.net.widths[0], "lr": setting.optimiser.lr,
        "precision": setting.precision, "aliased": task.aliased, "hash": setting.hash,
        "stages": [] if diverged else run.stages.rows(),
    }  # fmt: skip


def number(x):
    return float(x) if np.isfinite(x) else None


def caption(s):
    return f"{s['name']}, rank {s['rank']}, {s['init']}, seed {s['seed']}: {s['outcome']}" + (
        f" ({s['failure']})" if s["failure"] else ""
    )
