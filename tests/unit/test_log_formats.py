"""Logs of other tools: every point as it was logged, one sentence for a damaged or foreign file."""

import gzip
import shutil
import sqlite3
import time
import zlib
from pathlib import Path

import numpy as np
import pytest
from known_series import FIRST, RESUMED, accuracy, loss, resumed_loss

from saddlescope.errors import InvalidInput
from saddlescope.stages.logs import mlflow_store, tensorboard, trackio_store, wandb_offline
from saddlescope.stages.logs.leveldb_log import BLOCK, HEAD

READERS = (tensorboard, wandb_offline, mlflow_store, trackio_store)
LOGS = Path(__file__).parents[1] / "logs"
EVENTS = LOGS / "tensorboard" / "events.out.tfevents.1"
WANDB = LOGS / "wandb" / "run-known.wandb"
NOT_FINITE = [np.nan, np.inf]


@pytest.fixture
def databases(tmp_path):
    """The stored databases, not compressed."""
    for name in ("mlflow/mlflow.db", "trackio/known.db"):
        raw = gzip.decompress((LOGS / f"{name}.gz").read_bytes())
        (tmp_path / Path(name).name).write_bytes(raw)
    return tmp_path


def assert_series(series, steps, values, kind=float):
    np.testing.assert_array_equal(series.time, list(steps))
    np.testing.assert_array_equal(series.values, np.array(list(values), kind).astype(float))


def reader_of(path):
    (reader,) = (reader for reader in READERS if reader.fits(path))
    return reader


RESUME_STEPS = [*FIRST, *RESUMED]
RESUME_LOSS = [*map(loss, FIRST), *map(resumed_loss, RESUMED)]


# ---- every point of what the tools wrote ----


def test_tensorboard_folder_with_a_resume():
    log = reader_of(LOGS / "tensorboard").read(LOGS / "tensorboard")
    single = ("train/loss", "loss_as_tensor", "loss_as_bytes")
    assert set(log.series) == {*single, "loss_as_double", "step_as_bytes"}
    assert_series(log.series["step_as_bytes"], RESUME_STEPS, RESUME_STEPS)
    for name in single:
        assert_series(log.series[name], RESUME_STEPS, RESUME_LOSS, np.float32)
    assert_series(log.series["loss_as_double"], RESUME_STEPS, RESUME_LOSS)
    assert log.notes == ()


def test_wandb_offline_run_over_two_blocks():
    assert WANDB.stat().st_size > BLOCK
    log = reader_of(WANDB).read(WANDB)
    assert set(log.series) == {"loss", "count", "val.accuracy"}
    assert_series(log.series["loss"], range(82), [*map(loss, FIRST), *NOT_FINITE])
    assert_series(log.series["count"], FIRST, FIRST)
    assert_series(log.series["val.accuracy"], range(0, 80, 10), map(accuracy, range(0, 80, 10)))
    assert log.notes == ()


RUN = LOGS / "mlflow" / "mlruns" / "0" / "known"


@pytest.mark.parametrize("path", ["mlflow.db", RUN, RUN / "metrics", *RUN.parents[:3]], ids=str)
def test_mlflow_with_a_resume(databases, path):
    path = databases / path  # of two absolute paths, the second
    log = reader_of(path).read(path)
    assert set(log.series) == {"train/loss", "accuracy"}
    assert_series(log.series["train/loss"], [*RESUME_STEPS, 120, 121], [*RESUME_LOSS, *NOT_FINITE])
    assert_series(log.series["accuracy"], FIRST, map(accuracy, FIRST))


def test_one_metric_of_mlflow():
    path = RUN / "metrics" / "train" / "loss"
    log = reader_of(path).read(path)
    assert set(log.series) == {"train/loss"}
    assert_series(log.series["train/loss"], [*RESUME_STEPS, 120, 121], [*RESUME_LOSS, *NOT_FINITE])


def test_trackio_with_two_runs(databases):
    log = reader_of(databases / "known.db").read(databases / "known.db")
    metrics = ("loss", "val.accuracy")
    assert set(log.series) == {f"{run}/{m}" for run in ("first", "second") for m in metrics}
    assert_series(log.series["first/loss"], FIRST, map(loss, FIRST))
    assert_series(log.series["second/loss"], range(82), [*map(resumed_loss, FIRST), *NOT_FINITE])
    assert_series(log.series["first/val.accuracy"], FIRST, map(accuracy, FIRST))


def test_folders_with_a_database(databases, tmp_path):
    (alone := tmp_path / "alone").mkdir()
    (databases / "known.db").rename(alone / "known.db")
    assert reader_of(databases) is mlflow_store
    assert reader_of(alone) is trackio_store
    assert len(trackio_store.read(alone).series) == 4
    assert len(mlflow_store.read(databases).series) == 2


# ---- names and order ----


def test_event_files_are_joined_by_their_time_stamp_not_by_name(tmp_path):
    for number, stamp in ((1, 9), (2, 10)):
        target = tmp_path / f"events.out.tfevents.{stamp}.host"
        shutil.copy(EVENTS.with_suffix(f".{number}"), target)
    series = tensorboard.read(tmp_path).series["train/loss"]
    assert_series(series, RESUME_STEPS, RESUME_LOSS, np.float32)


