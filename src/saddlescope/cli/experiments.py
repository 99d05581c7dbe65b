"""Commands on experiments: list, run, judge, show, explain."""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from saddlescope.cli.app import OUT, Axis, Import, Out, Quiet, app, fail, import_all
from saddlescope.errors import InvalidInput, number_of, require


@app.command("list")
def list_(
    what: Annotated[
        str, typer.Argument(metavar="PAPER|KEY|FOLDER", help="A paper, one experiment, or a folder of your own.")
    ] = "all",
    search: Annotated[str | None, typer.Option(help="Only experiments whose key or title contains this text.")] = None,
    out: Annotated[Path, typer.Option(help="Where `run` wrote its results.")] = Path(OUT),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON array.")] = False,
):
    """List experiments: title, place in the paper, cost, last verdicts.

    Cost is the CPU time of the recorded run. Verdicts are those of your own last run in OUT, else the recorded ones. Of
    a folder, the experiments (.py) and the finished results in it are listed.

    Examples:

      saddlescope list simplicity

      saddlescope list --search plateau

      saddlescope list my_experiments --json
    """
    from saddlescope.report.overview import overview, overview_facts, results_in

    entries, folder = _entries_for(what), Path(what) if Path(what).is_dir() else None
    entries = [e for e in entries if search is None or e.matches(search)]
    stored = results_in(folder) if folder and search is None else []
    if as_json:
        print(json.dumps(overview_facts(entries, out), ensure_ascii=False))
        return
    require(
        entries or stored,
        f"No experiment matches {search!r} in {what}." if search else f"{what} holds no experiment and no result.",
    )
    print(*filter(None, [overview(entries, out, _columns()), *stored]), sep="\n")


def _entries_for(what):
    """The experiments that a word of `list` or `show` names, without importing one."""
    from saddlescope.report.catalogue import entries_of_folder, entry_of_file, entry_of_key
    from saddlescope.serialization.own_code import file_of_module
    from saddlescope.workflows.find import experiment_keys, is_own, matching_keys

    papers = {key.partition(".")[0] for key in experiment_keys()}
    if Path(what).is_dir() and what not in (*papers, "all"):
        return entries_of_folder(what)
    keys = matching_keys(what)
    own = is_own(keys[0])
    return [entry_of_file(file_of_module(keys[0]), what)] if own else [entry_of_key(key) for key in keys]


