"""trackio's database: one file per project, one row per logged step with its metrics as JSON."""

import json
from pathlib import Path

from saddlescope.errors import require
from saddlescope.stages.logs.log import Log, require_begun
from saddlescope.stages.logs.many_runs import distinct_names, log_of_parts
from saddlescope.stages.logs.sqlite import has_columns, opened

KIND = "trackio database"
COLUMNS = {"timestamp", "run_name", "step", "metrics"}
NOT_FINITE = ("NaN", "Infinity", "-Infinity")  # trackio writes them as texts


def fits(path: Path) -> bool:
    """Whether this is the database of a project, or a folder that holds one."""
    path = Path(path)
    return bool(_databases(path)) if path.is_dir() else has_columns(path, "metrics", COLUMNS)


def read(path: Path) -> Log:
    """All numbers of all runs of a project; of several runs, under `run/metric`."""
    path = Path(path)
    if path.is_dir():
        projects = _databases(path)
        names = ", ".join(project.name for project in projects)
        require(len(projects) == 1, f"{path} holds several projects: choose one of {names}.")
        path = projects[0]
    found = _points(path).items()
    parts = [(run, metric, *zip(*points, strict=True)) for (run, metric), points in found]
    sentence = f"{path} holds no number that was logged: give a project with a loss."
    require_begun(bool(parts), sentence)
    return log_of_parts(KIND, parts)


def _databases(folder):
    return [file for file in sorted(folder.glob("*.db")) if has_columns(file, "metrics", COLUMNS)]


def _points(path):
    rows = _rows(path)
    names = distinct_names({run: name for run, name, _, _ in rows})
    found: dict[tuple[str, str], list] = {}
    for run, _, step, text in rows:
        for metric, value in _numbers(_decoded(text, path)):
            found.setdefault((names[run], metric), []).append((step, value))
    return found


def _rows(path):
    """Identity and name of the run, step and JSON, in the order of writing.

    Old versions have no identity.
    """
    with opened(path) as database:
        columns = {row[1] for row in database.execute("PRAGMA table_info(metrics)")}
        run = "run_id" if "run_id" in columns else "run_name"
        asked = f"SELECT {run}, run_name, step, metrics FROM metrics ORDER BY rowid"
        return database.execute(asked).fetchall()


def _decoded(text, path):
    try:
        metrics = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        metrics = None
    named = isinstance(metrics, dict)
    require(named, f"{path} has metrics that cannot be read, {text!r:.60}: give a whole copy.")
    return metrics


def _numbers(metrics, prefix=""):
    """(name, number) of all that are numbers; nested names are joined by dots."""
    for name, value in metrics.items():
        if isinstance(value, dict) and "_type" not in value:
            yield from _numbers(value, f"{prefix}{name}.")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield f"{prefix}{name}", value
        elif value in NOT_FINITE:
            yield f"{prefix}{name}", float(value)
