"""What a result stores for its page: the experiment's own words, and the command that makes it again."""

import shlex
from datetime import UTC, datetime, timedelta

import pytest

from saddlescope.sweeps.axes import parse_axes
from saddlescope.workflows.find import find_experiment
from saddlescope.workflows.judge import describe_experiment
from saddlescope.workflows.run_experiment import describe_run


def test_caption_and_notes_are_the_docstring_of_the_experiment_s_file():
    found = describe_experiment(find_experiment("simplicity.fig1b"))
    assert found["caption"].startswith("Simplicity paper, Fig. 1B: a two-layer linear network")
    assert "\n" not in found["caption"]
    assert found["notes"].startswith("W* is not given in the paper")
    assert found["trains"] is True


def test_an_experiment_of_no_module_has_no_caption():
    assert describe_experiment(CopyOf(find_experiment("simplicity.fig1d")))["caption"] == ""


class CopyOf:
    def __init__(self, experiment):
        self.setting, self.drawn = experiment.setting, ""


@pytest.mark.parametrize(
    "axes", [{}, {"seed": (0, 1, 2), "lr": (0.1, 1e-05)}, {"target": ("a b", "c'd"), "on": (True,)}]
)
def test_the_command_gives_the_same_axes_again(axes):
    words = shlex.split(describe_run("simplicity.fig1b", "quick", axes)["command"])
    assert words[:4] == ["saddlescope", "run", "simplicity.fig1b", "--quick"]
    assert words[4::2] == ["--axis"] * len(axes)
    assert parse_axes(words[5::2]) == axes


def test_the_date_is_now():
    date = describe_run("a.b", "full", {})["date"]
    found = datetime.strptime(date, "%Y-%m-%d %H:%M UTC").replace(tzinfo=UTC)
    assert timedelta(0) <= datetime.now(UTC) - found < timedelta(minutes=2)