def _columns() -> int | None:
    """The width to wrap to; None where the output is a file or another program."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() or "COLUMNS" in os.environ else None


@app.command()
def run(
    key: Annotated[
        str,
        typer.Argument(metavar="KEY|FILE", help="simplicity.fig1b, a paper (simplicity), all, or my_experiment.py."),
    ],
    quick: Annotated[
        bool, typer.Option("--quick", help="Run a small grid that still shows the effect (seconds to minutes).")
    ] = False,
    seeds: Annotated[int | None, typer.Option(help="Run seeds 0 … N-1 instead.")] = None,
    axis: Axis = None,
    out: Out = Path(OUT),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per experiment.")] = False,
    workers: Annotated[int, typer.Option(help="Worker processes, one thread each.")] = 1,
    movie: Annotated[bool, typer.Option("--movie", help="Also make a movie: mp4 with an encoder, else gif.")] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Overwrite an existing result even if it contains more runs.")
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Run again what is in the folder already.")] = False,
    own: Import = None,
    quiet: Quiet = False,
):
    """Run experiments, judge their claims, write results, figure, page.

    An experiment of your own is a Python file with `experiment = saddlescope.Experiment(...)`; its results go to a
    folder named after the file.

    Exit status: 0 if every verdict is as recorded or differs within chance, 1 if one differs beyond chance, 2 for bad
    usage. Runs with other seeds or axes than the recorded ones, and experiments of your own, are judged but not
    compared. Every run is kept in the folder: more seeds run only the new ones, and after Ctrl-C or a kill the same
    command resumes to the same bits. `collect`, `ls` and `verify` read the folder too.

    Examples:

      saddlescope run simplicity.fig1b --quick

      saddlescope run simplicity.fig1 --movie

      saddlescope run simplicity --seeds 5 --workers 2 --out results

      saddlescope run simplicity.fig1b --axis target=diagonal --axis seed=0..9

      saddlescope run my_experiment.py --quick
    """
    from saddlescope.workflows.find import check_axes, choose_scale, find_experiment, is_own, matching_keys

    import_all(own)
    chosen = matching_keys(key)  # a name that is not known is refused before anything heavy is imported
    from saddlescope.report.record import differences
    from saddlescope.sweeps.axes import parse_axes
    from saddlescope.workflows.judge import movies, write_contents
    from saddlescope.workflows.run_experiment import run_experiment

    axes, scales, differs = parse_axes(axis or [], seeds), {}, []
    found = {name: find_experiment(name) for name in chosen}
    for name, experiment in found.items():  # refuse before the first run, not after the last
        check_axes(name, experiment, axes)
        scales[name] = choose_scale(experiment, "quick" if quick else "full", axes)
        experiment.require_available(scales[name].axes)
        require(not movie or experiment.movie is not None, f"{name} has no movie; simplicity.fig1 has one.")
    options = {"workers": workers, "quiet": quiet, "movie": movie, "replace": replace, "again": again}
    for name, scale in scales.items():
        try:
            done = run_experiment(name, found[name], scale, out, **options)
        except KeyboardInterrupt:
            fail("stopped; finished runs are kept, and the same command resumes.", 130)
        compared = scale.is_whole and not is_own(name)
        differs += (other := differences(name, scale.name, done.verdicts) if compared else [])
        if as_json:
            shown = [
                {"sentence": v.sentence, "where": v.where, "holds": v.holds, "verdict": v.word}
                | {"evidence": v.evidence, "runs": v.runs, "not_finite": v.not_finite}
                for v in done.verdicts
            ]
            same = not any(d.beyond_chance for d in other) if compared else None
            facts = {"key": name, "scale": scale.label, "folder": str(done.folder), "as_recorded": same}
            print(json.dumps(facts | {"runs": done.runs, "new_runs": done.new_runs, "verdicts": shown}))
        else:
            _tell(name, found[name], scale, done.folder, done.verdicts)
            print(*(f"  movie: {film}\n" for film in movies(done.folder)), sep="", end="")
            print(*(f"  {sentence}\n" for sentence in filter(None, [done.reused])), sep="", end="")
    write_contents(out)
    _end(differs)


def _tell(key, experiment, scale, folder, verdicts):
    """Title and verdicts; beside a quick verdict the word of the full record."""
    from saddlescope.report.record import full_record_words

    words = full_record_words(key) if scale.name == "quick" else {}
    beside = {sentence: f" [full record: {word}]" for sentence, word in words.items()}
    lines = [f"  {v}{beside.get(v.sentence, '')}" for v in verdicts]
    print(f"{key} ({scale.label}): {experiment.title}", *lines, sep="\n")
    if untested := len(experiment.claims) - len(verdicts):
        print(f"  not tested, for want of runs: {untested} of {number_of(len(experiment.claims), 'claim')}")
    print(f"  page: {folder / 'index.html'}")


def _end(differs):
    """Say what is not as recorded; exit status 1 if anything differs beyond chance."""
    for difference in differs:
        print(f"saddlescope: not as recorded: {difference}", file=sys.stderr)
    raise typer.Exit(1 if any(d.beyond_chance for d in differs) else 0)


@app.command()
def judge(
    folders: Annotated[list[Path], typer.Argument(help="Folders that `run` wrote.")],
    experiment: Annotated[
        str | None, typer.Option(metavar="FILE", help="The file of your own experiment, where it was moved.")
    ] = None,
    own: Import = None,
):
    """Judge the claims on stored results again, without training.

    Verdicts, tables, figure and page are written again: for results of an older version, or after you changed a claim
    of your own. The exit status is that of `run`.

    Examples:

      saddlescope judge saddlescope-results/valleys.fig6

      saddlescope judge saddlescope-results/my_experiment --experiment moved/my_experiment.py
    """
    from saddlescope.report.record import differences
    from saddlescope.workflows.find import find_experiment, is_own
    from saddlescope.workflows.judge import judge_folder, write_contents

    import_all(own)
    differs = []
    for folder in folders:
        folder = folder.parent if folder.name == "results.nc" else folder
        key, scale, verdicts = judge_folder(folder, experiment)
        _tell(key, find_experiment(key), scale, folder, verdicts)
        differs += differences(key, scale.name, verdicts) if scale.is_whole and not is_own(key) else []
        write_contents(folder.parent)
    _end(differs)


@app.command()
def show(
    what: Annotated[str, typer.Argument(help="An experiment's key or file, or a results file or folder.")],
    out: Annotated[Path, typer.Option(help="Where `run` wrote its results.")] = Path(OUT),
    setting: Annotated[bool, typer.Option("--setting", help="Also print the first setting in full, as JSON.")] = False,
    own: Import = None,
):
    """Show an experiment or a stored result.

    What it is, where its figure and page are, its verdicts, and the stages of the first runs.

    Examples:

      saddlescope show simplicity.fig1b

      saddlescope show simplicity.fig1b --setting

      saddlescope show saddlescope-results/simplicity.fig1b
    """
    from saddlescope.report.describe import describe_stored

    import_all(own)
    is_stored = not what.endswith(".py") and (Path(what).exists() or "/" in what or what.endswith(".nc"))
    print(describe_stored(what, setting) if is_stored else _describe_key(what, out, setting))


def _describe_key(what, out, setting) -> str:
    """An experiment from its file; only its first setting is made by importing it."""
    from saddlescope.report.describe import describe_experiment
    from saddlescope.report.source_file import read_source
    from saddlescope.workflows.find import one_key

    key = one_key(what, "show")
    (entry,) = _entries_for(what)
    text = describe_experiment(entry, read_source(entry.file), out)
    return f"{text}\n{_first_setting(key)}" if setting else text


def _first_setting(key) -> str:
    from saddlescope.workflows.find import find_experiment

    experiment = find_experiment(key)
    if experiment.setting is None:
        raise InvalidInput(f"{key} trains nothing, so that it has no setting.")
    point = experiment.plan(experiment.full).points[0]
    return f"first setting:\n{experiment.setting(**point)}"


@app.command()
def explain(
    folder: Annotated[Path, typer.Argument(help="Result folder of an experiment that saves weights (`Parameters()`).")],
    number: Annotated[int, typer.Option("--run", help="Which run, counted from 0.")] = 0,
    own: Import = None,
):
    """Explain each plateau of a run.

    Its effective width, the nearest saddle, that saddle's level, and when the plateau ends. A result with
    nets of your own needs their code: `--import my_nets.py`.

    Examples:

      saddlescope explain saddlescope-results/simplicity.fig1 --run 40

      saddlescope explain saddlescope-results/my_experiment --import my_experiment.py
    """
    from saddlescope.explanations import explain as explained
    from saddlescope.storage.result_folder import load_results

    import_all(own)
    print(explained(load_results(folder), number).text(), end="")
