"""Learning-rate rules and stop rules: on made losses, and in runs."""

import numpy as np
import pytest
from cases import linear_setting, minibatch_setting, relu_setting

from saddlescope.errors import InvalidInput
from saddlescope.observables import FullLoss
from saddlescope.optimisers import HalveOnStagnation, LearningRateBelow, LossBelow, StepDecay, StepDownOnStagnation
from saddlescope.training import SaveAt, on_cut, train


def test_step_decay_and_events():
    setting = linear_setting(steps=10, schedule=StepDecay(0.5, 4))
    run = train(setting, (FullLoss(),), on_cut(after=3))
    assert run["learning_rate"].values.tolist() == [0.01] * 4 + [0.005] * 4 + [0.0025] * 3
    assert run["event_kind"].values.tolist() == ["cut", "cut", "end"]
    assert run["event_step"].values.tolist() == [4, 8, 10]
    assert run["saved_because"].values.tolist() == ["before cut", "after cut", "before cut", "end"]
    assert run["saved_step"].values.tolist() == [4, 7, 8, 10]


def test_halving_run_cuts_where_the_rule_says():
    run = train(minibatch_setting(epochs=400))
    losses, lr, last, cuts = run["loss"].values, 0.05, -1, []
    for e in range(len(losses)):
        if e >= 20 and e - last >= 20 and np.mean(losses[e - 9 : e + 1]) >= np.mean(losses[e - 19 : e - 9]):
            lr, last = lr / 2, e
            cuts.append(e + 1)
    found = run["event_epoch"].values[run["event_kind"].values == "cut"].tolist()
    assert found == cuts
    assert len(cuts) > 2


def test_stops_are_exact():
    run = train(relu_setting(steps=2000, stop=(LossBelow(0.9),)))
    assert str(run["status"].values) == "stopped: loss below 0.9"
    losses = run["loss"].values  # the last entry is the loss after the last step
    assert losses[-2] < 0.9 <= losses[-3]
    rate = train(linear_setting(steps=100, schedule=StepDecay(0.1, 5), stop=(LearningRateBelow(1e-4),)))
    assert rate["event_step"].values[-1] == 15


def test_a_stop_rule_does_not_depend_on_what_is_saved():
    setting = linear_setting(steps=100, stop=(LearningRateBelow(0.1),))
    assert train(setting).sizes["step"] == train(setting, (), SaveAt((5,))).sizes["step"] == 2


@pytest.mark.parametrize(
    ("losses", "cut_at"),
    [
        ([1.0] * 40, 20),  # flat: first allowed epoch
        (list(np.linspace(1, 0.1, 40)), None),
        ([1.0] * 12 + [np.nan] * 30, None),
        (list(np.linspace(1, 0.5, 30)) + [0.5] * 15, 38),  # last ten all 0.5 and ten before not above: by hand
    ],
    ids=["flat", "falling", "nan", "stalling"],
)
def test_halving_rule_on_made_losses(losses, cut_at):
    rule = HalveOnStagnation()
    cuts = [e for e in range(len(losses)) if rule.after(1.0, losses[: e + 1], []) != 1.0]
    first = cuts[0] if cuts else None
    if cut_at == 38:
        means = [np.mean(losses[e - 9 : e + 1]) >= np.mean(losses[e - 19 : e - 9]) for e in range(20, len(losses))]
        cut_at = 20 + means.index(True) if any(means) else None
    assert first == cut_at
    assert rule.after(1.0, [1.0] * 40, [21]) == 1.0, "39 - 20 < 20 epochs since the last cut"
    assert rule.after(1.0, [1.0] * 41, [21]) == 0.5


def test_ladder_on_made_losses():
    """Flat losses: one rung down every 20 epochs, then the last one for good; a falling loss stays where it is."""
    rule, lr, cuts, losses = StepDownOnStagnation((0.01, 0.005, 0.001)), 0.01, [], []
    for _ in range(100):
        losses.append(1.0)
        new = rule.after(lr, losses, cuts)
        cuts, lr = ([*cuts, len(losses)], new) if new != lr else (cuts, lr)
    assert cuts == [21, 41]
    assert lr == 0.001
    assert rule.after(0.01, list(np.linspace(1, 0, 50)), []) == 0.01
    assert rule.after(0.01, [1.0] * 12 + [np.nan] * 30, []) == 0.01
    for rates in ((), (0.01, 0.02), (0.1, 0.0), (0.1, 0.1)):
        with pytest.raises(InvalidInput, match="must be positive and fall"):
            StepDownOnStagnation(rates)
