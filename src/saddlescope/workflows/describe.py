"""What a result says of the experiment that made it, stored for its page."""

import shlex
import sys
from datetime import UTC, datetime
from inspect import cleandoc


def describe_experiment(experiment, scale: str) -> dict:
    """Caption and notes from the docstring of its file, whether it trains, how many runs it has."""
    first, _, rest = _docstring(experiment).partition("\n\n")
    return {
        "caption": " ".join(first.split()),
        "notes": rest.strip(),
        "trains": experiment.setting is not None,
        "planned_runs": len(experiment.plan(getattr(experiment, scale)).points),
    }


def describe_run(key: str, scale: str, axes) -> dict:
    """The command that makes a result, and the time in UTC."""
    words = ["saddlescope", "run", key, *["--quick"] * (scale == "quick")]
    for name, values in axes.items():
        words += ["--axis", f"{name}={','.join(map(_written, values))}"]
    return {"command": shlex.join(words), "date": now()}


def now() -> str:
    """The time in UTC, as results store it."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def _docstring(experiment) -> str:
    """Of the module that holds the experiment, be it ours or a file of the user's own."""
    for module in list(sys.modules.values()):
        if getattr(module, "__dict__", {}).get("experiment") is experiment:
            return cleandoc(module.__doc__ or "")
    return ""


def _written(value) -> str:
    """As `--axis` reads it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
