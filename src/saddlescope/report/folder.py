"""From a key to a folder: run an experiment, judge it, and write everything it made."""

import shutil
import time
from pathlib import Path

from saddlescope.claims import judge
from saddlescope.experiment import find
from saddlescope.figures import save_figure, style
from saddlescope.provenance import provenance
from saddlescope.refusal import Refusal
from saddlescope.report.page import contents, page
from saddlescope.store import (
    VERDICTS,
    folder_of,
    is_sealed,
    load_verdicts,
    make_folder,
    save_results,
    save_verdicts,
    seal,
    unseal,
    write_bytes,
)  # fmt: skip

UNDER_WAY = ".runs"  # what an experiment has done so far; it goes on from there, and they go when it is finished


def write_contents(out):
    """index.html of all whole results in a folder. A damaged one must not spoil the run that was just made."""
    found = []
    for file in sorted(f for f in Path(out).glob(f"*/{VERDICTS}") if is_sealed(f.parent)):
        try:
            verdicts, about = load_verdicts(file)
        except Refusal:
            continue  # `list` and `show` name it
        found.append((file.parent.name, about["title"], verdicts))
    write_bytes(Path(out) / "index.html", contents(found).encode())


def run_to_folder(key, scale, axes, out, workers=1, quiet=False):
    """Run one experiment into out/key (or out/key.quick); the folder and the verdicts. `axes` replace the scale's."""
    experiment = find(key)
    experiment.check_axes(axes)
    folder = folder_of(out, key, scale)
    make_folder(folder)  # a place that cannot be written to is found out before the runs
    wall, cpu = time.perf_counter(), time.process_time()
    results = experiment.run({**getattr(experiment, scale), **axes}, workers, quiet, folder / UNDER_WAY)
    trained = float(results.measured.cpu_seconds.sum()) if workers > 1 and "cpu_seconds" in results.measured else 0.0
    about = {
        "key": key, "scale": scale, "title": experiment.title, "where": experiment.where,
        "runs": results.measured.sizes["run"], "wall_seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu + trained,
    }  # fmt: skip
    verdicts = judge(experiment.claims, results)
    unseal(folder)
    save_results(folder / "results.nc", results, **about)
    save_verdicts(folder / "verdicts.json", verdicts, **about)
    with style():
        save_figure(experiment.draw(results), folder)
    text = page(key, experiment, scale, results, verdicts, about | provenance())
    write_bytes(folder / "index.html", text.encode())
    seal(folder)
    shutil.rmtree(folder / UNDER_WAY, ignore_errors=True)
    return folder, verdicts
