"""The wire form of protobuf, for many messages at once: field numbers, kinds and byte ranges.

The n-th fields of all messages are read in one numpy step. A log has many small messages of few
fields, for which a loop in Python is twenty times slower.
"""

from dataclasses import dataclass

import numpy as np

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
LONGEST_VARINT = 10  # bytes


@dataclass(frozen=True)
class Fields:
    """Fields of many messages, in the order of messages and, inside each, of writing.

    **Arguments:**

    - `message`: which message each field belongs to.
    - `number`: its field number.
    - `kind`: its wire type: VARINT, FIXED64, BYTES or FIXED32.
    - `begin`, `end`: where its content is; a varint's content is `value`.
    - `value`: the number of a varint, else 0.
    """

    message: np.ndarray
    number: np.ndarray
    kind: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    value: np.ndarray

    def select(self, number: int, kind: int) -> "Fields":
        """Those with one field number and kind."""
        return self.take((self.number == number) & (self.kind == kind))

    def last(self) -> "Fields":
        """The last one per message: protobuf's rule for a field that may occur only once."""
        following = np.append(self.message[1:], -1)[: len(self.message)]
        return self.take(self.message != following)

    def take(self, which: np.ndarray) -> "Fields":
        """Those at these places, or where this mask is true."""
        return Fields(**{name: column[which] for name, column in vars(self).items()})


def read_fields(data: np.ndarray, begin: np.ndarray, end: np.ndarray) -> Fields:
    """The fields of each message `data[begin:end]`; a ValueError where one is not protobuf."""
    message, at = np.arange(len(begin)), begin.astype(np.int64)
    rounds = []
    while len(message := message[going := at < end[message]]):
        at, stop = at[going], end[message]
        key, at = _read_varints(data, at, stop)
        number, kind = (key >> 3).astype(np.int64), (key & 7).astype(np.int64)
        found = _contents(data, at, stop, kind)
        rounds.append(Fields(message, number, kind, *found))
        at = found[1]
    return _in_order(rounds)


def _contents(data, at, stop, kind):
    """Begin, end and value of each field, whose content starts at `at`."""
    if not np.isin(kind, (VARINT, FIXED64, BYTES, FIXED32)).all():
        raise ValueError("unknown wire type")
    value = np.zeros(len(at), np.uint64)
    size = np.where(kind == FIXED64, 8, 4)
    varied = (kind == VARINT) | (kind == BYTES)
    begin = at.copy()
    value[varied], begin[varied] = _read_varints(data, at[varied], stop[varied])
    if (value[kind == BYTES] > len(data)).any():
        raise ValueError("field longer than the file")
    size = np.where(kind == BYTES, value.astype(np.int64), np.where(kind == VARINT, 0, size))
    if (begin + size > stop).any():
        raise ValueError("field longer than its message")
    return begin, begin + size, np.where(kind == VARINT, value, 0).astype(np.uint64)


def _read_varints(data, at, stop):
    """The numbers at these places, and the places behind them."""
    value, at = np.zeros(len(at), np.uint64), at.copy()
    open_ones = np.arange(len(at))
    for shift in range(0, 7 * LONGEST_VARINT, 7):
        if (at[open_ones] >= stop[open_ones]).any():
            raise ValueError("varint longer than its message")
        byte = data[at[open_ones]].astype(np.uint64)
        value[open_ones] |= (byte & np.uint64(127)) << np.uint64(shift)
        at[open_ones] += 1
        open_ones = open_ones[byte > 127]
        if not len(open_ones):
            return value, at
    raise ValueError("varint of more than 10 bytes")


def _in_order(rounds):
    """All rounds as one table, sorted by message; a stable sort keeps the order inside each."""
    if not rounds:
        nothing = np.zeros(0, np.int64)
        return Fields(nothing, nothing, nothing, nothing, nothing, nothing.astype(np.uint64))
    columns = {n: np.concatenate([vars(r)[n] for r in rounds]) for n in vars(rounds[0])}
    order = np.argsort(columns["message"], kind="stable")
    return Fields(**{name: column[order] for name, column in columns.items()})
