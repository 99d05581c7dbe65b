"""Logs as text, as their tools write them: every value is read, and what is unusual is said."""

import json

import numpy as np
import pytest
from made_logs import LOSS, PAIRS, STEPS, check, csv, json_lines, written

from saddlescope.errors import InvalidInput
from saddlescope.stages import read_curves
from saddlescope.stages.logs import csv_cells, csv_pandas, read_log

# ---- CSV ----


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_encodings_are_read_and_said(tmp_path, encoding):
    path = written(tmp_path, "a.csv", csv("step,loss,größe", "{},{},1").encode(encoding))
    curve = read_curves(path)
    check(curve, "CSV")
    assert curve.others == ("größe",)
    said = {"utf-16": "UTF-16", "latin-1": "Latin-1"}.get(encoding)
    assert len(curve.notes) == bool(said)
    assert (said or "") in "".join(curve.notes)


def test_decimal_commas(tmp_path):
    text = csv("step;loss", "{};{}").replace(".", ",")
    curve = read_curves(written(tmp_path, "a.csv", text))
    check(curve, "CSV")
    assert curve.notes == ("Numbers are written with decimal commas.",)
    curve = read_curves(written(tmp_path, "b.csv", "0;3,5\n1;2,5\n2;1,5\n"))
    assert (curve.time.tolist(), curve.loss.tolist()) == ([0, 1, 2], [3.5, 2.5, 1.5])


def test_ragged_lines_are_said(tmp_path):
    text = csv("step,loss,lr", "{},{},0.1") + "300,0.5\n"
    curve = read_curves(written(tmp_path, "a.csv", text))
    assert curve.loss[-1] == 0.5
    assert "Line 32 has too few cells, 2 and not 3" in curve.notes[0]
    with pytest.raises(InvalidInput, match=r"Line 3 of .*b\.csv has 3 cells, not 2"):
        read_curves(written(tmp_path, "b.csv", "step,loss\n0,1\n1,0,5\n"))


def test_a_header_that_comes_again_is_a_resume(tmp_path):
    text = "step,loss\n0,9\n1,8\n2,7\nstep,loss\n1,5\n2,4\n3,3\n"
    curve = read_curves(written(tmp_path, "a.csv", text))
    assert (curve.time.tolist(), curve.loss.tolist()) == ([0, 1, 2, 3], [9, 5, 4, 3])
    assert "header" in curve.notes[0]
    assert "replace 2 earlier points" in curve.notes[1]


LARGE = {
    "plain": ("step,loss,lr\n", "{0},{1!r},0.1\n", ""),
    "empty cells": ("step,loss,val_loss\n", "{0},{1!r},\n", "99999999,,0.25\n"),
    "text beside": ("step,loss,when\n", "{0},{1!r},monday\n", ""),
    "no header": ("", "{0},{1!r}\n", ""),
    "comments above": ("# made by hand\n\nstep,loss\n", "{0},{1!r}\n", ""),
    "tabs": ("step\tloss\n", "{0}\t{1!r}\n", ""),
    "not finite": ("step,loss\n", "{0},{1!r}\n", "99999998,nan\n99999999,inf\n"),
}


@pytest.mark.parametrize("name", LARGE)
def test_pandas_reads_what_the_parser_by_hand_reads(tmp_path, name):
    """The same columns and the same sentence about a column of text."""
    head, row, end = LARGE[name]
    values = np.random.default_rng(0).normal(size=60_000) ** 9
    text = head + "".join(row.format(i, v) for i, v in enumerate(values.tolist())) + end
    path = tmp_path / "a.csv"
    fast, slow = csv_pandas.parse(text, path), csv_cells.parse(text, path)
    assert fast is not None
    assert (fast.names, fast.header, fast.unreadable) == (slow.names, slow.header, slow.unreadable)
    assert list(fast.columns) == list(slow.columns)
    for one, other in zip(fast.columns.values(), slow.columns.values(), strict=True):
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_allclose(one[1], other[1], rtol=4e-16)  # pandas 2 may miss the last bit


UNUSUAL = ["7,nan\n8,\n9,9\n", "7,nan\n8,None\n", "\n7,8\n"]
UNUSUAL += ["# resumed\n", "7\n", "step,loss\n", '7,"8"\n']


@pytest.mark.parametrize("bad", UNUSUAL)
def test_what_pandas_would_misread_is_read_by_hand(tmp_path, bad):
    text = "step,loss\n" + "".join(f"{i},{i / 7!r}\n" for i in range(60_000)) + bad
    assert csv_pandas.parse(text, tmp_path / "a.csv") is None


