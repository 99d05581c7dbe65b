"""Sweep files: what they say is what is run; what they cannot say is refused with the nearest that they can."""

import pytest

from saddlescope.errors import InvalidInput
from saddlescope.nets import low_rank
from saddlescope.observables import ChannelPartials, TestError
from saddlescope.optimisers import GradientDescent, HalveOnStagnation, LearningRateBelow
from saddlescope.papers.valleys._protocol import valleys
from saddlescope.setting import Setting
from saddlescope.sweeps import MeasureJob
from saddlescope.tasks import cosine_sum
from saddlescope.training import every_epoch, log_spaced_epochs, on_cut
from saddlescope.workflows.sweep_file import read_sweep, sweep_name

PROTOCOL = """
title = "small"
protocol = "valleys"
where = "bs <= N"
observe = ["TestError", {class = "ChannelPartials", points = 11}]
[axes]
factor = 1
N = "8,32"
bs = [4, 16]
L = 1
rank = 3
width = 32
[zip]
lr = "1e-2,1e-3"
epochs = [50, 500]
[save]
every = 10
log = 5
after_cut = 7
until = 400
"""
SETTING = """
[setting]
task = {class = "cosine_sum", factor = 1, samples = 32}
net = {class = "low_rank", rank = 3, depth = 1, width = 32}
optimiser = {class = "GradientDescent", lr = 0.01, clip = 1.0}
schedule = {class = "HalveOnStagnation"}
stop = [{class = "LearningRateBelow", level = 1e-4}]
batch = 4
epochs = 200
[axes]
"optimiser.lr" = "1e-2,1e-3"
"net.rank" = "2..3"
seed = "0..3"
"""


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "a_sweep.toml"
        path.write_text(text)
        return path

    return write


def test_a_protocol_with_axes_zip_filter_observables_and_save(file):
    plan = read_sweep(file(PROTOCOL))
    assert plan.title == "small"
    expected = [
        {"lr": lr, "epochs": epochs, "factor": 1, "N": N, "bs": bs, "L": 1, "rank": 3, "width": 32}
        for lr, epochs in ((0.01, 50), (0.001, 500)) for N in (8, 32) for bs in (4, 16) if bs <= N
    ]  # fmt: skip
    assert list(plan.points) == expected
    for point in expected:
        job, end = plan.job(point), min(400, point["epochs"])
        assert job.setting.hash == valleys(**point).hash
        assert job.observe == (TestError(), ChannelPartials(points=11))
        assert job.save_at == every_epoch(10, end) | log_spaced_epochs(5, end) | on_cut(after=7)


def test_a_setting_written_out(file):
    plan = read_sweep(file(SETTING), where="seed < 2")
    assert len(plan.points) == 8
    point = {"optimiser.lr": 0.001, "net.rank": 2, "seed": 1}
    assert point in plan.points
    by_hand = Setting(
        cosine_sum(1, 32), low_rank(2, 1, 32), GradientDescent(0.001, clip=1.0), schedule=HalveOnStagnation(),
        stop=LearningRateBelow(1e-4), batch=4, epochs=200, seed=1,
    )  # fmt: skip
    assert plan.job(point).setting.hash == by_hand.hash


def test_experiments_and_lists(file):
    plan = read_sweep(file('experiment = "simplicity.prop5"\n[axes]\nseed = "0..2"\ndimension = "2,3"\n'))
    job = plan.job(plan.points[0])
    assert isinstance(job, MeasureJob)
    assert dict(job.point) == {"seed": 0, "dimension": 2}
    listed = read_sweep(file(PROTOCOL.split("[axes]")[0] + """
[[points]]
factor = 1
N = 8
bs = 4
L = 1
[[points]]
factor = 2
N = 32
bs = 8
L = 2
[axes]
seed = "0..1"
"""))  # fmt: skip
    assert [(p["factor"], p["seed"]) for p in listed.points] == [(1, 0), (1, 1), (2, 0), (2, 1)]


def test_axes_of_the_command_line_replace_those_of_the_file(file):
    plan = read_sweep(file(SETTING), {"seed": (7,), "batch": (2, 4)})
    assert len(plan.points) == 8
    assert plan.job(plan.points[0]).setting.batch == 2


