"""The command line: `main`. The commands are imported when one is run, so that Ctrl-C is heard from the beginning."""

from saddlescope.cli.entry import main

__all__ = ["main"]
