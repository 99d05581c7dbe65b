"""The command line: `main`. It imports the commands, so that Ctrl-C is caught from the start."""

from saddlescope.cli.entry import main

__all__ = ["main"]
