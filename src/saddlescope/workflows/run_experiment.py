"""From a key to a folder: run an experiment, judge it, and write everything it made."""

import shutil
import time
from dataclasses import replace
from pathlib import Path

from saddlescope.claims import judge
from saddlescope.errors import require
from saddlescope.figures import save_figure, save_movie, style
from saddlescope.report.index import index_pages, read_index
from saddlescope.report.page import page
from saddlescope.report.page_data import read_page_data
from saddlescope.storage.result_folder import (
    RESULTS,
    VERDICTS,
    attributes,
    folder_of,
    is_sealed,
    load_results,
    load_verdicts,
    make_folder,
    save_results,
    save_verdicts,
    seal,
    unseal,
    write_bytes,
)  # fmt: skip
from saddlescope.tables import WAYS, runs_table
from saddlescope.workflows.describe import describe_experiment, describe_run
from saddlescope.workflows.find import check_axes, find_again, find_experiment, own_file

KEPT = ("command", "date", "processor")  # of the runs, which a judgement leaves alone
UNDER_WAY = ".runs"  # what an experiment has done so far; it goes on from there, and they go when it is finished


def write_contents(out):
    """index.html of all finished results in a folder, and a page for each paper's sentences."""
    for name, text in index_pages(read_index(out)).items():
        write_bytes(Path(out) / name, text.encode())


def write_tables(folder, results, tables):
    """runs.csv, and every table of the experiment as text, Markdown, LaTeX and CSV."""
    write_bytes(folder / "runs.csv", runs_table(results).csv().encode())
    for table in tables:
        for kind, write in WAYS.items():
            write_bytes(folder / f"table_{table.name}.{kind}", write(table).encode())


def run_to_folder(key, scale, axes, out, workers=1, quiet=False, movie=False, replace=False):
    """Run one experiment into out/key (or out/key.quick); the folder and the verdicts. `axes` replace the scale's.
    A finished result of more runs is replaced only if `replace` says so."""
    experiment = find_experiment(key)
    check_axes(key, experiment, axes)
    folder = folder_of(out, key, scale)
    make_folder(folder)  # a place that cannot be written to is found out before the runs
    if not replace:
        refuse_fewer(folder, len(experiment.plan({**getattr(experiment, scale), **axes}).points))
    wall, cpu = time.perf_counter(), time.process_time()
    results = experiment.run({**getattr(experiment, scale), **axes}, workers, quiet, folder / UNDER_WAY)
    trained, own = trained_seconds(results), time.process_time() - cpu
    about = {
        "key": key, "scale": scale, "title": experiment.title, "where": experiment.source,
        "file": own_file(key), "runs": results.measured.sizes["run"], "wall_seconds": time.perf_counter() - wall,
        "cpu_seconds": own + trained if workers > 1 else max(own, trained),  # of runs done before a stop as well
    }  # fmt: skip
    about |= describe_run(key, scale, axes)
    for old in films(folder):
        old.unlink()
    verdicts = write_report(folder, key, experiment, results, about, movie)
    shutil.rmtree(folder / UNDER_WAY, ignore_errors=True)
    return folder, verdicts


def refuse_fewer(folder, runs):
    """Results of hours are not lost to a run of minutes."""
    if not is_sealed(folder):
        return
    there = load_verdicts(folder / VERDICTS)[1]["runs"]
    require(
        runs >= there,
        f"{folder} holds a finished result of {there} runs, and this would be one of {runs}: give another `--out`, or "
        "`--replace` to lose that one.",
    )


def films(folder) -> list[Path]:
    return sorted(folder.glob("movie.*"))


def trained_seconds(results) -> float:
    """CPU time of all runs and predictions, as they were timed."""
    parts = (results.measured, results.predicted)
    return sum(float(part.cpu_seconds.sum()) for part in parts if "cpu_seconds" in part)


def judge_folder(folder, experiment=None):
    """Judge stored results again, with the claims, figure and tables of this version; nothing is trained. The key, the
    scale, whether it is the whole of it, and the verdicts. `experiment` names a file that was moved since."""
    folder = Path(folder)
    require(
        (folder / RESULTS).is_file(), f"{folder} holds no {RESULTS}: give a folder in which `saddlescope run` was done."
    )
    results, about = load_results(folder), attributes(folder)
    known = ("key", "scale", "title", "where", "runs", "wall_seconds", "cpu_seconds")
    require(set(known) <= set(about), f"{folder} is no result of an experiment: `saddlescope run` makes one.")
    key = find_again(folder, about, experiment)
    found = find_experiment(key)
    check_axes(key, found, [c for c in results.measured.coords if results.measured[c].dims == ("run",)])
    about |= {"key": key, "file": own_file(key)}
    about["cpu_seconds"] = max(about["cpu_seconds"], trained_seconds(results))
    for table in folder.glob("table_*"):
        table.unlink()
    kept = {name: about[name] for name in (*known, "file", *KEPT) if name in about}
    verdicts = write_report(folder, key, found, results, kept)
    return key, about["scale"], is_whole(found, about["scale"], results), verdicts


def is_whole(experiment, scale, results) -> bool:
    """Whether these are as many runs as the scale has."""
    return results.measured.sizes["run"] == len(experiment.plan(getattr(experiment, scale)).points)


def write_report(folder, key, experiment, results, about, movie=False):
    """Everything but the results is made from them: verdicts, tables, figure, movie, page. Then the folder is whole;
    stopped before, `judge` makes it so."""
    verdicts = judge(experiment.claims, results)
    if about["scale"] != "full" or not is_whole(experiment, "full", results):  # notes speak of the recorded runs
        verdicts = tuple(replace(v, note="") for v in verdicts)
    tables = tuple(experiment.tables(results)) if experiment.tables else ()
    unseal(folder)
    about = about | describe_experiment(experiment, about["scale"])
    save_results(folder / RESULTS, results, **about)
    untested = len(experiment.claims) - len(verdicts)
    save_verdicts(folder / VERDICTS, verdicts, **about, untested=untested)
    write_tables(folder, results, tables)
    with style():
        save_figure(experiment.draw(results), folder)
        if movie and experiment.movie:
            save_movie(experiment.movie(results), folder)
    write_bytes(folder / "index.html", page(read_page_data(folder)).encode())
    seal(folder)
    return verdicts
