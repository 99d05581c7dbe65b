"""What is in a folder of runs, that `sweep` or `run` wrote: listed, collected, verified.

Nothing here needs JAX, so that the answer comes at once.
"""

from collections import Counter
from pathlib import Path

from saddlescope.errors import InvalidInput, number_of
from saddlescope.numerics import provenance
from saddlescope.progress import Progress
from saddlescope.storage.result_folder import damaged_files
from saddlescope.sweeps.axes import format_point
from saddlescope.sweeps.consolidate import FolderContents, check_runs, consolidate, folder_contents
from saddlescope.sweeps.folder import Folder, read_json
from saddlescope.sweeps.journal import HOST
from saddlescope.sweeps.plan import read_plan
from saddlescope.sweeps.progress import alive
from saddlescope.sweeps.table import check_table, write_table

SHOWN = 20  # runs of a kind that a listing shows

# ---- Listing ----


def listing_facts(folder, where: str | None = None) -> dict:
    """Counts, reasons and points, for programs."""
    place = Folder(folder)
    found = folder_contents(place, where)
    failed = [{"name": n, "point": found.point_of(n), "reason": why} for n, why in found.failed.items()]
    missing = [{"name": n, "point": found.point_of(n), "partial": place.partial(n).exists()} for n in found.missing]
    return {
        "done": len(found.done),
        "predictions": len(found.predictions),
        "failed": failed,
        "missing": missing,
        "sweeps": [facts for _, facts in _statuses(place)],
    }


def listing(folder, where: str | None = None, everything: bool = False) -> str:
    """The same in words: the first runs of each kind, or all of them."""
    place = Folder(folder)
    found = folder_contents(place, where)
    most = len(found.points) if everything else SHOWN
    lines = [f"{folder}: {len(found.done)} done, {len(found.failed)} failed, {len(found.missing)} missing"]
    for name in found.done if everything else ():
        lines.append(f"  done     {name}  {format_point(found.point_of(name))}: {_status_of(place, name)}")
    if found.predictions:
        lines[0] += f"; {number_of(len(found.predictions), 'prediction')} beside them"
    reasons = Counter(found.failed.values())
    for reason, count in reasons.most_common(5) if len(found.failed) > most else ():
        lines.append(f"  {count} failed: {reason}")
    for name, reason in list(found.failed.items())[:most]:
        lines.append(f"  failed   {name}  {format_point(found.point_of(name))}: {reason}")
    for name in found.missing[:most]:
        begun = " (begun: resumes from its checkpoint)" if place.partial(name).exists() else ""
        lines.append(f"  missing  {name}  {format_point(found.point_of(name))}{begun}")
    if max(len(found.failed), len(found.missing)) > most:
        lines.append("  … and more; --all shows every run")
    for path, facts in _statuses(place):
        done = f"new runs done: {facts.get('done')}, updated {facts.get('updated')}"
        lines.append(f"  {facts['state']}: {facts.get('title')} on {path.stem}, {done}")
    return "\n".join(lines)


def _status_of(place, name):
    try:
        word = place.columns(name)[0].get("status")
    except InvalidInput:
        return "damaged"
    return str(word[1]) if word is not None else "measured"


def _statuses(place):
    for path in sorted((place.root / "status").glob("*.json")):
        facts = read_json(path)
        if isinstance(facts, dict) and "state" in facts:
            gone = facts.get("host") == HOST and not alive(int(facts.get("pid") or 0))
            if facts["state"] == "running" and gone:
                facts["state"] = "killed"
            yield path, facts


# ---- Collecting and verifying ----


def collect_folder(folder, output, table, where=None, quiet=False):
    """Write the NetCDF file and the table that were asked for; yields sentences about them."""
    place = Folder(folder)
    if table is not None:
        check_table(table)
    found = folder_contents(place, where)
    if output is not None or table is None:
        target = Path(output) if output is not None else place.root / "sweep.nc"
        with Progress("collecting", 2 * len(found.done), quiet) as bar:
            consolidate(place, found, target, bar, key="sweep", title=Path(folder).name, **provenance())
        size = target.stat().st_size / 1e6
        yield f"{number_of(len(found.done), 'run')} in {target} ({size:.3g} MB)"
    if table is not None:
        found = check_runs(place, found)
        with Progress("finding stages", len(found.done), quiet) as bar:
            write_table(place, found, table, bar)
        yield f"{number_of(len(found.done), 'run')} in {table}"
    yield from _left_out(found)


def _left_out(found: FolderContents):
    if found.missing or found.failed:
        yield f"not there: {len(found.missing)} missing, {len(found.failed)} failed"
    if found.damaged:
        again = "the command that made them does them again"
        yield f"{len(found.damaged)} damaged and left out, such as {found.damaged[0]}; {again}"


def verify_folder(folder, quiet=False) -> tuple[list[str], bool]:
    """Check every byte of results, plans, runs and predictions; sentences, and whether all is intact."""
    place = Folder(folder)
    broken = []
    for path in sorted((place.root / "plans").glob("*.json")):
        try:
            read_plan(path)
        except InvalidInput as error:
            broken.append(str(error))
    broken += damaged_files(folder)
    if broken:
        return broken, False
    found = folder_contents(place)
    with Progress("verifying", len(found.done) + len(found.predictions), quiet) as bar:
        found = check_runs(place, found, bar)
    lines = [f"damaged: {place.run_file(name)}  {format_point(found.point_of(name))}" for name in found.damaged]
    are = "are" if len(found.done) + len(found.predictions) != 1 else "is"
    theory = f" and {number_of(len(found.predictions), 'prediction')}" if found.predictions else ""
    runs = f"{number_of(len(found.done), 'run')}{theory}"
    lines.append(f"{runs} {are} intact, every byte; {len(found.damaged)} damaged")
    found.damaged, damaged = [], found.damaged
    return [*lines, *_left_out(found)], not damaged
