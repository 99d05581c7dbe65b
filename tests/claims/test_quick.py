"""Every experiment in quick form: its verdicts are those recorded, failing claims included; its figure is drawn.

Minibatch runs are chaotic, so that they differ from processor to processor: a difference within chance is none there.
Full-batch runs in float64 are not, and their counts are the recorded ones.
"""

import json
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from figure_faults import faults

from saddlescope.claims import BUILT, FAILS, PARTLY, UNCLEAR, judge, word_of
from saddlescope.figures import style
from saddlescope.numerics import VERSION
from saddlescope.report.record import differences, recorded
from saddlescope.workflows.find import experiment_keys, find_experiment

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("key", experiment_keys())
def test_quick_verdicts_are_those_recorded(key):
    experiment = find_experiment(key)
    results = experiment.run(experiment.quick, quiet=True)
    verdicts = judge(experiment.claims, results)
    assert not [str(d) for d in differences(key, "quick", verdicts) if d.beyond_chance]
    if is_steady(results):
        assert {v.sentence: (v.word, v.counts) for v in verdicts} == {
            v.sentence: (v.word, v.counts) for v in recorded(key, "quick")[0]
        }
    with style():
        figure = experiment.draw(results)
    assert figure.get_axes()
    for ax in (ax for ax in figure.get_axes() if ax.axison):  # one that is not holds a legend
        beside = ax.get_shared_y_axes().get_siblings(ax)  # the label of a row is at its first panel
        assert ax.get_xlabel() or ax.get_title() or any(other.get_ylabel() for other in beside)
    assert not faults(figure)
    assert experiment.drawn, "say what lines, bands and marks of the figure are"
    plt.close(figure)
    takes_fewer(experiment, results)


def is_steady(results):
    """Whether all runs were trained in float64 and with full batches, so that rounding decides no count."""
    if "setting" not in results.measured:
        return False
    stored = [json.loads(str(text)) for text in results.measured["setting"].values]
    settings = [s for one in stored for s in ((one,) if "precision" in one else one.values())]  # several of a point
    return all(s["precision"] == "float64" and s["batch"] is None for s in settings)


def takes_fewer(experiment, results):
    """With one value of an axis alone, as `--axis` may give, everything is judged, drawn and tabulated as far as it
    can be."""
    several = {axis: values for axis in experiment.quick if len(values := results.values(axis)) > 1}
    for k, (axis, values) in enumerate(several.items()):
        for value in (values[0], values[-1]):
            part = results.select(**{axis: value})
            judge(experiment.claims, part)
            if experiment.tables:
                list(experiment.tables(part))
        if k == 0:
            with style():
                plt.close(experiment.draw(part))


@pytest.mark.parametrize("scale", ["quick", "full"])
@pytest.mark.parametrize("key", experiment_keys())
def test_every_claim_is_recorded(key, scale):
    """All of them in full form, with the reason of those that fail; a quick form need not be able to test each."""
    experiment, record = find_experiment(key), recorded(key, scale)
    if scale == "full" and record is None:
        assert f"`{key}` | not yet run in full" in (ROOT / "docs" / "ledger.md").read_text(encoding="utf-8")
        return
    assert record is not None, f"run `make record` and commit papers/…/verdicts/*.{scale}.json"
    notes = {c.sentence: c.note for c in experiment.claims}
    said = [v.sentence for v in record[0]]
    assert record[1]["scale"] == scale
    if record[1]["versions"]["numerics"] != VERSION:  # the ledger says so, and `make record` is due
        assert scale == "full"
        return
    assert said == [s for s in notes if s in said]
    if scale == "full":
        assert said == list(notes)
        failing = [v for v in record[0] if v.word in (FAILS, PARTLY)]
        unexplained = [v.sentence for v in failing if not notes[v.sentence]]
        assert not unexplained, "what does not hold needs a `note` that says why"


@pytest.mark.parametrize("scale", ["quick", "full"])
@pytest.mark.parametrize("key", experiment_keys())
def test_recorded_words_follow_from_recorded_counts(key, scale):
    """Each record can be judged again without its runs; what it cannot tell may have other reasons than its counts."""
    record = recorded(key, scale)
    verdicts = record[0] if record else []  # the test above asks that it is missing on purpose
    counted = [v for v in verdicts if v.counts and not v.unclear and v.word != BUILT]
    wrong = [v.sentence for v in counted if v.word != word_of(v.counts)]
    assert not wrong
    assert not [v.sentence for v in verdicts if v.runs < 2 and v.word != UNCLEAR and v.counts]
