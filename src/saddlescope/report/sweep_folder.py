"""What is in the folder of a sweep: listed, collected, verified. Nothing here needs JAX, so that it answers at once."""

from collections import Counter
from pathlib import Path

from saddlescope.errors import InvalidInput
from saddlescope.progress import Progress
from saddlescope.storage.provenance import provenance
from saddlescope.sweeps.axes import spelled
from saddlescope.sweeps.board import alive
from saddlescope.sweeps.consolidate import FolderContents, consolidate, folder_contents, verified
from saddlescope.sweeps.folder import HOST, Folder, read_json
from saddlescope.sweeps.plan import read_plan
from saddlescope.sweeps.table import check_table, write_table

SHOWN = 20  # runs of a kind that a listing shows

# ---- Listing ----


def listing_facts(folder, where=None) -> dict:
    """Counts, reasons and points, for programs."""
    place = Folder(folder)
    found = folder_contents(place, where)
    return {
        "done": len(found.there), "failed": [{"name": n, "point": found.named(n), "reason": why}
                                             for n, why in found.failed.items()],
        "missing": [{"name": n, "point": found.named(n), "partial": place.partial(n).exists()} for n in found.missing],
        "sweeps": [facts for _, facts in statuses(place)],
    }  # fmt: skip


def listing(folder, where=None, everything=False) -> str:
    place = Folder(folder)
    found = folder_contents(place, where)
    most = len(found.points) if everything else SHOWN
    lines = [f"{folder}: {len(found.there)} done, {len(found.failed)} failed, {len(found.missing)} missing"]
    for name in found.there if everything else ():
        lines.append(f"  done     {name}  {spelled(found.named(name))}: {status_of(place, name)}")
    kinds = Counter(found.failed.values())
    for reason, count in kinds.most_common(5) if len(found.failed) > most else ():
        lines.append(f"  {count} failed: {reason}")
    for name, reason in list(found.failed.items())[:most]:
        lines.append(f"  failed   {name}  {spelled(found.named(name))}: {reason}")
    for name in found.missing[:most]:
        begun = " (begun: goes on from its checkpoint)" if place.partial(name).exists() else ""
        lines.append(f"  missing  {name}  {spelled(found.named(name))}{begun}")
    if max(len(found.failed), len(found.missing)) > most:
        lines.append("  … and more; --all shows every run")
    for path, facts in statuses(place):
        lines.append(f"  {facts['state']}: {facts.get('title')} on {path.stem}, {facts.get('done')} runs done, "
                     f"updated {facts.get('updated')}")  # fmt: skip
    return "\n".join(lines)


def status_of(place, name):
    try:
        word = place.columns(name)[0].get("status")
    except InvalidInput:
        return "damaged"
    return str(word[1]) if word is not None else "measured"


def statuses(place):
    for path in sorted((place.root / "status").glob("*.json")):
        facts = read_json(path)
        if isinstance(facts, dict) and "state" in facts:
            gone = facts.get("host") == HOST and not alive(int(facts.get("pid") or 0))
            if facts["state"] == "running" and gone:
                facts["state"] = "killed"
            yield path, facts


# ---- Collecting and verifying ----


def collect_folder(folder, output, table, where=None, quiet=False):
    """Write the file and the table; sentences about them."""
    place = Folder(folder)
    if table is not None:
        check_table(table)
    found = folder_contents(place, where)
    if output is not None or table is None:
        target = Path(output) if output is not None else place.root / "sweep.nc"
        with Progress("collecting", 2 * len(found.there), quiet) as bar:
            consolidate(place, found, target, bar, key="sweep", title=Path(folder).name, **provenance())
        size = target.stat().st_size / 1e6
        yield f"{len(found.there)} runs in {target} ({size:.3g} MB)"
    if table is not None:
        found = verified(place, found)
        write_table(place, found, table)
        yield f"{len(found.there)} runs in {table}"
    yield from left_out(found)


def left_out(found: FolderContents):
    if found.missing or found.failed:
        yield f"not there: {len(found.missing)} missing, {len(found.failed)} failed"
    if found.damaged:
        again = "the sweep that made them does them again"
        yield f"{len(found.damaged)} damaged and left out, such as {found.damaged[0]}; {again}"


def verify_folder(folder, quiet=False) -> tuple[list[str], bool]:
    place = Folder(folder)
    broken = []
    for path in sorted((place.root / "plans").glob("*.json")):
        try:
            read_plan(path)
        except InvalidInput as error:
            broken.append(str(error))
    if broken:
        return broken, False
    found = folder_contents(place)
    with Progress("verifying", len(found.there), quiet) as bar:
        found = verified(place, found, bar)
    lines = [f"damaged: {place.shard(name)}  {spelled(found.named(name))}" for name in found.damaged]
    lines.append(f"{len(found.there)} runs are whole, every byte; {len(found.damaged)} damaged")
    return lines + list(left_out(found))[: 1 if found.missing or found.failed else 0], not found.damaged
