"""Logs of other tools that are cut, damaged or foreign: true points and a note, or one sentence."""

import zlib

import numpy as np
import pytest
from tool_logs import EVENTS, WANDB, record_ranges

from saddlescope.errors import InvalidInput
from saddlescope.stages.logs import mlflow_store, tensorboard, wandb_offline
from saddlescope.stages.logs.leveldb_log import BLOCK, HEAD


def assert_nothing_wrong(read, path, true, noted=True):
    """Either a sentence, or only true points and a note that says what is missing."""
    log, sentence = None, ""
    try:
        log = read(path)
    except InvalidInput as error:
        sentence = str(error)
    if log is None:
        assert sentence.endswith(".")
        assert "\n" not in sentence
        return
    for name, series in log.series.items():
        assert points_of(series) <= points_of(true.series[name])
    assert log.notes or count_points(log) == count_points(true) or not noted


def count_points(log):
    return sum(len(series.values) for series in log.series.values())


def points_of(series):
    return set(zip(series.time.tolist(), map(repr, series.values.tolist()), strict=True))


PAIRS = [(tensorboard, EVENTS), (wandb_offline, WANDB)]
BINARY = pytest.mark.parametrize(("reader", "path"), PAIRS, ids=["tensorboard", "wandb"])
FOREIGN = [b"", b"x", b"a text, not a log\n" * 30, bytes(5000), b":W&B\xe1\xbe\x01rest"]


@BINARY
def test_a_cut_file_gives_what_was_whole(reader, path, tmp_path):
    raw, true = path.read_bytes(), reader.read(path)
    cut = tmp_path / path.name
    # An event file has no mark of its end: one that is cut between two records looks whole.
    silent = {end for _, end in record_ranges(raw)} if reader is tensorboard else set()
    for size in np.random.default_rng(0).integers(1, len(raw), 60):
        cut.write_bytes(raw[:size])
        assert_nothing_wrong(reader.read, cut, true, noted=size not in silent)
    cut.write_bytes(raw[:-3])
    assert any("cut record" in note for note in reader.read(cut).notes)


@BINARY
def test_a_damaged_byte_never_gives_a_wrong_number(reader, path, tmp_path):
    raw, true = path.read_bytes(), reader.read(path)
    damaged = tmp_path / path.name
    for place in np.random.default_rng(1).integers(0, len(raw), 60):
        damaged.write_bytes(raw[:place] + bytes([raw[place] ^ 0x41]) + raw[place + 1 :])
        assert_nothing_wrong(reader.read, damaged, true)


@BINARY
@pytest.mark.parametrize("content", FOREIGN, ids=range(len(FOREIGN)))
def test_a_foreign_file_is_one_sentence(reader, path, tmp_path, content):
    foreign = tmp_path / path.name
    foreign.write_bytes(content)
    with pytest.raises(InvalidInput, match=r"^[^\n]*\.$"):
        reader.read(foreign)


def test_damage_in_the_middle_is_said_and_the_rest_is_read(tmp_path):
    raw = bytearray(EVENTS.read_bytes())
    ranges = list(record_ranges(raw))
    raw[ranges[100][1] - 6] ^= 1  # inside the data of one record
    damaged = tmp_path / EVENTS.name
    damaged.write_bytes(raw)
    log = tensorboard.read(damaged)
    assert count_points(log) == count_points(tensorboard.read(EVENTS)) - 1
    assert log.notes == ("events.out.tfevents.1 has 1 damaged record, left out.",)


def test_a_damaged_block_of_wandb_costs_that_block(tmp_path):
    raw = bytearray(WANDB.read_bytes())
    raw[5000] ^= 1
    damaged = tmp_path / WANDB.name
    damaged.write_bytes(raw)
    log = wandb_offline.read(damaged)
    assert "damaged at byte" in log.notes[0]
    assert log.series["loss"].time[-1] == 81  # the second block is read
    assert len(log.series["loss"].time) < 82


def test_a_wandb_run_without_its_end_says_so(tmp_path):
    raw = WANDB.read_bytes()
    begun = tmp_path / WANDB.name
    begun.write_bytes(raw[: first_chunks(raw, 200)])
    assert wandb_offline.read(begun).notes == (
        "run-known.wandb has no record of the end: the run goes on, or was killed.",
    )


def test_a_wandb_value_of_an_unknown_form_is_refused(tmp_path):
    """As a later version may store it: the number as a double, without its JSON."""
    number = b"\x31" + np.float64(0.5).tobytes()  # field 6
    item = b"\x12\x04loss" + number
    history = b"\x0a" + bytes([len(item)]) + item
    record = b"\x12" + bytes([len(history)]) + history
    checksum = zlib.crc32(b"\x01" + record).to_bytes(4, "little")
    later = tmp_path / "run-later.wandb"
    later.write_bytes(b":W&B\xe1\xbe\0" + checksum + bytes([len(record), 0, 1]) + record)
    with pytest.raises(InvalidInput, match="values in an unknown form: export the run as CSV"):
        wandb_offline.read(later)


def first_chunks(raw, n):
    """Where the n-th chunk of the first block ends."""
    at = wandb_offline.HEAD
    for _ in range(n):
        at += HEAD + int.from_bytes(raw[at + 4 : at + 6], "little")
    assert at < BLOCK
    return at


def test_a_bad_line_of_mlflow_is_named(tmp_path):
    (home := tmp_path / "run" / "metrics").mkdir(parents=True)
    (home / "loss").write_text("1700000000000 0.5 0\n1700000000001 half 1\n")
    with pytest.raises(InvalidInput, match=r"'1700000000001 half 1' in line 2"):
        mlflow_store.read(tmp_path)
