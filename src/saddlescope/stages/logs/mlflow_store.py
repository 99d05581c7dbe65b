"""What mlflow stores: `mlflow.db`, or text files `mlruns/<experiment>/<run>/metrics/<name>`."""

import re
from pathlib import Path

import numpy as np

from saddlescope.errors import InvalidInput
from saddlescope.stages.logs.log import Log, require_begun
from saddlescope.stages.logs.many_runs import distinct_names, log_of_parts
from saddlescope.stages.logs.sqlite import has_columns, opened

KIND = "mlflow store"
COLUMNS = {"key", "value", "timestamp", "run_uuid", "step", "is_nan"}
LARGEST = float(np.finfo(float).max)  # how mlflow stores an infinity in a database
DATABASE = "mlflow.db"


def fits(path: Path) -> bool:
    """Whether this is mlflow's database, a folder that holds it, or a file or folder of metrics."""
    path = Path(path)
    database = path / DATABASE if path.is_dir() else path
    return has_columns(database, "metrics", COLUMNS) or bool(_metric_files(path))


def read(path: Path) -> Log:
    """All metrics of all runs that are not deleted; of several runs, under `run/metric`."""
    path = Path(path)
    database = path / DATABASE if path.is_dir() else path
    stored = has_columns(database, "metrics", COLUMNS)
    parts = _read_database(database) if stored else _read_folder(path)
    sentence = f"{path} holds no metric: give a store with a run that logged a loss."
    require_begun(bool(parts), sentence)
    return log_of_parts(KIND, parts)


# ---- the database ----


def _read_database(path):
    with opened(path) as database:
        columns = {row[1] for row in database.execute("PRAGMA table_info(runs)")}
        name = "name" if "name" in columns else "NULL"
        runs = f"SELECT run_uuid, {name} FROM runs WHERE lifecycle_stage = 'active'"
        names = distinct_names({key: given or "" for key, given in database.execute(runs)})
        # The order of writing: stamps alone are equal for values of the same millisecond.
        metrics = "SELECT run_uuid, key, step, value, is_nan FROM metrics ORDER BY timestamp, rowid"
        rows = database.execute(metrics).fetchall()
    found: dict[tuple[str, str], list] = {}
    for run, metric, step, value, is_nan in rows:
        if run in names:
            found.setdefault((names[run], metric), []).append((step, _number(value, is_nan)))
    return [(run, metric, *zip(*points, strict=True)) for (run, metric), points in found.items()]


def _number(value, is_nan):
    """As it was logged."""
    return np.nan if is_nan else {LARGEST: np.inf, -LARGEST: -np.inf}.get(value, value)


# ---- text files ----


def _metric_files(path):
    """(folder of the run, name of the metric, file); a name may have slashes, which are folders."""
    homes = [home for home in _metric_folders(path) if home.parent.parent.name != "models"]
    files = [(home, file) for home in homes for file in sorted(home.rglob("*")) if _is_metric(file)]
    asked = [(home, file) for home, file in files if path.is_dir() or file == path]
    return [(home.parent, file.relative_to(home).as_posix(), file) for home, file in asked]


def _metric_folders(path):
    """The folder `metrics` that this path is or is in, or those below it, of runs or of a store."""
    above = [home for home in (path, *path.parents) if home.name == "metrics"]
    if above or not path.is_dir():
        return above[:1]
    depths = ("metrics", "*/metrics", "*/*/metrics", "mlruns/*/*/metrics")
    return [home for depth in depths for home in sorted(path.glob(depth)) if home.is_dir()]


def _is_metric(file):
    """By its first line: a stamp in milliseconds, a number, and a step."""
    if not file.is_file():
        return False
    with open(file, "rb") as opened_file:
        return re.match(rb"\d{10,} [-+.\w]+( -?\d+)?( |\r?\n|$)", opened_file.read(80)) is not None


def _read_folder(folder):
    files = _metric_files(folder)
    names = distinct_names({str(run): _run_name(run) for run, _, _ in files})
    active = [(run, metric, file) for run, metric, file in files if not _is_deleted(run)]
    return [(names[str(run)], metric, *_read_lines(file)) for run, metric, file in active]


def _run_name(run):
    return _from_meta(run, "run_name") or run.name


def _is_deleted(run):
    return _from_meta(run, "lifecycle_stage") == "deleted"


def _from_meta(run, key):
    """One plain entry of a run's meta.yaml."""
    meta = run / "meta.yaml"
    text = meta.read_text(encoding="utf-8", errors="replace") if meta.is_file() else ""
    found = re.search(rf"^{key}: *(.*)$", text, re.MULTILINE)
    return found[1].strip("'\" ") if found else ""


def _read_lines(file):
    """Steps and values; lines of the oldest versions have no step, and count from 0."""
    steps, values = [], []
    for n, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines()):
        cells = line.split(" ")
        try:
            values.append(float(cells[1]))
            steps.append(int(cells[2]) if len(cells) > 2 else n)
        except (IndexError, ValueError):
            bad = f"{line[:60]!r} in line {n + 1}"
            sentence = f"{file} has {bad}, not a time, a value and a step: fix that line."
            raise InvalidInput(sentence) from None
    return steps, values