def test_a_bad_cell_in_a_large_file_is_found_by_its_line(tmp_path):
    lines = ["step,loss", *(f"{i},{i / 7!r}" for i in range(60_000))]
    lines[50_000] = "49999,oops"
    path = written(tmp_path, "a.csv", "\n".join(lines))
    with pytest.raises(InvalidInput, match=r"'oops' where .*, in line 50001, column 'loss'"):
        read_curves(path)


# ---- exports and other tools' text ----


def test_wandb_export(tmp_path):
    names = [f'"brave-sun-3 - train/loss{end}"' for end in ("", "__MIN", "__MAX")]
    head = ",".join(['"Step"', *names])
    curve = read_curves(written(tmp_path, "wandb_export.csv", csv(head, '"{0}","{1}","0","9"')))
    check(curve, "W&B export", "brave-sun-3 - train/loss", "Step")
    assert curve.others == ()
    assert "sample" in curve.notes[0]
    head = head + head.removeprefix('"Step"').replace("brave", "calm")
    path = written(tmp_path, "two.csv", csv(head, '"{0}","{1}","0","9","{1}","0","9"'))
    with pytest.raises(InvalidInput, match="of 2 runs, brave-sun-3 - train/loss, calm-sun-3"):
        read_curves(path)
    name = "calm-sun-3 - train/loss"
    check(read_curves(path, name), "W&B export", name, "Step")


def test_tensorboard_export(tmp_path):
    text = csv("Wall time,Step,Value", "1700000000.5,{},{}")
    curve = read_curves(written(tmp_path, "run-tag-loss.csv", text))
    check(curve, "TensorBoard export", "Value", "Step")
    assert "sample of 1,000 points by default; here are 30 points" in curve.notes[0]


def test_lightning_metrics(tmp_path):
    """Train and validation rows alternate, and leave each other's cells empty."""
    rows = "".join(f"{s // 100},{s},{v},\n{s // 100},{s},,9\n" for s, v in PAIRS)
    curve = read_curves(written(tmp_path, "metrics.csv", "epoch,step,train_loss,val_loss\n" + rows))
    check(curve, "Lightning metrics.csv", "train_loss")
    assert curve.others == ("epoch", "val_loss")


def test_trainer_state(tmp_path):
    history = [{"loss": v, "learning_rate": 0.1, "epoch": s / 100, "step": s} for s, v in PAIRS]
    history[5:5] = [{"eval_loss": 0.7, "eval_runtime": 1.0, "epoch": 0.4, "step": 40}]
    history.append({"train_loss": 0.2, "train_runtime": 9.0, "epoch": 3.0, "step": 290})
    text = json.dumps({"best_metric": None, "epoch": 3.0, "log_history": history}, indent=2)
    check(read_curves(written(tmp_path, "trainer_state.json", text)), "Hugging Face trainer_state")
    curve = read_curves(tmp_path / "trainer_state.json", "loss", time="epoch")
    np.testing.assert_array_equal(curve.time, STEPS / 100)


def test_json_lines_between_others(tmp_path):
    lines = json_lines(note="x", lr=0.1, done=False)
    lines = ["Starting", *lines[:7], "saved {checkpoint}", *lines[7:], '{"step": 300, "lo']
    text = "\n".join(lines)
    curve = read_curves(written(tmp_path, "log.jsonl", text))
    check(curve, "JSON lines")
    assert curve.others == ("lr",)
    assert curve.notes == ("Passed over: 3 lines without a JSON object.",)
    check(read_curves(written(tmp_path, "train_log", text)), "JSON lines")


def test_json_records_of_two_sets_are_not_mixed(tmp_path):
    train = json_lines(mode="train")
    val = [json.dumps({"mode": "val", "step": 10 * i, "loss": 5.0}) for i in range(30)]
    lines = [line for pair in zip(train, val, strict=True) for line in pair]
    check(read_curves(written(tmp_path, "a.jsonl", "\n".join(lines))), "JSON lines", "train/loss")


def test_json_documents(tmp_path):
    nested = [{"step": s, "train": {"loss": v}} for s, v in PAIRS]
    check(read_curves(written(tmp_path, "a.json", json.dumps(nested))), "JSON", "train/loss")
    keras = {"step": STEPS.tolist(), "loss": LOSS.tolist(), "val_loss": [1.0] * 30, "name": "x"}
    check(read_curves(written(tmp_path, "b.json", json.dumps(keras))), "JSON")
    with pytest.raises(InvalidInput, match="is not whole JSON"):
        read_curves(written(tmp_path, "c.json", json.dumps(keras)[:50]))


