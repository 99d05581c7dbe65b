"""Logs of other tools: every point as it was logged."""

import shutil
import sqlite3

import numpy as np
import pytest
from known_series import FIRST, RESUMED, accuracy, loss, resumed_loss
from tool_logs import EVENTS, LOGS, WANDB, assert_series, record_ranges, unpack_databases

from saddlescope.stages.logs import mlflow_store, tensorboard, trackio_store, wandb_offline
from saddlescope.stages.logs.leveldb_log import BLOCK

READERS = (tensorboard, wandb_offline, mlflow_store, trackio_store)
NOT_FINITE = [np.nan, np.inf]
RESUME_STEPS = [*FIRST, *RESUMED]
RESUME_LOSS = [*map(loss, FIRST), *map(resumed_loss, RESUMED)]


@pytest.fixture
def databases(tmp_path):
    return unpack_databases(tmp_path)


def reader_of(path):
    (reader,) = (reader for reader in READERS if reader.fits(path))
    return reader


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


def test_100_000_scalars_are_all_read(tmp_path):
    """As many as need several batches of checksums; `benchmarks/logs.py` has the time."""
    raw = EVENTS.read_bytes()
    at = raw.rindex(b"train/loss")
    begin, end = next((b, e) for b, e in record_ranges(raw) if b <= at < e)
    many = tmp_path / "events.out.tfevents.1"
    many.write_bytes(raw[begin:end] * 100_000)
    series = tensorboard.read(many).series["train/loss"]
    assert_series(series, [79] * 100_000, [loss(79)] * 100_000, np.float32)
