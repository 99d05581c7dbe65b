"""Logs made by hand, all with the same curve."""

import gzip
import json

import numpy as np

STEPS = np.arange(0, 300, 10)
LOSS = np.round(1 / (1 + STEPS), 6)
PAIRS = [*zip(STEPS.tolist(), LOSS.tolist(), strict=True)]


def written(tmp_path, name, text):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def check(curve, kind, name="loss", time_name="step"):
    assert (curve.kind, curve.name, curve.time_name) == (kind, name, time_name)
    np.testing.assert_array_equal(curve.time, STEPS)
    np.testing.assert_array_equal(curve.loss, LOSS)


def csv(head="step,loss", row="{},{}"):
    return "\n".join([head, *(row.format(s, v) for s, v in PAIRS)]) + "\n"


def json_lines(**more):
    return [json.dumps({"step": s, "loss": v} | more) for s, v in PAIRS]


def packed(data):
    return gzip.compress(data.encode() if isinstance(data, str) else data)