PLAIN = {
    "spaces": "step {0} loss {1:f}",
    "equals": "2024-05-01 10:22:33,123 INFO epoch=3, step={0}, train_loss: {1:f}, lr=1e-4",
    "tutorial": "Epoch [1/5], Step [{0}/600], Loss: {1:f}",
    "nanogpt": "step {0}: loss {1:f}, time 50.3ms, mfu 3.2%",
    "dict": "{{'loss': {1:f}, 'grad_norm': 2.0, 'step': {0}}}",
    "two sets": "step {0} | train: loss {1:f} acc 0.9 | val: loss 7.5 acc 0.8",
    "average": "step: {0}  loss: {1:f} (0.5)",
}


@pytest.mark.parametrize("name", PLAIN)
def test_lines_that_scripts_print(tmp_path, name):
    lines = [PLAIN[name].format(s, v) for s, v in PAIRS]
    lines[9:9] = ["Test set: Average loss: 0.25"]
    text = "\n".join(["Using cuda:0", *lines, "Done."])
    curve = read_curves(written(tmp_path, "train.log", text))
    assert curve.kind == "plain text"
    assert curve.name.lower() in ("loss", "train_loss", "train loss")
    np.testing.assert_array_equal(curve.time, STEPS)
    np.testing.assert_allclose(curve.loss, LOSS, atol=0)
    assert "Passed over: 1 line without a named number." in "".join(curve.notes)
    assert read_log(written(tmp_path, "train.txt", text)).kind == "plain text"


COUNTED = {
    "bracket": ("[{0}/2400] loss={1:f} lr=0.1", "step"),
    "after a word": ("2026-05-01 10:00:33,123 INFO [{0}/2400] loss={1:f}", "step"),
    "bare": ("{0}/2400 - loss: {1:f}", "step"),
    "spaces": ("loss: {1:f}  [ {0}/ 2400]", "step"),
    "progress bar": (" 5%|x  | {0}/2400 [00:10<03:10, 9.97it/s, loss={1:f}]", "step"),
    "epoch": ("Epoch {0}/2400 loss {1:f} accuracy: 19/20", "Epoch"),
    "named": ("Iter [{0}/2400] loss {1:f}", "Iter"),
}


@pytest.mark.parametrize("name", COUNTED)
def test_counters_are_steps_or_epochs(tmp_path, name):
    line, time_name = COUNTED[name]
    text = "\n".join(line.format(s, v) for s, v in PAIRS)
    check(read_curves(written(tmp_path, "a.log", text)), "plain text", "loss", time_name)


def test_what_a_counter_is_not(tmp_path):
    text = "".join(f"1/2/2026 3/4.5 7/{s} Accuracy: 3/4 loss {v:f}\n" for s, v in PAIRS[:1])
    assert set(read_log(written(tmp_path, "a.log", text)).series) == {"Accuracy", "loss"}


INSIDE_EPOCHS = {
    "every line": ("", "Epoch: {e} [{k}/640 (5%)] Loss: {v}\n", "Epoch", 1),
    "a heading": ("Epoch {e}\n------\n", "loss: {v}  [{k}/640]\n", "Epoch", 1),
    "no epochs": ("", "Train: [{k}/640] loss {v}\n", "epoch", 0),
}


@pytest.mark.parametrize("name", INSIDE_EPOCHS)
def test_a_counter_that_starts_again_is_a_share_of_the_epoch(tmp_path, name):
    heading, line, time_name, first = INSIDE_EPOCHS[name]
    counts = range(64, 641, 64)
    parts = []
    for e in (1, 2, 3):
        lines = [line.format(e=e, k=k, v=9 - e - k / 6400) for k in counts]
        parts.append(heading.format(e=e) + "".join(lines))
    text = "Test Error:\n Accuracy: 50.9%, Avg loss: 2.1\n".join(parts)
    curve = read_curves(written(tmp_path, "a.log", text))
    assert (len(curve.loss), curve.time_name) == (30, time_name)
    np.testing.assert_allclose(curve.time, first + np.arange(1, 31) / 10)
    assert curve.notes[-1].startswith(f"step starts again in each {time_name}: ")


def test_ambiguous_text_is_refused(tmp_path):
    text = "".join(f"step {s} loss {v} loss {2 * v}\n" for s, v in PAIRS)
    with pytest.raises(InvalidInput, match=r"'loss' occurs twice in line 1 of .*not clear"):
        read_curves(written(tmp_path, "a.log", text))
    with pytest.raises(InvalidInput, match="no number with a name"):
        read_curves(written(tmp_path, "b.log", "nothing\nhere\n"))
