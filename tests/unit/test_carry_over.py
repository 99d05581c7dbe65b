"""The parts of tools/carry_over.py that train nothing."""

import csv
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from carry_over import CARRIED, NO_HASH, choose, decide, write_hashes
from same_runs import compare, compare_arrays, compare_row

RUN = {
    "arrays": {"measured/loss": "a", "measured/gap": "b", "curve/0": "c"},
    "elements": {},
    "numbers": {"measured/gap": "0.25", "measured/status": "finished"},
    "sizes": {"run": 1, "step": 7, "event": 2},
    "hash": "new",
}
ROW = {"seed": "3", "gap": "0.25", "length": "7", "event_length": "2", "absent": "nan", "hash": "old"}
ASKED = {"key": "paper.figure", "point": {"seed": 3}, "row": ROW}


def test_the_same_run_has_the_same_bits_and_numbers():
    found = compare(ASKED, RUN | {"hash": "old"}, RUN)
    assert (found["same_bits"], found["same_as_record"], found["note"]) == ("yes", "yes", "")
    assert (found["recorded_hash"], found["old_hash"], found["new_hash"]) == ("old", "old", "new")
    assert (found["arrays"], found["loss_curves"]) == (3, 1)


def test_one_other_array_is_other_bits():
    found = compare(ASKED, RUN, RUN | {"arrays": RUN["arrays"] | {"curve/0": "d"}})
    assert (found["same_bits"], found["note"]) == ("no", "other bits: curve/0")


def test_an_array_may_have_another_name_or_be_an_element():
    old, new = {"measured/said": "a", "measured/first": "b", "measured/gone": "c"}, {"predicted/said": "a"}
    same, different, moved = compare_arrays(old, new, {"measured/half[0]": "b", "measured/half[1]": "a"})
    assert (same, different) == (["measured/said", "measured/first"], [])
    assert moved == {"measured/said": "predicted/said", "measured/first": "measured/half[0]"}


def test_an_array_that_the_record_has_may_not_be_lost():
    without = RUN | {"arrays": {"measured/loss": "a", "curve/0": "c"}}
    assert compare(ASKED, RUN, without)["same_bits"] == "no"
    more = RUN | {"arrays": RUN["arrays"] | {"measured/drawn": "z"}}
    assert (compare(ASKED, more, RUN)["same_bits"], compare(ASKED, more, RUN)["note"]) == (
        "yes",
        "not kept today: measured/drawn",
    )


@pytest.mark.parametrize(("column", "cell"), [("gap", "0.25000000000000006"), ("length", "8"), ("absent", "1.0")])
def test_a_number_that_is_not_the_recorded_one_is_named(column, cell):
    (found,) = compare_row(ROW | {column: cell}, {"seed": 3}, RUN, {})
    assert found.startswith(f"{column} {cell} → ")


def test_a_run_that_one_version_cannot_make_proves_nothing():
    assert compare(ASKED, {"error": "KeyError: 'seed'"}, RUN)["same_bits"] == "no"


def test_the_sample_has_the_cheapest_seed_of_each_setting():
    points = [{"lr": lr, "seed": seed} for lr in (0.1, 0.2) for seed in range(3)]
    assert sorted(choose([3.0, 1.0, 2.0, 2.0, 3.0, 1.5], points)) == [1, 5]
    assert choose([300.0, 100.0, 200.0], points[:3]) == [1]
    assert sorted(choose([3.0, 1.0, 2.0], points[:3])) == [1, 2]


def test_only_proven_records_are_carried_over():
    good, bad = ({"same_bits": word, "same_as_record": "yes"} for word in ("yes", "no"))
    assert decide(["a", "b"], ["a", "b"], ["c", "d"], [good]) == CARRIED
    assert decide([], [], [], [good]) == NO_HASH
    for wrong in (
        decide(["a", "b"], ["a", "b"], ["c", "d"], [good, bad]),
        decide(["a", "b"], ["a", "b"], ["c", "d"], [good | {"same_as_record": "no"}]),
        decide(["a", "b"], ["a", "b"], ["c", "d"], []),
        decide(["a", "x"], ["a", "b"], ["c", "d"], [good]),
        decide(["a", "b"], ["a", "b"], ["c", ""], [good]),
    ):
        assert wrong.endswith("run it again")


def test_nothing_but_the_hash_changes(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text('net,seed,hash,gap\n"two, wide",0,a,1e-06\n"two, wide",1,b,nan\n')
    with path.open() as file:
        rows = list(csv.DictReader(file))
    write_hashes(path, rows, ["c", "d"])
    assert path.read_text() == 'net,seed,hash,gap\n"two, wide",0,c,1e-06\n"two, wide",1,d,nan\n'
