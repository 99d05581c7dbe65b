"""Judge results, and write all that is made from them: verdicts, tables, figure, movie, page."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from saddlescope.claims import Verdict, judge
from saddlescope.errors import InvalidInput, require
from saddlescope.experiment import Experiment, find, matching
from saddlescope.figures import save_figure, save_movie, style
from saddlescope.report.page import contents, page
from saddlescope.results import Results
from saddlescope.storage.files import write_bytes
from saddlescope.storage.provenance import provenance
from saddlescope.storage.result_folder import (
    RESULTS,
    VERDICTS,
    attributes,
    is_sealed,
    load_results,
    load_verdicts,
    save_results,
    save_verdicts,
    seal,
    unseal,
)
from saddlescope.tables import WAYS, Table, runs_table
from saddlescope.workflows.scale import Scale, stored_scale

FACTS = ("key", "scale", "title", "where", "runs", "wall_seconds", "cpu_seconds")


def judge_folder(folder) -> tuple[str, Scale, tuple[Verdict, ...]]:
    """Judge stored results again, with the claims, figure and tables of this version; nothing is trained.

    Returns the experiment's key, how much of it is there, and the verdicts.
    """
    folder = Path(folder)
    made_by = f"give a folder that `saddlescope run` wrote, not {folder}"
    require((folder / RESULTS).is_file(), f"{folder} holds no {RESULTS}: {made_by}.")
    results, about = load_results(folder), attributes(folder)
    require(set(FACTS) <= set(about), f"{folder} is not the result of an experiment: {made_by}.")
    key = str(about["key"])
    require(matching(key) == [key], f"{folder} is a result of {key!r}, which is not one experiment.")
    experiment = find(key)
    # Folders of older versions have no `grid`: their `scale` is the name of the grid.
    scale = stored_scale(experiment, str(about.get("grid", about["scale"])), results)
    about["cpu_seconds"] = max(about["cpu_seconds"], cpu_seconds(results))
    for table in folder.glob("table_*"):
        table.unlink()
    facts = {name: about[name] for name in FACTS}
    return key, scale, write_report(folder, experiment, scale, results, facts)


def write_report(
    folder: Path, experiment: Experiment, scale: Scale, results: Results, about: dict, movie: bool = False
) -> tuple[Verdict, ...]:
    """Write everything that a result consists of; the verdicts.

    The folder counts as finished when the last file is there. If this is stopped before, `judge` finishes it.
    """
    about = about | {"scale": scale.label, "grid": scale.name}
    verdicts = judge(experiment.claims, results)
    if scale.name != "full" or not scale.is_whole:  # notes explain the recorded runs, no others
        verdicts = tuple(replace(v, note="") for v in verdicts)
    tables = tuple(experiment.tables(results)) if experiment.tables else ()
    unseal(folder)
    save_results(folder / RESULTS, results, **about)
    untested = len(experiment.claims) - len(verdicts)
    save_verdicts(folder / VERDICTS, verdicts, **about, untested=untested)
    write_tables(folder, results, tables)
    with style():
        save_figure(experiment.draw(results), folder)
        if movie and experiment.movie:
            save_movie(experiment.movie(results), folder)
    film = next((f.name for f in movies(folder)), None)
    made = about | provenance()
    text = page(about["key"], experiment, scale.label, results, verdicts, tables, made, film)
    write_bytes(folder / "index.html", text.encode())
    seal(folder)
    return verdicts


def write_contents(out):
    """Write index.html of all finished results in a folder."""
    found = []
    for file in sorted(f for f in Path(out).glob(f"*/{VERDICTS}") if is_sealed(f.parent)):
        try:
            verdicts, about = load_verdicts(file)
        except InvalidInput:  # a damaged one must not spoil the run that was just made; `list` names it
            continue
        found.append((file.parent.name, about["title"], verdicts, about.get("untested", 0)))
    write_bytes(Path(out) / "index.html", contents(found).encode())


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