def test_several_runs_have_their_folder_in_front(tmp_path):
    for run in ("a", "b"):
        (tmp_path / run).mkdir()
        shutil.copy(EVENTS, tmp_path / run)
        shutil.copy(WANDB, tmp_path / run / f"run-{run}.wandb")
    assert {"a/train/loss", "b/train/loss"} < set(tensorboard.read(tmp_path).series)
    assert {"a/loss", "b/loss"} < set(wandb_offline.read(tmp_path).series)


def test_runs_of_one_name_are_told_apart_and_deleted_ones_left_out(databases):
    path = databases / "mlflow.db"
    with sqlite3.connect(path) as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(runs)")]
        for run, stage in (("twin", "active"), ("gone", "deleted")):
            own = {"run_uuid": f"'{run}'", "lifecycle_stage": f"'{stage}'"}
            values = ", ".join(own.get(column, column) for column in columns)
            database.execute(f"INSERT INTO runs SELECT {values} FROM runs LIMIT 1")
            database.execute(f"INSERT INTO metrics VALUES ('train/loss', 0.5, 1, '{run}', 7, 0)")
    database.close()
    names = set(mlflow_store.read(path).series)
    assert "known twin/train/loss" in names
    assert len(names) == 3
    assert not [name for name in names if "gone" in name]


# ---- speed ----


def test_100_000_scalars_take_less_than_a_second(tmp_path):
    raw = EVENTS.read_bytes()
    at = raw.rindex(b"train/loss")
    begin, end = next((b, e) for b, e in record_ranges(raw) if b <= at < e)
    many = tmp_path / "events.out.tfevents.1"
    many.write_bytes(raw[begin:end] * 100_000)
    start = time.process_time()
    series = tensorboard.read(many).series["train/loss"]
    assert time.process_time() - start < 1
    assert_series(series, [79] * 100_000, [loss(79)] * 100_000, np.float32)


def record_ranges(raw):
    """Where each record of an event file begins and ends."""
    at = 0
    while at < len(raw):
        length = int.from_bytes(raw[at : at + 8], "little")
        yield at, at + 16 + length
        at += 16 + length


# ---- damage ----


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


# ---- databases: never written, read while others write ----


PAIRS = [(mlflow_store, "mlflow.db"), (trackio_store, "known.db")]
STORES = pytest.mark.parametrize(("reader", "name"), PAIRS, ids=["mlflow", "trackio"])


@STORES
def test_reading_a_database_leaves_everything_as_it_was(databases, reader, name):
    before = {path.name: path.read_bytes() for path in databases.iterdir()}
    assert reader.fits(databases / name)
    reader.read(databases / name)
    assert {path.name: path.read_bytes() for path in databases.iterdir()} == before


def test_a_database_that_is_being_written_is_read(databases):
    path = databases / "known.db"
    writer = sqlite3.connect(path)
    columns = "run_id, timestamp, run_name, step, metrics"
    insert = f"INSERT INTO metrics ({columns}) VALUES ('x', 'now', 'third', ?, ?)"
    writer.execute(insert, (0, '{"loss": 0.5}'))
    writer.commit()
    writer.execute(insert, (1, '{"loss": 0.25}'))  # not committed
    assert Path(f"{path}-wal").exists()
    assert_series(trackio_store.read(path).series["third/loss"], [0], [0.5])
    writer.close()


def test_a_locked_database_is_one_sentence(databases, monkeypatch):
    monkeypatch.setattr("saddlescope.stages.logs.sqlite.PATIENCE", 0.01)
    writer = sqlite3.connect(databases / "mlflow.db")
    writer.execute("BEGIN EXCLUSIVE")
    for call in (mlflow_store.fits, mlflow_store.read):
        with pytest.raises(InvalidInput, match="is locked by a program that writes it: try again"):
            call(databases / "mlflow.db")
    writer.close()


@STORES
def test_a_damaged_database_is_one_sentence(databases, reader, name):
    path = databases / name
    raw = path.read_bytes()
    for size in (50, 5000, len(raw) // 2):
        path.write_bytes(raw[:size])
        with pytest.raises(InvalidInput, match=r"^[^\n]*\.$"):
            reader.read(path)


def test_a_damaged_schema_is_one_short_sentence(databases):
    path = databases / "mlflow.db"
    path.write_bytes(path.read_bytes().replace(b"entry_point_name", b"`ntry_point_name"))
    with pytest.raises(InvalidInput, match=r"^[^\n]{20,400}: give a whole copy\.$"):
        mlflow_store.read(path)


def test_other_files_and_databases_are_not_ours(databases):
    with sqlite3.connect(other := databases / "other.db") as database:
        database.execute("CREATE TABLE metrics (a, b)")
    database.close()
    texts = (LOGS / "lightning", LOGS / "transformers", Path(__file__))
    for path in (other, databases / "missing", *texts):
        assert not [reader for reader in READERS if reader.fits(path)]
