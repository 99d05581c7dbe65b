"""Every recorded verdict is computed again from what is kept beside it in results/, and every claim can fail."""

from pathlib import Path

import pytest

from saddlescope.checks.damage import DAMAGES, survived
from saddlescope.claims import HOLDS, judge
from saddlescope.numerics import VERSION
from saddlescope.report.record import recorded
from saddlescope.storage.result_folder import load_results
from saddlescope.workflows.evidence import JUDGED
from saddlescope.workflows.find import experiment_keys, find_experiment

RESULTS = Path(__file__).parents[2] / "results"


def records():
    found = ((key, recorded(key, "full")) for key in experiment_keys())
    return [key for key, record in found if record and record[1]["versions"]["numerics"] == VERSION]


@pytest.mark.parametrize("key", records())
def test_recorded_verdicts_follow_from_what_is_stored(key):
    verdicts = judge(find_experiment(key).claims, load_results(RESULTS / key / JUDGED))
    record, _ = recorded(key, "full")
    assert [(v.sentence, v.word, v.counts) for v in verdicts] == [(v.sentence, v.word, v.counts) for v in record]


@pytest.mark.parametrize("key", records())
def test_no_claim_holds_whatever_the_data(key):
    """One that does is `built`, and no verdict."""
    results = load_results(RESULTS / key / JUDGED)
    found = survived([c for c in find_experiment(key).claims if not c.built], results)
    assert not [sentence for sentence, names in found.items() if len(names) == len(DAMAGES)]
    assert all(v.word == HOLDS for v in judge(find_experiment(key).claims, results) if v.sentence in found)
