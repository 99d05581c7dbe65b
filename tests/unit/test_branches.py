"""Branches that follow a run: they go on where it was, and may diverge without marking their point."""

from types import SimpleNamespace

import numpy as np
import pytest
from cases import minibatch_setting, random_feature_setting

from saddlescope.engines import Jax
from saddlescope.experiment import Experiment
from saddlescope.initials import weights_of_run
from saddlescope.observables import FullLoss, Parameters
from saddlescope.optimisers import Constant, GradientDescent
from saddlescope.papers.valleys import _branches
from saddlescope.training import SaveAt, loss_at, observe_at

CUT, END = 10, 20
MAKERS = {"jax": minibatch_setting, "fused": random_feature_setting}


def setting(engine):
    return MAKERS[engine](epochs=END, schedule=Constant(), stop=())


def follow(run, setting):
    start = weights_of_run(run, CUT * setting.steps_per_epoch, starting_epoch=CUT)
    there = setting.replace(initial=start, epochs=END - CUT)
    return {"same": there, "wild": there.replace(optimiser=GradientDescent(1e30))}


def analyse(runs, settings):
    gap = np.abs(runs["same"].loss.values - runs[""].loss.values[CUT:]).max()
    return {"gap": gap, "wild_diverged": str(runs["wild"].status.values).startswith("diverged")}


EXPERIMENT = Experiment(
    title="A run and two branches",
    source="a test",
    full=dict(engine=tuple(MAKERS)),
    quick=dict(engine=tuple(MAKERS)),
    setting=setting,
    observe=(Parameters(),),
    save_at=SaveAt(epochs=(CUT,)),
    follow=follow,
    analyse=analyse,
    draw=lambda results: None,
    claims=(),
)


def test_a_branch_goes_on_to_the_same_bits_and_may_diverge():
    found = EXPERIMENT.run(EXPERIMENT.quick, quiet=True).measured
    assert found.gap.values.tolist() == [0, 0]
    assert found.wild_diverged.values.all()
    assert found.finite.values.all()
    assert found.status.values.tolist() == ["finished"] * 2


def test_the_engine_s_own_loss_is_the_loss():
    given = random_feature_setting(precision="float32")
    assert given.engine.name == "fused"
    weights = given.net.trained(given.initial_params())
    by_jax = float(observe_at(given.replace(engine=Jax()), weights, FullLoss())["full_loss"])
    assert loss_at(given, weights) == pytest.approx(by_jax, rel=1e-5)
    moved = {name: w + 0.1 for name, w in weights.items()}
    assert loss_at(given, moved) != loss_at(given, weights)


def test_epochs_before_a_cut_are_five_or_those_in_which_the_rule_could_cut():
    run = SimpleNamespace(cuts=np.array([100, 120, 160, 200]), sizes={"epoch": 200})
    rule = SimpleNamespace(schedule=SimpleNamespace(patience=20))
    found = {cut: list(epochs) for cut, epochs in _branches._epochs_before(run, rule, 9).items()}
    assert found == {100: [96, 97, 98, 99, 100], 120: [120], 160: [156, 157, 158, 159, 160]}
