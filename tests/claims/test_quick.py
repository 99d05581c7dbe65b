"""Every experiment in quick form: its verdicts are those recorded, failing claims included; its figure is drawn."""

import matplotlib.pyplot as plt
import pytest

from saddlescope.claims import judge
from saddlescope.experiment import find, keys
from saddlescope.figures import style
from saddlescope.report.record import differences, recorded


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


@pytest.mark.parametrize("scale", ["quick", "full"])
@pytest.mark.parametrize("key", keys())
def test_every_claim_is_recorded(key, scale):
    experiment, record = find(key), recorded(key, scale)
    assert record is not None, f"run `make record` and commit papers/…/verdicts/*.{scale}.json"
    assert [v.sentence for v in record[0]] == [c.sentence for c in experiment.claims]
    for verdict, claim in zip(record[0], experiment.claims, strict=True):
        assert verdict.holds or claim.note, f"{claim.sentence!r} does not hold: its `note` must say why"
    assert record[1]["scale"] == scale