BAD = {
    "not TOML": ("a = = 1", "is not a TOML file"),
    "binary": ("\0\1", "is not a TOML file"),
    "nothing": ("", "must say what is run"),
    "two bases": ('protocol = "valleys"\nexperiment = "x"', "one of experiment, protocol, setting"),
    "unknown key": ('protocl = "valleys"', r"no key 'protocl'.*Did you mean 'protocol'\?"),
    "unknown protocol": ('protocol = "valley"', "The protocols are valleys; got 'valley'"),
    "unknown axis": (PROTOCOL.replace("rank", "rnk"), r"no axis 'rnk'.*Did you mean 'rank'\?"),
    "needed axis": (PROTOCOL.replace("factor = 1\n", ""), "needs a value for factor"),
    "unknown observable": (PROTOCOL.replace("TestError", "TestErrr"), r"'TestErrr'. Did you mean 'TestError'\?"),
    "an observable that is none": (PROTOCOL.replace("TestError", "ReLU"), "no observable is called 'ReLU'"),
    "unknown field of it": (PROTOCOL.replace("points", "pints"), r"no field 'pints'.*Did you mean 'points'\?"),
    "unknown save": (PROTOCOL.replace("every", "evry"), r"no key 'evry'.*Did you mean 'every'\?"),
    "bad save": (PROTOCOL.replace("every = 10", "every = -1"), "a whole number of steps or epochs, got -1"),
    "text for a number": (PROTOCOL.replace("every = 10", 'every = "ten"'), "a whole number of .*, got 'ten'"),
    "unequal zip": (PROTOCOL.replace("[50, 500]", "[50]"), "equally long"),
    "empty filter": (PROTOCOL.replace("bs <= N", "bs > 99"), "leaves nothing to run"),
    "filter of a number": (PROTOCOL.replace('"bs <= N"', "3"), "`where` of .* is a text"),
    "unknown class": (SETTING.replace("HalveOnStagnation", "HalfOnStagnation"), "Did you mean 'HalveOnStagnation'"),
    "class of one's own": (SETTING.replace("HalveOnStagnation", "MySchedule"), r"--import FILE.*saddlescope\.sweep\("),
    "own experiment": ('experiment = "my_experiment.py"', "is known after `--import FILE`"),
    "foreign class": (SETTING.replace("HalveOnStagnation", "os.system"), "none is called 'os.system'"),
    "unknown field": (SETTING.replace("clip", "clap"), r"no field 'clap'.*Did you mean 'clip'\?"),
    "unknown path": (SETTING.replace('"net.rank"', '"nte.rank"'), r"no table 'nte'.*Did you mean 'net'\?"),
    "a setting that cannot be": (SETTING.replace("batch = 4", "batch = 64"), "between 1 and the task's 32 samples"),
    "a table for an axis": (PROTOCOL.replace("rank = 3", "rank = {a = 1}"), "must be numbers or names"),
    "unknown experiment": ('experiment = "simplicity.fig1z"', "is not one experiment. Did you mean"),
    "experiment with observables": ('experiment = "simplicity.fig1d"\nobserve = []', "says itself"),
    "a whole paper": ('experiment = "simplicity"', "is not one experiment"),
    "axes that are no table": (PROTOCOL.split("[axes]")[0] + "axes = 3", "must be a table of axes"),
    "observe that is no list": (PROTOCOL.replace('["TestError", {class = "ChannelPartials", points = 11}]', "3"),
                                "is a list of observables"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_a_file_cannot_say_is_refused_in_one_sentence(file, name):
    text, sentence = BAD[name]
    with pytest.raises(InvalidInput, match=sentence) as caught:
        read_sweep(file(text)).names_and_costs  # noqa: B018
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/b", "..", ".hidden", "", "a\\u0000b", "x" * 200])
def test_a_name_cannot_leave_the_output_folder(file, name):
    with pytest.raises(InvalidInput, match="one word"):
        sweep_name(file(f'name = "{name}"\n'))


def test_the_folder_is_named_by_the_file(file, tmp_path):
    assert sweep_name(file(SETTING)) == "a_sweep"
    assert sweep_name(file('name = "b.2"\n' + SETTING)) == "b.2"
    with pytest.raises(InvalidInput, match="There is no sweep file"):
        read_sweep(tmp_path / "nothing.toml")
