"""Judge results, and write all that is made from them: verdicts, tables, figure, movie, page."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from inspect import cleandoc
from pathlib import Path

from saddlescope.claims import Verdict, judge
from saddlescope.errors import require
from saddlescope.experiment import Experiment
from saddlescope.numerics import git_commit
from saddlescope.report.describe import runs_text
from saddlescope.report.facts import decoded
from saddlescope.report.index import index_pages, read_index
from saddlescope.report.page import caption, page
from saddlescope.report.page_data import read_page_data
from saddlescope.results import Results
from saddlescope.storage.files import write_bytes
from saddlescope.storage.result_folder import (
    RESULTS,
    RUNS,
    VERDICTS,
    load_with_facts,
    save_results,
    save_verdicts,
    seal,
    unseal,
)
from saddlescope.tables import WAYS, Table, runs_table
from saddlescope.workflows.find import Scale, check_axes, find_again, find_experiment, own_file, stored_scale

FACTS = ("key", "scale", "title", "where", "runs", "wall_seconds", "cpu_seconds")
KEPT = ("file", "command", "date", "versions", "git_commit", "clean", "processor")  # of the runs, not of a judgement


def judge_folder(folder, experiment_file: str | None = None) -> tuple[str, Scale, tuple[Verdict, ...]]:
    """Judge stored results again, with the claims, figure and tables of this version; nothing is trained.

    Returns the experiment's key, how much of it is there, and the verdicts.
    """
    folder = Path(folder)
    give = "give a folder that `saddlescope run` wrote"
    require((folder / RESULTS).is_file(), f"{folder} holds no {RESULTS}: {give}.")
    results, about = load_with_facts(folder)
    require(set(FACTS) <= set(about), f"{folder} is not the result of an experiment: {give}.")
    key = find_again(folder, about, experiment_file)
    experiment = find_experiment(key)
    check_axes(key, experiment, [c for c in results.measured.coords if results.measured[c].dims == ("run",)])
    about |= {"key": key, "file": own_file(key), "title": experiment.title, "where": experiment.source}
    # Folders of older versions have no `grid`: their `scale` is the name of the grid.
    scale = stored_scale(experiment, str(about.get("grid", about["scale"])), results)
    about["cpu_seconds"] = max(about["cpu_seconds"], cpu_seconds(results))
    for table in folder.glob("table_*"):
        table.unlink()
    facts = {name: value for name, value in decoded(about).items() if name in (*FACTS, *KEPT)}
    facts["judged_by"] = git_commit()
    return key, scale, write_report(folder, experiment, scale, results, facts)


def write_report(
    folder: Path, experiment: Experiment, scale: Scale, results: Results, about: dict, movie: bool = False
) -> tuple[Verdict, ...]:
    """Write everything that a result consists of; the verdicts.

    The folder counts as finished when the last file is there. If this is stopped before, `judge` finishes it.
    """
    from saddlescope.figures import save_figure, save_movie, style  # brings matplotlib, which not every command needs

    about = about | describe_experiment(experiment) | {"scale": scale.label, "grid": scale.name}
    verdicts = judge(experiment.claims, results)
    if scale.name != "full" or not scale.is_whole:  # notes explain the recorded runs, no others
        verdicts = tuple(replace(v, note="") for v in verdicts)
    tables = tuple(experiment.tables(results)) if experiment.tables else ()
    unseal(folder)
    stored = save_results(folder / RESULTS, results, **about)
    untested = len(experiment.claims) - len(verdicts)
    save_verdicts(folder / VERDICTS, verdicts, **about, untested=untested)
    write_bytes(folder / RUNS, runs_text(stored["measured"]).encode())
    write_tables(folder, results, tables)
    with style():
        save_figure(experiment.draw(results), folder)
        if movie and experiment.movie:
            save_movie(experiment.movie(results), folder)
    data = read_page_data(folder, stored)
    write_bytes(folder / "caption.txt", caption(data).encode())
    write_bytes(folder / "index.html", page(data).encode())
    seal(folder)
    return verdicts


def describe_experiment(experiment: Experiment) -> dict:
    """Caption and notes from the docstring of its file and `drawn`, and whether it trains."""
    first, _, rest = _docstring(experiment).partition("\n\n")
    return {
        "caption": " ".join(f"{first} {experiment.drawn}".split()),
        "notes": rest.strip(),
        "trains": experiment.setting is not None,
    }


def _docstring(experiment) -> str:
    """Of the module that holds the experiment, be it ours or a file of the user's own."""
    for module in list(sys.modules.values()):
        if getattr(module, "__dict__", {}).get("experiment") is experiment:
            return cleandoc(module.__doc__ or "")
    return ""


def write_contents(out):
    """Write index.html of all finished results in a folder, and a page per paper."""
    for name, text in index_pages(read_index(out)).items():
        write_bytes(Path(out) / name, text.encode())


def movies(folder: Path) -> list[Path]:
    """The movie of a result, if it has one."""
    return sorted(folder.glob("movie.*"))


def cpu_seconds(results: Results) -> float:
    """CPU time of all runs and predictions together, also of those that were done by an earlier command."""
    parts = (results.measured, results.predicted)
    return sum(float(part.cpu_seconds.sum()) for part in parts if "cpu_seconds" in part)


def write_tables(folder, results, tables: Sequence[Table]):
    """Write runs.csv, and every table of the experiment as text, Markdown, LaTeX and CSV."""
    write_bytes(folder / "runs.csv", runs_table(results).csv().encode())
    for table in tables:
        for kind, write in WAYS.items():
            write_bytes(folder / f"table_{table.name}.{kind}", write(table).encode())
