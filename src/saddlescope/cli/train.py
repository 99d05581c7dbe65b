"""The command on one run: train."""

import json
from pathlib import Path
from typing import Annotated

import typer

from saddlescope.cli.app import OUT, Axis, Import, Quiet, app, fail, import_all
from saddlescope.errors import require
from saddlescope.workflows.find import paper_packages

HELP = """Train one run; write results, figure and page.

WHAT is a setting file (.toml), an experiment with one value for each axis, or a run by its name in a paper. An axis
may also be written as an option: `--seed 3` is `--axis seed=3`.

Rerun the same command to resume: after Ctrl-C from where it stopped, after a kill from the last checkpoint (a few
seconds earlier). A finished run is trained again.

Examples:

  saddlescope train setting.toml

  saddlescope train simplicity.fig1b --target identity --data population --seed 3

  saddlescope train my_experiment.py --axis seed=3

  saddlescope train f3_N768_bs4_L3 --rank 10 --seed 1 --init gaussian --json"""
HELP = "\n\n".join([HELP, *(p.TRAIN_HELP for _, p in paper_packages() if hasattr(p, "TRAIN_HELP"))])


@app.command(help=HELP, context_settings={"ignore_unknown_options": True})
def train(
    words: Annotated[
        list[str],
        typer.Argument(metavar="WHAT", help="What to train, then its axes: simplicity.fig1d --seed 3."),
    ],
    axis: Axis = None,
    out: Annotated[Path, typer.Option(help="Output folder; each run gets its own subfolder.")] = Path(OUT),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    pdf: Annotated[bool, typer.Option("--pdf", help="Write the figure as figure.pdf too.")] = False,
    no_figure: Annotated[bool, typer.Option("--no-figure", help="Draw no figure: a third of a short command.")] = False,
    own: Import = None,
    quiet: Quiet = False,
):
    what, *rest = words
    require(
        not what.startswith("-"),
        f"Give what to train first, then its axes: `saddlescope train WHAT {what} …`.",
    )
    require(not (pdf and no_figure), "`--pdf` writes a figure and `--no-figure` draws none: give one of them.")
    from saddlescope.sweeps.axes import parse_axes
    from saddlescope.workflows.train_run import BOTH, PNG, find_run, folder_of_run, train_to_folder

    import_all(own)
    one = find_run(what, parse_axes([*(axis or []), *_axes_of(rest)]))
    try:
        folder, run, summary = train_to_folder(one, out, quiet, () if no_figure else BOTH if pdf else PNG)
    except KeyboardInterrupt:
        fail(f"stopped; the same command resumes the run from {folder_of_run(one, out)}.", 130)
    if as_json:
        print(json.dumps(summary | {"folder": str(folder)}))
    else:
        _tell(folder, run, summary)


def _axes_of(words: list[str]) -> list[str]:
    """`--rank 10 --allow-aliasing` as axes: `rank=10`, `allow_aliasing=true`."""
    found, words = [], list(words)
    while words:
        name, sign, value = words.pop(0).partition("=")
        require(
            name.startswith("--"), f"{name!r} belongs to no option: write an axis as `--axis seed=3`, or `--seed 3`."
        )
        if not sign:
            value = words.pop(0) if words and not words[0].startswith("--") else "true"
        found.append(f"{name[2:].replace('-', '_')}={value}")
    return found


def _tell(folder, run, summary):
    """How the run ended, its stages, and where everything is."""
    print(summary["title"], *summary["notes"], sep="\n")
    names = {"first_loss": "at the start", "last_loss": "at the end", "min_loss": "at its least"}
    print("loss " + ", ".join(f"{_shown(summary[key])} {words}" for key, words in names.items()), end="; ")
    print(summary["status"])
    ticks = next(f"{summary[t]} {t}" for t in ("steps", "epochs") if t in summary)
    print(f"{ticks}, {summary['cuts']} cuts, {summary['cpu_seconds']:.1f} s CPU, engine {summary['engine']}")
    if summary["stages"]:
        print(run.stages)
    print(f"page: {folder / 'index.html'}")


def _shown(x) -> str:
    return "not finite" if x is None else f"{x:.3g}"
