"""The page of `saddlescope meanfield`: figure and facts into one file."""

import shlex
import sys
import tempfile
from pathlib import Path

from saddlescope.numerics import versions
from saddlescope.report.meanfield import limit_page
from saddlescope.workflows.follow_limit import LimitAnswer
from saddlescope.workflows.run_experiment import now


def page_of_limit(found: LimitAnswer) -> str:
    """The page as text."""
    facts = found.as_json() | {"versions": versions()}
    command = shlex.join(["saddlescope", *sys.argv[1:]])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "figure.png"
        found.draw(path)
        return limit_page(facts, path.read_bytes(), Path(found.name).name, command, now())
