"""Whether two versions of the code give the same run, and whether it is the recorded one.

A run is what `train_points.py` says of it. `carry_over.py` makes a table of what is found here.
"""

HASHES = ("recorded_hash", "old_hash", "new_hash")
ANSWERS = ("arrays", "loss_curves", "same_bits", "same_as_record", "note")
COLUMNS = ("experiment", "point", *HASHES, *ANSWERS)
UNCOMPARED = {"cpu_seconds", "wall_seconds", "hash", "engine"}  # of a row of runs.csv


def plain(value):
    """A cell and a value that mean the same, as one: numbers as floats, all else as words."""
    try:
        return str(value) if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return str(value)


def compare_arrays(old: dict, new: dict) -> tuple[int, list[str], dict[str, str]]:
    """How many arrays have the same bits; which do not; and what has another name today."""
    moved = {}
    for name, sha in old.items():
        if name not in new and (other := next((n for n, s in new.items() if s == sha), None)):
            moved[name] = other
    shared = [name for name in old if name in new]
    different = [name for name in shared if old[name] != new[name]]
    missing = [f"{name} (not kept)" for name in old if name not in new and name not in moved]
    return len(shared) - len(different) + len(moved), different + missing, moved


def compare_row(row: dict, axes, new: dict, moved: dict[str, str]) -> list[str]:
    """The columns of a recorded row that today's run does not give again, digit for digit."""
    different = []
    for column in (c for c in row if c not in UNCOMPARED and c not in axes):
        name = f"measured/{column}"
        name = name if name in new["numbers"] else moved.get(name, name)
        found = new["numbers"].get(name, _size(column, new["sizes"]))
        if str(plain(found)) != str(plain(row[column])):  # as text: nan is nan
            different.append(f"{column} {row[column]} → {found}")
    return different


def _size(column: str, sizes: dict) -> str:
    """What a column of lengths says of a run; "nan" for a number that the run does not have."""
    if column == "length":
        return str(next((sizes[t] for t in ("step", "epoch") if t in sizes), 0))
    has_length = column.endswith("_length")
    return str(sizes.get(column.removesuffix("_length"), 0)) if has_length else "nan"


def compare(asked: dict, old: dict, new: dict, shorter: bool = False) -> dict:
    """A row of the table of proofs.

    A run that is shorter than the recorded one is compared between the versions alone.
    """
    point, row = asked["point"], asked["row"]
    found = {"experiment": asked["key"], "point": " ".join(f"{a}={v}" for a, v in point.items())}
    if error := old.get("error") or new.get("error"):
        return found | {"same_bits": "no", "same_as_record": "no", "note": error}
    same, different, moved = compare_arrays(old["arrays"], new["arrays"])
    off = [] if shorter else compare_row(row, point, new, moved)
    hashes = row.get("hash", ""), old["hash"], new["hash"]
    shared = old["arrays"].keys() & new["arrays"].keys()
    curves = sum(name.startswith("curve/") for name in shared)
    notes = [f"other bits: {', '.join(different)}"] if different else []
    notes += [f"other than recorded: {'; '.join(off)}"] if off else []
    notes += [f"{a} is {b} today" for a, b in moved.items()]
    notes += ["a shorter run than the recorded one"] if shorter else []
    bits = "no" if different or not same else "yes"
    record = "not compared" if shorter else "no" if off else "yes"
    answers = same, curves, bits, record, "; ".join(notes)
    return found | dict(zip((*HASHES, *ANSWERS), (*hashes, *answers), strict=True))
