"""The command line: `app` and `main`, and the commands by what they are about."""

from saddlescope.cli import experiments, train, stages, sweeps, data  # isort: skip  # the order of `--help`
from saddlescope.cli.app import app, main

__all__ = ["app", "data", "experiments", "main", "stages", "sweeps", "train"]
