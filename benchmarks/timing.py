"""How benchmarks measure: CPU time, everything in alternation, ratios within a round, and where it was done."""

import json
import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from saddlescope.numerics import provenance

TURN = 0.1  # CPU seconds of a turn, about


def cpu_seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def alternate(turns: dict[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """What each turn returns, one number per round. The machine's speed drifts, so they take turns."""
    found: dict[str, list[float]] = {name: [] for name in turns}
    for _ in range(rounds):
        for name, turn in turns.items():
            found[name].append(turn())
    return found


def repeats(work: Callable[[int], object], most: int) -> int:
    """How often to do it in one turn; it is done twice before, since the first call compiles."""
    work(1)
    return max(1, min(most, int(TURN / max(cpu_seconds(lambda: work(1)), 1e-9))))


def quartiles(values: Sequence[float]) -> list[float]:
    return statistics.quantiles(values, n=4, method="inclusive")


def ratios(over: Sequence[float], under: Sequence[float]) -> list[float]:
    """Quartiles of the ratios within a round."""
    return quartiles([a / b for a, b in zip(over, under, strict=True)])


def machine() -> dict:
    """Versions, commit, processor, cores and the load of the last minute."""
    return provenance() | {"cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1)}


def rounded(value: Any) -> Any:
    """Four digits of every number in a tree."""
    if isinstance(value, dict):
        return {key: rounded(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(v) for v in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def keep(file: Path | None, result: dict):
    """Store a result, with where it was made."""
    if file:
        file.write_text(json.dumps(rounded(result) | {"machine": machine()}, indent=1) + "\n", encoding="utf-8")
