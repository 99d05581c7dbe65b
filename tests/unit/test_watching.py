"""An engine that looks out for rules itself: the run has the same bits as one whose driver asks at every epoch."""

import numpy as np
import pytest
from cases import engine_for, random_feature_setting

from saddlescope.engines.fused.stepper import FusedStepper
from saddlescope.engines.watch import Watch
from saddlescope.observables import Parameters
from saddlescope.optimisers import (
    Adam,
    GradientDescent,
    HalveOnStagnation,
    LearningRateBelow,
    LossBelow,
    StepDecay,
    StepDownOnStagnation,
)
from saddlescope.training import every_epoch, on_cut, train

LADDER = StepDownOnStagnation((0.1, 0.03, 0.01), 3, 8)
CASES = {
    "halving": dict(schedule=HalveOnStagnation(3, 8), stop=(LearningRateBelow(1e-3),)),
    "halving by long windows": dict(schedule=HalveOnStagnation(10, 20)),
    "ladder": dict(schedule=LADDER),
    "a level": dict(stop=(LossBelow(0.4),)),
    "a level and a ladder": dict(schedule=LADDER, stop=(LossBelow(0.35), LearningRateBelow(1e-3))),
    "a level within epochs": dict(schedule=HalveOnStagnation(3, 8), stop=(LossBelow(1e-2, within_epochs=True),)),
    "at regular times": dict(schedule=StepDecay(0.5, 7), stop=(LossBelow(0.3),)),
    "divergence": dict(optimiser=GradientDescent(1e6), schedule=HalveOnStagnation(3, 8)),
    "Adam": dict(optimiser=Adam(0.1, clip=1.0), schedule=HalveOnStagnation(3, 8)),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_a_run_has_the_same_bits_whoever_looks(name, seed, monkeypatch):
    given = dict(optimiser=GradientDescent(0.1, 0.5), epochs=300, batch=7, seed=seed) | CASES[name]
    setting = random_feature_setting(**given)
    asked = (Parameters(),), on_cut(after=5) | every_epoch(50, 300)
    watched = train(setting, *asked, per_step=True)
    monkeypatch.setattr(FusedStepper, "watches", False)
    plain = train(setting, *asked, per_step=True)
    times = ["cpu_seconds", "wall_seconds"]
    assert watched.drop_vars(times).identical(plain.drop_vars(times))
    if "schedule" in given and name != "divergence":
        assert "cut" in plain["event_kind"].values, "a case in which no rule speaks shows nothing"


def test_a_call_lasts_until_a_rule_may_speak():
    """Few calls: this is what makes tiny epochs cheap."""
    calls, setting = [], random_feature_setting(epochs=2000, batch=30, schedule=HalveOnStagnation(10, 20))

    class Counted(FusedStepper):
        def advance(self, *args):
            calls.append(args)
            return super().advance(*args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("saddlescope.engines.fused.stepper.FusedStepper", Counted)
        run = train(setting)
    cuts = (run["event_kind"].values == "cut").sum()
    assert len(calls) <= 2 * cuts + 20 < 500


def test_a_level_ends_the_call_at_the_first_epoch_below_it():
    engine = engine_for(random_feature_setting(batch=7))
    each = engine.steps_per_epoch
    _, losses = engine.advance(engine.start(), 0, 40 * each, 0.05)
    means = losses.reshape(40, each).mean(axis=1)
    level = float(np.sort(means)[20])
    _, found = engine.advance(engine.start(), 0, 40 * each, 0.05, Watch(np.inf, 0, level, ()))
    assert len(found) == each * (np.flatnonzero(means <= level)[0] + 1)
    np.testing.assert_array_equal(found, losses[: len(found)])


def test_windows_count_the_epochs_before_the_call():
    engine = engine_for(random_feature_setting(batch=7))
    each, past = engine.steps_per_epoch, (1e-9,) * 10
    _, found = engine.advance(engine.start(), 0, 9 * each, 0.05, Watch(4, 5, -np.inf, past))
    assert len(found) == 4 * each  # the losses rise beyond those before, but nothing is asked before epoch 4
