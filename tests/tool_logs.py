"""The logs under tests/logs, which the tools themselves wrote."""

import gzip
from pathlib import Path

import numpy as np

LOGS = Path(__file__).parent / "logs"
EVENTS = LOGS / "tensorboard" / "events.out.tfevents.1"
WANDB = LOGS / "wandb" / "run-known.wandb"


def unpack_databases(folder):
    """The stored databases, not compressed, in a folder."""
    for name in ("mlflow/mlflow.db", "trackio/known.db"):
        raw = gzip.decompress((LOGS / f"{name}.gz").read_bytes())
        (folder / Path(name).name).write_bytes(raw)
    return folder


def assert_series(series, steps, values, kind=float):
    np.testing.assert_array_equal(series.time, list(steps))
    np.testing.assert_array_equal(series.values, np.array(list(values), kind).astype(float))


def record_ranges(raw):
    """Where each record of an event file begins and ends."""
    at = 0
    while at < len(raw):
        length = int.from_bytes(raw[at : at + 8], "little")
        yield at, at + 16 + length
        at += 16 + length
