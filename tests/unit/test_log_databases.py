"""Databases of other tools: never written, read while others write."""

import sqlite3
from pathlib import Path

import pytest
from tool_logs import LOGS, assert_series, unpack_databases

from saddlescope.errors import InvalidInput
from saddlescope.stages.logs import mlflow_store, tensorboard, trackio_store, wandb_offline

READERS = (tensorboard, wandb_offline, mlflow_store, trackio_store)


@pytest.fixture
def databases(tmp_path):
    return unpack_databases(tmp_path)


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
