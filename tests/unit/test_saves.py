"""Saves within one call of the engine: the same record, bit for bit, as with one call per save."""

from typing import final

import jax
import numpy as np
import pytest
from cases import engine_for, linear_setting, minibatch_setting, random_feature_setting
from hypothesis import given, settings
from hypothesis import strategies as st

from saddlescope.engines import CachedFeatures, Jax
from saddlescope.engines.flow import FlowStepper
from saddlescope.engines.jax_loop import JaxStepper
from saddlescope.losses import CrossEntropy
from saddlescope.nets import ConvUnit, Identity, RandomFeatureNet, Units
from saddlescope.observables import FullLoss, GradientNorm, Observable, Parameters, Sharpness, SingularValues
from saddlescope.optimisers import Adam, GradientDescent, GradientFlow, HalveOnStagnation, LossBelow, StepDecay, WarmUp
from saddlescope.setting import Setting
from saddlescope.tasks import ImageClasses, LinearTeacher
from saddlescope.training import SaveAt, every, log_spaced, on_cut, passed, train
from saddlescope.training.running import RunUnderWay

# Read in one call however few there are.
pytestmark = pytest.mark.usefixtures("few_saves_too")
OBSERVE = FullLoss(), GradientNorm(), Parameters()
TIMES = ["cpu_seconds", "wall_seconds"]


@pytest.fixture(scope="module")
def few_saves_too():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passed, "LEAST_SAVES", 3)
        yield


def call_per_save(setting, observe, save_at, **more):
    """What an engine that keeps nothing records."""
    with pytest.MonkeyPatch.context() as patch:
        for stepper in (JaxStepper, FlowStepper):
            patch.setattr(stepper, "keeps", False)
        return train(setting, observe, save_at, **more).drop_vars(TIMES)


def calls_of(setting, observe, save_at, **more):
    """The record, and the number of calls of the engine."""
    calls, stepper = [], type(engine_for(setting))
    original = stepper.advance
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stepper, "advance", lambda *given: (calls.append(1), original(*given))[1])
        return train(setting, observe, save_at, **more).drop_vars(TIMES), len(calls)


def convolution(**changes):
    """Linear units that see six inputs through a window, on moments: XLA likes to mix its gradient with a loop."""
    task = LinearTeacher((tuple(np.linspace(1, 2, 6)),), np.diag(np.linspace(1, 2, 6)))
    return linear_setting(task=task, net=Units(3, ConvUnit(2, Identity()), 0.5), steps=40, **changes)


def images(engine):
    given = dict(optimiser=Adam(1e-3, clip=1.0), loss=CrossEntropy(), batch=50, epochs=5, engine=engine)
    return Setting(ImageClasses("small", 130), RandomFeatureNet((5,), (20, 30)), **given)


MADE = {
    "full batch": lambda: linear_setting(steps=90),
    "convolution": convolution,
    "float32": lambda: convolution(precision="float32"),
    "minibatch": lambda: minibatch_setting(stop=(), epochs=12),
    "random features": lambda: random_feature_setting(engine=Jax(), epochs=8),
    "cached features": lambda: images(CachedFeatures()),
    "flow": lambda: linear_setting(optimiser=GradientFlow(0.01), steps=60),
}


@pytest.mark.parametrize("make", MADE.values(), ids=list(MADE))
def test_many_saves_of_a_call_are_those_of_one_call_each(make):
    setting = make()
    save_at = every(3, setting.budget) | log_spaced(5, setting.budget)
    run, calls = calls_of(setting, OBSERVE, save_at)
    assert run.identical(call_per_save(setting, OBSERVE, save_at))
    assert 0 < calls < run.sizes["saved"] / 2


@pytest.mark.parametrize("make", MADE.values(), ids=list(MADE))
def test_saves_do_not_change_the_losses(make):
    setting = make()
    often = train(setting, OBSERVE, every(1, setting.budget))
    np.testing.assert_array_equal(often["loss"], train(setting)["loss"])


RULES = {
    "cuts": (dict(schedule=HalveOnStagnation(2, 4), stop=()), every(4, 200) | on_cut(after=3)),
    "decay": (dict(schedule=StepDecay(0.9, 3), stop=()), every(2, 200) | on_cut()),
    "warm-up": (dict(schedule=WarmUp(17), stop=()), every(2, 200)),
    "stop": (dict(stop=LossBelow(0.6)), every(2, 200)),
    "stop within an epoch": (dict(stop=LossBelow(0.4, within_epochs=True)), every(2, 200)),
    "an epoch cut short": (dict(epochs=None, steps=203, stop=()), every(3, 203)),
}


@pytest.mark.parametrize(("changes", "save_at"), RULES.values(), ids=list(RULES))
def test_rules_are_asked_as_with_one_call_per_save(changes, save_at):
    """`Sharpness` reads the learning rate: a rule must not change it under the saves that a call has passed."""
    observe = Sharpness(3), Parameters(only=("v",))
    setting = minibatch_setting(**changes)
    run = train(setting, observe, save_at, per_step=True).drop_vars(TIMES)
    assert run.identical(call_per_save(setting, observe, save_at, per_step=True))


