"""A sweep from Python, misused: one sentence, before the first run where it can be known; and calls that try again."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from cases import linear_setting, minibatch_setting
from sweep_jobs import plan

from saddlescope.errors import InvalidInput
from saddlescope.observables import FullLoss
from saddlescope.sweeps import Folder, grid, run_plan, sweep
from saddlescope.sweeps.scheduler import Scheduler
from saddlescope.training import every


def setting(seed):
    return linear_setting(seed=seed, steps=10)


def test_a_folder_that_workers_do_not_see_is_refused(tmp_path):
    class Elsewhere(ThreadPoolExecutor):
        def submit(self, fn, folder, *args):
            return super().submit(fn, Folder(tmp_path / "another machine"), *args)

    with Elsewhere(1) as executor:
        tally = Scheduler(plan(2), Folder(tmp_path / "out"), executor, quiet=True).loop()
    assert "does not see the folder" in tally.stopped


def test_a_bad_point_is_refused_before_the_first_run(tmp_path):
    def some(seed, lr):
        from saddlescope.optimisers import GradientDescent

        return linear_setting(seed=seed, optimiser=GradientDescent(lr))

    with pytest.raises(InvalidInput, match="Nothing can be run at lr = -1, seed = 0"):
        sweep(some, grid(lr=(0.1, -1), seed=range(2)), folder=tmp_path)
    assert not (tmp_path / "runs").exists()


def test_lambdas_run_but_are_not_kept(tmp_path):
    from saddlescope.tasks import FunctionTask

    def curve(seed):
        return minibatch_setting(task=FunctionTask(lambda x: x, samples=16), epochs=2, batch=4, seed=seed)

    assert sweep(curve, grid(seed=range(2)), quiet=True).sizes["run"] == 2
    with pytest.raises(InvalidInput, match="cannot be stored: name the function"):
        sweep(curve, grid(seed=range(2)), folder=tmp_path)


def test_failures_of_a_sweep_in_python_are_refused_with_the_first_reason():
    with pytest.raises(InvalidInput, match=r"1 of 3 runs failed; the first, at seed = 1: ZeroDivisionError"):
        run_plan(plan(3, {1: "raise"}), quiet=True)


def test_an_axis_that_cannot_be_collected_is_refused_before_the_first_run(tmp_path):
    for name in ("loss", "full_loss", "finite", "saved", "two words"):
        with pytest.raises(InvalidInput, match="cannot be an axis name"):
            sweep(lambda **p: setting(0), [{name: 1}], FullLoss(), every(5, 10), folder=tmp_path)
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: sweep(setting, []), "list of points is empty"),
        (lambda: sweep(setting, grid(seed=(0,)), "FullLoss"), "takes observables such as"),
        (lambda: sweep(lambda seed: 3, grid(seed=(0,))), "makes a Setting"),
        (lambda: sweep(setting, grid(seed=(0,)), workers="2"), "positive number of processes, got '2'"),
        (lambda: grid(init="uniform"), "needs a list of values"),
        (lambda: grid(lr=0.1), "needs a list of values"),
    ],
)
def test_misuse_in_python_is_one_sentence(call, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        call()


def test_a_call_that_needs_every_run_tries_what_failed_before_again(tmp_path):
    """A failure that was mended, such as a bug in an observable, must not be remembered for ever."""
    with pytest.raises(InvalidInput, match="1 of 3 runs failed"):
        run_plan(plan(3, {1: "raise"}), tmp_path, quiet=True)
    folder, names = Folder(tmp_path), plan(3).names
    folder.record_failure(names[1], {"seed": 1}, "an old reason")
    found = run_plan(plan(3), tmp_path, quiet=True)
    assert [float(run.value) for run in found] == [0, 1, 2]
    assert names[1] not in folder.failures()
