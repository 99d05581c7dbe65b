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


def compare_arrays(old: dict, new: dict, elements: dict) -> tuple[list[str], list[str], dict]:
    """Which arrays have the same bits, which do not, and where those are that have another name.

    All are the SHA-256 of arrays, by name; `elements` are the elements of the small ones of `new`.
    """
    shared, candidates = old.keys() & new.keys(), {}
    for name, sha in (elements | new).items():
        if name not in old:
            candidates.setdefault(sha, []).append(name)
    moved = {name: candidates.get(old[name], []) for name in old if name not in new}
    moved = {name: _nearest(name, names) for name, names in moved.items() if names}
    same = [name for name in old if name in moved or (name in shared and old[name] == new[name])]
    return same, [name for name in old if name in shared and name not in same], moved


def _nearest(name: str, names: list[str]) -> str:
    """The same word in another place, if it is among them."""
    word = name.partition("/")[2]
    return next((n for n in names if n.partition("/")[2] == word), names[0])


def compare_row(row: dict, axes, new: dict, moved: dict[str, str]) -> list[str]:
    """The columns of a recorded row that today's run does not give again, digit for digit."""
    different = []
    for column in (c for c in row if c not in UNCOMPARED and c not in axes):
        name = f"measured/{column}"
        found = new["numbers"].get(moved.get(name, name), _size(column, new["sizes"]))
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

    A run that is shorter than the recorded one is compared between the versions alone. An array
    that is not kept today matters where the record has it.
    """
    point, row = asked["point"], asked["row"]
    found = {"experiment": asked["key"], "point": " ".join(f"{a}={v}" for a, v in point.items())}
    if error := old.get("error") or new.get("error"):
        return found | {"same_bits": "no", "same_as_record": "no", "note": error}
    same, different, moved = compare_arrays(old["arrays"], new["arrays"], new["elements"])
    lost = [name for name in old["arrays"] if name not in (*same, *different)]
    recorded = [name for name in lost if name.partition("/")[2] in row]
    off = [] if shorter else compare_row(row, point, new, moved)
    notes = [f"other bits: {', '.join(different)}"] if different else []
    notes += [f"not kept today: {', '.join(lost)}"] if lost else []
    notes += [f"other than recorded: {'; '.join(off)}"] if off else []
    notes += [f"{a} is {b} today" for a, b in moved.items()]
    notes += ["a shorter run than the recorded one"] if shorter else []
    hashes = row.get("hash", ""), old["hash"], new["hash"]
    curves = sum(name.startswith("curve/") for name in same)
    bits = "no" if different or recorded or not same else "yes"
    record = "not compared" if shorter else "no" if off else "yes"
    answers = len(same), curves, bits, record, "; ".join(notes)
    return found | dict(zip((*HASHES, *ANSWERS), (*hashes, *answers), strict=True))
