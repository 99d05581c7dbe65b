"""Which column of a log is the loss, and which is the time."""

import numpy as np
import pytest
from made_logs import LOSS, STEPS, check, csv, written

from saddlescope.errors import InvalidInput
from saddlescope.stages import read_curves
from saddlescope.stages.logs.choice import choose
from saddlescope.stages.logs.log import Log, Series


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        ("val_loss,train_loss", "train_loss"),
        ("test/loss,train/loss,train/acc", "train/loss"),
        ("aux_loss,loss,lr", "loss"),
        ("eval_loss,accuracy", "eval_loss"),
        ("loss_scale,mse", "mse"),
        ("trainLoss,validLoss", "trainLoss"),
        ("Training loss,grad_norm", "Training loss"),
        ("reward", "reward"),
    ],
)
def test_the_choice_by_name(tmp_path, names, chosen):
    row = ",".join(["{1}"] * len(names.split(",")))
    curve = read_curves(written(tmp_path, "a.csv", csv(f"step,{names}", "{0}," + row)))
    assert curve.name == chosen
    assert set(curve.others) == set(names.split(",")) - {chosen}
    assert bool(curve.notes) == (chosen == "eval_loss")


def test_the_training_loss_with_the_most_points_is_taken(tmp_path):
    text = csv("step,train_loss_epoch,train_loss_step", "{0},,{1}") + "300,0.5,\n"
    check(read_curves(written(tmp_path, "a.csv", text)), "CSV", "train_loss_step")


def test_the_runs_of_a_store_are_named(tmp_path):
    """The name of a run says nothing about its series: `test-3` is not a test loss."""
    names = [f"{run}/{metric}" for run in ("test-3", "b") for metric in ("loss", "val/loss")]
    series = {name: Series(STEPS, LOSS) for name in names}
    with pytest.raises(InvalidInput, match=r"'loss' of 2 runs, test-3/loss, b/loss: choose one"):
        choose(Log("a store", series, runs=("test-3", "b")), None, "x.db")
    other = {"test-3/loss": series["test-3/loss"], "b/val/loss": series["b/loss"]}
    assert choose(Log("a store", other, runs=("test-3", "b")), None, "x.db")[0] == "test-3/loss"


def test_no_loss_is_refused_with_the_names(tmp_path):
    path = written(tmp_path, "a.csv", csv("step,acc,reward", "{0},{1},1"))
    with pytest.raises(InvalidInput, match=r"No loss column .* has acc, reward: choose one"):
        read_curves(path)


def test_a_resumed_run_keeps_what_was_written_last(tmp_path):
    steps = [0, 10, 20, 30, 15, 25, 35, 35]
    text = "step,loss\n" + "".join(f"{s},{v}\n" for v, s in enumerate(steps))
    curve = read_curves(written(tmp_path, "a.csv", text))
    assert (curve.time.tolist(), curve.loss.tolist()) == ([0, 10, 15, 25, 35], [0, 1, 4, 5, 7])
    assert "goes back 2 times" in curve.notes[0]
    assert "Later values replace 3 earlier points" in curve.notes[0]


def test_the_newest_first_is_turned_around(tmp_path):
    text = csv().splitlines()
    curve = read_curves(written(tmp_path, "a.csv", "\n".join([text[0], *text[:0:-1]])))
    check(curve, "CSV")
    assert "turned around" in curve.notes[0]


def rows_of_epochs(name, count, epochs=3, each=50):
    numbers = [(i // each + 1, i % each + 1, 100 - i) for i in range(epochs * each)]
    return f"{name},loss\n" + "".join(f"{count.format(e, k)},{v}\n" for e, k, v in numbers)


def test_a_count_within_each_epoch_adds_its_share(tmp_path):
    curve = read_curves(written(tmp_path, "a.csv", rows_of_epochs("epoch,iter", "{},{}")))
    assert curve.time_name == "epoch"
    np.testing.assert_allclose(curve.time, 1 + np.arange(1, 151) / 50)
    said = "iter starts again in each epoch: the time is epoch plus the share done."
    assert curve.notes == (said,)


def test_a_step_is_preferred_to_an_epoch_that_repeats(tmp_path):
    text = "epoch,step,loss\n" + "".join(f"{i // 50},{i},{100 - i}\n" for i in range(100))
    curve = read_curves(written(tmp_path, "a.csv", text))
    assert (len(curve.loss), curve.time_name, curve.notes) == (100, "step", ())


@pytest.mark.parametrize("each", [2, 50])
def test_points_of_an_epoch_that_repeats_are_numbered(tmp_path, each):
    """Also where it stands twice: that is not a resumed run."""
    path = written(tmp_path, "a.csv", rows_of_epochs("epoch", "{}", each=each))
    curve = read_curves(path)
    assert (len(curve.loss), curve.time_name) == (3 * each, "point")
    assert "epoch is the same for many points, which are numbered" in curve.notes[0]
    curve = read_curves(path, time="epoch")
    np.testing.assert_allclose(curve.time, 1 + np.arange(3 * each) / each)
    said = "epoch is the same for many points: they are spread evenly over each epoch."
    assert curve.notes == (said,)


def test_points_without_the_time_asked_for_are_left_out(tmp_path):
    curve = read_curves(written(tmp_path, "a.csv", "loss,minute\n9,\n8,1\n7,2\n"), time="minute")
    assert (curve.time.tolist(), curve.loss.tolist(), curve.time_name) == ([1, 2], [8, 7], "minute")
    assert curve.notes == ("Left out: 1 point without 'minute'.",)


def test_a_rising_curve_is_flipped_and_said(tmp_path):
    curve = read_curves(written(tmp_path, "a.csv", "accuracy\n0.1\n0.5\n0.75\n")).flipped()
    assert (curve.loss.tolist(), curve.name) == ([0.9, 0.5, 0.25], "1 - accuracy")
    assert curve.notes[0].endswith("are those of 1 - accuracy; levels are those of accuracy.")
    curve = read_curves(written(tmp_path, "b.csv", "accuracy\n10\n50\n")).flipped()
    assert (curve.loss.tolist(), curve.name) == ([90, 50], "100 - accuracy")
    curve = read_curves(written(tmp_path, "c.csv", "reward\n-3\n500\n")).flipped()
    assert (curve.loss.tolist(), curve.name) == ([3, -500], "-reward")
