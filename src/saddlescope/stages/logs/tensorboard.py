"""TensorBoard event files: every scalar of every step.

Each record is a protobuf `Event` with a step and a summary: values with a tag. A scalar is a
`simple_value`, or a tensor of rank 0. All events are read at once, field by field.
"""

from pathlib import Path

import numpy as np

from saddlescope.errors import InvalidInput
from saddlescope.stages.logs.log import Log, require_begun
from saddlescope.stages.logs.many_runs import log_of_parts
from saddlescope.stages.logs.protobuf import BYTES, FIXED32, VARINT, read_fields
from saddlescope.stages.logs.tfrecord import find_records

KIND = "TensorBoard event file"
NUMBERS = {1: ("<f4", 5), 2: ("<f8", 6)}  # type of a tensor → of its bytes, field of its numbers


def fits(path: Path) -> bool:
    """Whether this is an event file, or a folder that holds some."""
    return bool(_event_files(Path(path)))


def read(path: Path) -> Log:
    """All scalars of a file, or of the files of a folder, joined in the order of their time stamps.

    Where several folders below hold event files, the names are `folder/tag`.
    """
    path = Path(path)
    parts, notes = [], []
    for file in _event_files(path):
        run = file.parent.relative_to(path).as_posix() if path.is_dir() else ""
        found = _read_file(file, notes)
        parts += [("" if run == "." else run, tag, *points) for tag, points in found.items()]
    sentence = " ".join([f"{path} holds no scalar: give a log with a loss.", *notes])
    require_begun(bool(parts), sentence)
    return log_of_parts(KIND, parts, notes)


def _event_files(path):
    if path.is_dir():
        files = [file for file in path.rglob("*tfevents*") if file.is_file()]
        return sorted(files, key=lambda file: (file.parent, _started(file), file.name))
    return [path] if "tfevents" in path.name and path.is_file() else []


def _started(file):
    """The time stamp in `events.out.tfevents.1700000000.host`: names alone sort 10 before 9."""
    stamp = file.name.partition("tfevents.")[2].partition(".")[0]
    return int(stamp) if stamp.isdecimal() else 0


def _read_file(file, notes):
    """Tag → (steps, values) of one file; what is wrong with it is added to the notes."""
    raw = file.read_bytes()
    if not raw:
        notes.append(f"{file.name} is empty.")
        return {}
    ranges = find_records(raw, file, notes)
    try:
        return _scalars(np.frombuffer(raw, np.uint8), *ranges)
    except ValueError as error:
        sentence = f"{file} holds records that are not events ({error}): give another file."
        raise InvalidInput(sentence) from None


def _scalars(data, begin, end):
    """Tag → (steps, values), in the order of writing."""
    events = read_fields(data, begin, end)
    steps = np.zeros(len(begin), np.int64)
    written = events.select(2, VARINT).last()
    steps[written.message] = written.value.view(np.int64)
    summaries = events.select(5, BYTES)
    values = read_fields(data, summaries.begin, summaries.end).select(1, BYTES)
    steps = steps[summaries.message[values.message]]
    fields = read_fields(data, values.begin, values.end)
    numbers = _simple_values(data, fields, len(steps))
    _add_tensors(data, fields, numbers)
    return _by_tag(data, fields, steps, numbers)


def _simple_values(data, fields, n):
    """The number of each value, with those that are no scalar masked."""
    numbers = np.ma.masked_all(n)
    simple = fields.select(2, FIXED32).last()
    numbers[simple.message] = _numbers_at(data, simple.begin, "<f4")
    return numbers


def _numbers_at(data, begin, kind):
    size = np.dtype(kind).itemsize
    return data[begin[:, None] + np.arange(size)].view(kind)[:, 0].astype(float)


def _add_tensors(data, fields, numbers):
    """Numbers stored as tensors of rank 0, either as raw bytes or in the field of their type."""
    tensors = fields.select(8, BYTES).last()
    if not len(tensors.message):
        return
    inner = read_fields(data, tensors.begin, tensors.end)
    types, ranked = np.zeros(len(tensors.message), int), np.zeros(len(tensors.message), bool)
    given, shapes = inner.select(1, VARINT).last(), inner.select(2, BYTES).last()
    types[given.message] = given.value
    ranked[shapes.message] = shapes.end > shapes.begin  # a scalar's shape has no dimension
    for type_, (kind, own_field) in NUMBERS.items():
        for content in (inner.select(4, BYTES), inner.select(own_field, BYTES)):
            one = content.last()
            sized = one.end - one.begin == np.dtype(kind).itemsize
            which = sized & (types[one.message] == type_) & ~ranked[one.message]
            numbers[tensors.message[one.message[which]]] = _numbers_at(data, one.begin[which], kind)


def _by_tag(data, fields, steps, numbers):
    names = fields.select(1, BYTES).last()
    names = names.take(~np.ma.getmaskarray(numbers)[names.message])
    raw = data.tobytes()
    tags = [raw[a:b] for a, b in zip(names.begin.tolist(), names.end.tolist(), strict=True)]
    places = {tag: i for i, tag in enumerate(dict.fromkeys(tags))}
    which = np.fromiter(map(places.__getitem__, tags), int, len(tags))
    order = np.argsort(which, kind="stable")  # one sort serves any number of tags
    cuts = np.searchsorted(which[order], np.arange(1, len(places)))
    columns = (steps[names.message], numbers.data[names.message])
    parts = zip(*(np.split(column[order], cuts) for column in columns), strict=True)
    return {tag.decode(errors="replace"): part for tag, part in zip(places, parts, strict=False)}
