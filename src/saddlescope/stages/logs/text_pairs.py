"""Names and numbers in one line of text, such as `step 100 loss 0.123` or `[100/2000] loss=0.5`.

A number counts by the word before it. Words such as `train` or `Validation:` before a name tell
what it is of. A counter such as 100/2000 is a step, unless the name of a time stands before it.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from saddlescope.stages.logs.clock import time_rank
from saddlescope.stages.logs.records import HELD_OUT, TRAINING

SPLITS = TRAINING | HELD_OUT
COUNTED = "step"  # what a counter without a name is called
NUMBER = r"[-+]?(?:[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|inf)"
PAIR = re.compile(
    r"(?<![\w/.-])(?P<name>[A-Za-z_][\w/.-]*)"
    r"(?:['\"]?[ ]*[:=][ ]*(?:[\[(][ ]*)?|[ ]+(?:[\[(][ ]*)?)"
    rf"(?P<number>{NUMBER})(?![\w.]|,\d|:\d)(?:[ ]*/[ ]*(?P<total>\d+)(?![\w./-]))?"
    r"|(?<![\w/.-])(?P<word>[A-Za-z]+)(?![\w/.-])",
    re.IGNORECASE,
)
COUNTER = re.compile(r"(?<![\w./-])[\[(]?[ ]*(\d+)[ ]*/[ ]*([1-9]\d*)(?![\w./-])")
LAST_WORD = re.compile(r"(?P<word>[A-Za-z_]*)[ ]*(?P<mark>[:=#]?)[ ]*$")


class Pair(NamedTuple):
    """A number of a line, by its name; of a counter such as 3/10 also what it counts to."""

    name: str
    value: float
    total: float | None = None


def pairs_of(line: str, split: str = "") -> list[Pair]:
    """Names and numbers of a line. `split` is the word of `SPLITS` in the heading above it."""
    line, counter = _without_counter(line)
    pairs = []
    for match in PAIR.finditer(line):
        name = match["name"]
        if name is None:
            split = match["word"] if match["word"].lower() in SPLITS else split
            continue
        number = float(match["number"].replace(",", ""))
        total = float(match["total"]) if match["total"] and time_rank(name) is not None else None
        full = f"{split} {name}" if split and _needs_split(name) else name
        pairs.append(Pair(full, number, total))
    named = any(pair.name.lower() == COUNTED for pair in pairs)
    return pairs if counter is None or named else [counter, *pairs]


def split_of(line: str) -> str:
    """The word of `SPLITS` in a heading such as `Test Error:`; nothing in other lines."""
    words = re.findall("[A-Za-z]+", line) if line.rstrip().endswith(":") else ()
    return next((word for word in words if word.lower() in SPLITS), "")


def _without_counter(line):
    """A line without its first counter that has no name of its own, and that counter."""
    for match in COUNTER.finditer(line):
        before = LAST_WORD.search(line[: match.start()])
        word, mark = (before["word"], before["mark"]) if before else ("", "")
        count, total = float(match[1]), float(match[2])
        bare = not mark or match[0][0] == "["  # `Accuracy: 19/20` is a value, `Train: [6/9]` not
        if bare and time_rank(word) is None and count <= total:
            apart = ";" * (match.end() - match.start())  # so that no word stands before a number
            line = line[: match.start()] + apart + line[match.end() :]
            return line, Pair(COUNTED, count, total)
    return line, None


@lru_cache(1000)
def _needs_split(name):
    """Whether a name may mean training or validation; times mean both."""
    return time_rank(name) is None and not SPLITS & set(re.split(r"[\W_]+", name.lower()))