DIVERGING = {
    "full batch": lambda: linear_setting(optimiser=GradientDescent(3.0)),
    "minibatch": lambda: random_feature_setting(engine=Jax(), optimiser=GradientDescent(50.0), schedule=None),
}


@pytest.mark.parametrize("make", DIVERGING.values(), ids=list(DIVERGING))
@pytest.mark.parametrize("k", [1, 3, 7])
def test_a_run_that_diverges_keeps_the_saves_before(make, k):
    setting = make()
    save_at = every(k, setting.budget)
    run = train(setting, OBSERVE, save_at).drop_vars(TIMES)
    assert str(run["status"].values).startswith("diverged at")
    assert 1 < run.sizes["saved"] < setting.budget // k
    assert run.identical(call_per_save(setting, OBSERVE, save_at))


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=5), st.integers(1, 20), st.integers(1, 9))
def test_the_record_does_not_depend_on_where_calls_end(lengths, at_once, k):
    """Calls of any length, each past any number of saves."""
    setting, save_at = minibatch_setting(epochs=10), every(k, 50)
    run, turn = RunUnderWay(setting, OBSERVE, save_at), 0
    while not run.over:
        run.call, run.passed.at_once, turn = lengths[turn % len(lengths)], min(at_once, run.passed.rows or 1), turn + 1
        run.take(*run.stepper.advance(*run.next_call()))
    whole = train(setting, OBSERVE, save_at)
    assert run.dataset().drop_vars(TIMES).identical(whole.drop_vars(TIMES))


@pytest.mark.parametrize("make", [MADE["full batch"], MADE["minibatch"]], ids=["full batch", "minibatch"])
def test_a_run_stopped_between_its_calls_resumes_to_the_same_bits(tmp_path, make):
    setting, path, stopped = make(), tmp_path / "run.npz", []
    save_at = every(2, setting.budget)
    whole, original = train(setting, OBSERVE, save_at), JaxStepper.advance

    def advance(self, state, step, n, lr, keep=None):
        if step > 5 and step not in stopped:
            stopped.append(step)
            raise KeyboardInterrupt
        return original(self, state, step, n, lr, keep)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(JaxStepper, "advance", advance)
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                train(setting, OBSERVE, save_at, checkpoint=path)
    assert 5 < stopped[0] < stopped[1] < setting.budget
    resumed = train(setting, OBSERVE, save_at, checkpoint=path)
    assert resumed.drop_vars(TIMES).identical(whole.drop_vars(TIMES))


@pytest.mark.parametrize("make", MADE.values(), ids=list(MADE))
def test_an_engine_keeps_the_parameters_of_shorter_calls(make):
    """The rows are the states that calls up to each of them end in."""
    setting = make()
    stepper, keep, n = engine_for(setting), [1, 4, 5], 9
    start = stepper.start()
    state, losses, kept = stepper.advance(start, 0, n, 0.01, np.array([*keep, n, n, n]))
    plain = stepper.advance(start, 0, n, 0.01)
    np.testing.assert_array_equal(losses, plain[1])
    for a, b in zip(jax.tree.leaves(state), jax.tree.leaves(plain[0]), strict=True):
        np.testing.assert_array_equal(a, b)
    for row, k in enumerate([*keep, n]):
        there = setting.net.trained(stepper.params(stepper.advance(start, 0, k, 0.01)[0]))
        np.testing.assert_array_equal(kept[row], np.concatenate([np.ravel(v) for v in jax.tree.leaves(there)]))


@final
class _Slow(Observable):
    """Takes longer than all saves of a call should."""

    name = "slow"
    on_host = True

    def __call__(self, snapshot):
        return 0.0


def test_slow_observables_end_calls_sooner(monkeypatch):
    """Between two calls a stop is heard: with a second per save there is one save per call."""
    clock = iter(range(10**6))
    setting, save_at = linear_setting(steps=60), every(1, 60)
    quick, few = calls_of(setting, (_Slow(),), save_at)
    monkeypatch.setattr(passed.time, "perf_counter", lambda: float(next(clock)))
    slow, many = calls_of(setting, (_Slow(),), save_at)
    assert few < 20
    assert many == 60
    assert slow.identical(quick)


def test_parameters_kept_by_a_call_are_bounded(monkeypatch):
    setting, observe, save_at = linear_setting(steps=300), (FullLoss(),), every(1, 300)
    each = sum(v.nbytes for v in setting.initial_params().values())
    rows = []
    for bound in (2**30, 20 * each, each):
        monkeypatch.setattr(passed, "KEPT_BYTES", bound)
        rows.append(RunUnderWay(setting, observe, save_at).passed.rows)
    assert rows == [512, 16, 0]
    monkeypatch.setattr(passed, "KEPT_BYTES", 2**30)
    assert RunUnderWay(setting, observe, SaveAt((0, 100))).passed.rows == 0  # nothing to gain
    monkeypatch.setattr(passed, "LEAST_SAVES", 302)
    assert RunUnderWay(setting, observe, save_at).passed.rows == 0


def test_singular_values_on_the_host_are_those_of_one_call_each():
    setting, save_at = linear_setting(steps=90), every(3, 90)
    run = train(setting, (SingularValues(),), save_at).drop_vars(TIMES)
    assert run.identical(call_per_save(setting, (SingularValues(),), save_at))
