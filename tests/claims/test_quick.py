"""Every experiment in quick form: its verdicts are those recorded, failing claims included; its figure is drawn."""

from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from saddlescope.claims import judge
from saddlescope.figures import style
from saddlescope.report.record import differences, recorded
from saddlescope.workflows.find import experiment_keys as keys
from saddlescope.workflows.find import find_experiment as find

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("key", keys())
def test_quick_verdicts_are_those_recorded(key):
    experiment = find(key)
    results = experiment.run(experiment.quick, quiet=True)
    verdicts = judge(experiment.claims, results)
    assert not differences(key, "quick", verdicts)
    with style():
        figure = experiment.draw(results)
    assert figure.get_axes()
    for ax in figure.get_axes():
        assert ax.get_xlabel() or ax.get_ylabel() or ax.get_title()
    plt.close(figure)
    takes_fewer(experiment, results)


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
@pytest.mark.parametrize("key", keys())
def test_every_claim_is_recorded(key, scale):
    """All of them in full form, with the reason of those that fail; a quick form need not be able to test each."""
    experiment, record = find(key), recorded(key, scale)
    if scale == "full" and record is None:
        assert f"`{key}` | not yet run in full" in (ROOT / "README.md").read_text()
        return
    assert record is not None, f"run `make record` and commit papers/…/verdicts/*.{scale}.json"
    notes = {c.sentence: c.note for c in experiment.claims}
    said = [v.sentence for v in record[0]]
    assert said == [s for s in notes if s in said]
    assert record[1]["scale"] == scale
    if scale == "full":
        assert said == list(notes)
        unexplained = [v.sentence for v in record[0] if not v.holds and not notes[v.sentence]]
        assert not unexplained, "what does not hold needs a `note` that says why"
