"""Where a log is: packed, piped, or somewhere in a folder."""

import io
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from made_logs import LOSS, STEPS, check, csv, json_lines, packed, written
from tool_logs import EVENTS

from saddlescope.errors import InvalidInput
from saddlescope.stages import read_curves


def test_gzip_of_all_kinds(tmp_path):
    file = io.BytesIO()
    np.savez(file, step=STEPS, loss=LOSS)
    check(read_curves(written(tmp_path, "a.csv.gz", packed(csv()))), "CSV")
    text = "\n".join(json_lines())
    check(read_curves(written(tmp_path, "a.jsonl.gz", packed(text))), "JSON lines")
    check(read_curves(written(tmp_path, "a.npz.gz", packed(file.getvalue()))), "NPZ")
    parts = packed(csv()[:100]) + packed(csv()[100:])
    check(read_curves(written(tmp_path, "two.csv.gz", parts)), "CSV")
    with pytest.raises(InvalidInput, match=r"^\S*b\.csv\.gz has 'x' where .*, in line 2"):
        read_curves(written(tmp_path, "b.csv.gz", packed("loss\nx\n1\n")))
    for data in (packed(csv())[:-20], packed(csv())[:40] + b"?" * 40):
        with pytest.raises(InvalidInput, match=r"c\.csv\.gz (is damaged|ends too early)"):
            read_curves(written(tmp_path, "c.csv.gz", data))


@pytest.mark.parametrize("text", [csv(), "\n".join(json_lines()), packed(csv())])
def test_standard_input(monkeypatch, text):
    data = text if isinstance(text, bytes) else text.encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    check(read_curves("-"), "JSON lines" if data[:1] == b"{" else "CSV")


def test_errors_name_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"step,loss\n0,1\n1,oops\n")))
    with pytest.raises(InvalidInput, match=r"^standard input has 'oops'"):
        read_curves("-")
    with pytest.raises(InvalidInput, match="standard input is empty"):
        read_curves("-")


INSIDE = ["metrics.csv", "train.jsonl.gz"]
INSIDE += ["version_0/metrics.csv", "out/checkpoint-20/trainer_state.json"]


@pytest.mark.parametrize("inside", INSIDE)
def test_the_log_in_a_folder(tmp_path, inside):
    history = json.dumps({"log_history": [json.loads(line) for line in json_lines()]})
    texts = {".json": history, ".csv": csv(), ".gz": packed("\n".join(json_lines()))}
    written(tmp_path, inside, texts[Path(inside).suffix])
    written(tmp_path, "out/checkpoint-9/other.bin", b"\0")
    curve = read_curves(tmp_path)
    np.testing.assert_array_equal(curve.loss, LOSS)
    assert curve.notes == (f"It was read from {inside}.",)


def test_the_last_checkpoint_has_the_whole_history(tmp_path):
    for n, step in ((9, 10), (30, 100), (4, 20)):
        history = json.dumps({"log_history": [json.loads(line) for line in json_lines()[:n]]})
        written(tmp_path, f"checkpoint-{step}/trainer_state.json", history)
    check(read_curves(tmp_path), "Hugging Face trainer_state")


def test_several_runs_are_named(tmp_path):
    for i in range(3):
        written(tmp_path, f"version_{i}/metrics.csv", csv())
    with pytest.raises(InvalidInput, match=r"holds 3 runs: version_0/metrics\.csv, .* --compare"):
        read_curves(tmp_path)
    check(read_curves(tmp_path / "version_1"), "CSV")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInput, match="empty holds no curve"):
        read_curves(tmp_path / "empty")


def test_logs_of_several_tools_in_a_folder_are_named(tmp_path):
    """What was taken, what else is there, and a path that reads it."""
    written(tmp_path, "metrics.csv", csv())
    curve = read_curves(tmp_path)
    assert curve.notes == ("It was read from metrics.csv.",)
    history = json.dumps({"log_history": [json.loads(line) for line in json_lines()]})
    written(tmp_path, "out/trainer_state.json", history)
    curve = read_curves(tmp_path)
    check(curve, "Hugging Face trainer_state")
    other = f"another file that may be a log; give its path to read it: {tmp_path / 'metrics.csv'}."
    assert curve.notes == ("It was read from out/trainer_state.json.", f"The folder holds {other}")
    for place in (tmp_path, tmp_path / "runs" / "a"):
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(EVENTS, place)
        (named,) = (n for n in read_curves(tmp_path).notes if "other files that may be logs" in n)
        paths = named.rstrip(".").partition("read it: ")[2].split(", ")
        assert len(paths) == 2 + (place != tmp_path)
        columns = [None if path.endswith("csv") else "train/loss" for path in paths]
        kinds = {read_curves(*given).kind for given in zip(paths, columns, strict=True)}
        assert kinds == {"CSV", "TensorBoard event file"}


def test_tables_beside_our_own_results_are_not_offered(tmp_path):
    data = xr.Dataset({"loss": ("step", LOSS)}, {"step": STEPS})
    data.to_netcdf(tmp_path / "results.nc", engine="h5netcdf")
    written(tmp_path, "runs.csv", csv())
    assert read_curves(tmp_path).notes == ("It was read from results.nc.",)
