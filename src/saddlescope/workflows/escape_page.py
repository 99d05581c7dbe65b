"""The page of `saddlescope escape`: figure and facts into one file."""

import shlex
import sys
from pathlib import Path

from saddlescope.figures.escape import figure_of_directions
from saddlescope.numerics import versions
from saddlescope.report.escape import escape_page
from saddlescope.workflows.run_experiment import now
from saddlescope.workflows.search_escape import Escape


def page_of_escape(found: Escape, file: Path) -> str:
    """The page as text."""
    facts = found.as_json() | {"said_of_time": found.said_of_time, "versions": versions()}
    command = shlex.join(["saddlescope", *sys.argv[1:]])
    return escape_page(facts, figure_of_directions(found.found, "png"), file.name, command, now())
