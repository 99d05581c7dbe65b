"""Commands on experiments: list, run, show."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from saddlescope.cli.app import OUT, Axis, Out, Quiet, app, fail
from saddlescope.errors import require


@app.command("list")
def list_(out: Annotated[Path, typer.Option(help="Where `run` wrote its results.")] = Path(OUT)):
    """List the experiments: title, place in the paper, cost, last stored verdicts.

    Cost is CPU time of the recorded run. Verdicts are those of your own last run in OUT, else the recorded ones.
    """
    from saddlescope.experiment import find, keys
    from saddlescope.report.overview import overview

    known = keys()
    for key in known:
        print(overview(key, find(key), out, max(map(len, known)) + 2))


@app.command()
def run(
    key: Annotated[str, typer.Argument(help="An experiment (simplicity.fig1b), a paper (simplicity), or all.")],
    quick: Annotated[bool, typer.Option("--quick", help="Run a small grid that still shows the effect.")] = False,
    seeds: Annotated[int | None, typer.Option(help="Run seeds 0 … N-1 instead.")] = None,
    axis: Axis = None,
    out: Out = Path(OUT),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object an experiment.")] = False,
    workers: Annotated[int, typer.Option(help="Worker processes, one thread each.")] = 1,
    movie: Annotated[bool, typer.Option("--movie", help="Also an animation: mp4 with an encoder, else gif.")] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite a result even if it has more runs.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Run again what is in the folder already.")] = False,
    quiet: Quiet = False,
):
    """Run experiments, judge their claims, and write results, figure and page.

    Exit status: 0 if every verdict is as recorded, 1 if one differs, 2 for bad usage. Runs with other seeds or axes
    than the recorded ones are judged, but not compared with the record. Every run is kept in the folder: more seeds
    run only the new ones, and after Ctrl-C or a kill the same command resumes. `collect`, `ls` and `verify` read the
    folder too.

    Examples:

      saddlescope run simplicity.fig1b --quick

      saddlescope run simplicity.fig1 --movie

      saddlescope run simplicity --seeds 5 --workers 2 --out results

      saddlescope run simplicity.fig1b --axis target=diagonal --axis seed=0..9
    """
    from saddlescope.experiment import find, matching
    from saddlescope.report.record import differences
    from saddlescope.sweeps.axes import parse_axes
    from saddlescope.workflows.judge import movies, write_contents
    from saddlescope.workflows.run_experiment import run_experiment
    from saddlescope.workflows.scale import choose_scale

    axes, scales, differs = parse_axes(axis or [], seeds), {}, []
    for name in matching(key):  # refuse before the first run, not after the last
        scales[name] = choose_scale(find(name), "quick" if quick else "full", axes)
        find(name).check_needs(scales[name].axes)
        require(not movie or find(name).movie is not None, f"{name} has no movie; simplicity.fig1 has one.")
    options = {"workers": workers, "quiet": quiet, "movie": movie, "replace": replace, "again": again}
    for name, scale in scales.items():
        try:
            done = run_experiment(name, find(name), scale, out, **options)
        except KeyboardInterrupt:
            fail("stopped; finished runs are kept, and the same command resumes.", 130)
        differs += (found := differences(name, scale.name, done.verdicts) if scale.is_whole else [])
        if as_json:
            shown = [{"sentence": v.sentence, "where": v.where, "holds": v.holds, "verdict": v.word,
                      "evidence": v.evidence, "runs": v.runs, "not_finite": v.not_finite}
                     for v in done.verdicts]  # fmt: skip
            same = not found if scale.is_whole else None
            print(json.dumps({"key": name, "scale": scale.label, "folder": str(done.folder), "as_recorded": same,
                              "runs": done.runs, "new_runs": done.new_runs, "verdicts": shown}))  # fmt: skip
        else:
            tell(name, scale, done.folder, done.verdicts)
            print(*(f"  movie: {film}\n" for film in movies(done.folder)), sep="", end="")
            print(*(f"  {sentence}\n" for sentence in filter(None, [done.reused])), sep="", end="")
    write_contents(out)
    end(differs)


def tell(key, scale, folder, verdicts):
    from saddlescope.experiment import find

    print(f"{key} ({scale.label}): {find(key).title}", *(f"  {v}" for v in verdicts), sep="\n")
    if untested := len(find(key).claims) - len(verdicts):
        print(f"  not tested, for want of runs: {untested} of {len(find(key).claims)} claims")
    print(f"  page: {folder / 'index.html'}")


def end(differs):
    """Say what is not as recorded; exit status 1 if anything is."""
    for sentence in differs:
        print(f"saddlescope: not as recorded: {sentence}", file=sys.stderr)
    raise typer.Exit(1 if differs else 0)


@app.command()
def explain(
    folder: Annotated[Path, typer.Argument(help="A folder that `run` wrote, of runs whose weights were kept.")],
    number: Annotated[int, typer.Option("--run", help="Which run, counted from 0.")] = 0,
):
    """Say of each plateau of a run what it is: effective width, nearest saddle, its level, when it ends.

    Examples:

      saddlescope explain saddlescope-results/simplicity.fig1 --run 40
    """
    from saddlescope.explanations import explain as explained
    from saddlescope.storage.result_folder import load_results

    print(explained(load_results(folder), number).text(), end="")


@app.command()
def judge(
    folders: Annotated[list[Path], typer.Argument(help="Folders that `run` wrote.")],
):
    """Judge stored results anew: verdicts, tables, figure and page, without training.

    For results of an older version, or after a claim of your own was changed. Exit status as of `run`.

    Examples:

      saddlescope judge saddlescope-results/valleys.fig6
    """
    from saddlescope.report.record import differences
    from saddlescope.workflows.judge import judge_folder, write_contents

    differs = []
    for folder in folders:
        folder = folder.parent if folder.is_file() else folder
        key, scale, verdicts = judge_folder(folder)
        tell(key, scale, folder, verdicts)
        differs += differences(key, scale.name, verdicts) if scale.is_whole else []
        write_contents(folder.parent)
    end(differs)


@app.command()
def show(
    what: Annotated[str, typer.Argument(help="An experiment's key, or a results file or folder.")],
    out: Annotated[Path, typer.Option(help="Where `run` wrote its results.")] = Path(OUT),
):
    """Show an experiment's settings, stages and verdicts, or those of a stored result.

    Examples:

      saddlescope show simplicity.fig1b

      saddlescope show saddlescope-results/simplicity.fig1b
    """
    from saddlescope.report.overview import describe_key, describe_stored

    stored = Path(what).exists() or "/" in what or what.endswith(".nc")
    print(describe_stored(what) if stored else describe_key(what, out))
