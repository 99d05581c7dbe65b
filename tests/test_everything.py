"""One set of questions, asked of everything in cases.py."""

import dataclasses
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cases import (
    CASES,
    all_parts,
    deep_setting,
    image_setting,
    linear_setting,
    minibatch_setting,
    of_kind,
    quadratic_setting,
    random_feature_setting,
    relu_setting,
    silent_setting,
    sizes_for,
)

from saddlescope.engines import Fused, Jax
from saddlescope.losses import squared_error
from saddlescope.nets import Net, linear_units
from saddlescope.observables import Observable, Parameters, WidthRule
from saddlescope.optimisers import Constant, Optimiser, Schedule, StopRule
from saddlescope.results import Run
from saddlescope.serialization.part import array_hash, content_hash, from_json_values, to_json_values
from saddlescope.setting import Setting
from saddlescope.tasks import Moments, Samples, Task
from saddlescope.theory import (
    ConstantFit,
    CosineLevels,
    DeepLevels,
    FlowTime,
    FrozenAt,
    OrthogonalPoints,
    Prediction,
    PreservedRelation,
    QuadraticDrops,
    QuadraticNextDrops,
    RelaxedLevel,
    SpikesByLayer,
)
from saddlescope.training import observe_saved, train
from saddlescope.training.save_at import SaveAt


def named(cases):
    return pytest.mark.parametrize(
        "case", cases, ids=lambda c: f"{type(c).__name__}-{content_hash(to_json_values(c))[:4]}"
    )


def test_every_part_has_a_case():
    missing = all_parts() - {type(case) for case in CASES}
    assert not missing, f"add an example of each to tests/cases.py: {sorted(c.__name__ for c in missing)}"


@named(CASES)
def test_round_trips_through_json(case):
    text = json.dumps(to_json_values(case))
    arrays = {array_hash(a): a for a in jax.tree.leaves(case) if isinstance(a, np.ndarray)}
    again = from_json_values(json.loads(text), arrays)
    assert json.dumps(to_json_values(again)) == text
    assert type(again) is type(case)
    assert content_hash(to_json_values(again)) == content_hash(to_json_values(case))


@named(CASES)
def test_full_form_names_every_field_and_prints(case):
    assert set(to_json_values(case)) == {"class", *(f.name for f in dataclasses.fields(case))}
    assert type(case).__name__ in str(case)


@named([case for case in CASES if dataclasses.fields(case)])
def test_is_frozen(case):
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(case, dataclasses.fields(case)[0].name, 1)


@named(of_kind(Task))
def test_task_keeps_its_word(case):
    data = case.data(np.random.default_rng(0))
    if case.size is None:
        assert isinstance(data, Moments)
        assert data.optimum.shape == (case.outputs, case.inputs**data.degree)
    else:
        assert data.x.shape == (case.size, case.inputs)
        assert data.y.shape == (case.size, case.outputs)
    for a, b in zip(jax.tree.leaves(data), jax.tree.leaves(case.data(np.random.default_rng(0))), strict=True):
        np.testing.assert_array_equal(a, b)


@named(of_kind(Net))
def test_net_gradient_is_that_of_finite_differences(case):
    rng = np.random.default_rng(1)
    inputs, outputs = sizes_for(case)
    params = case.init(rng, inputs, outputs)
    x, y = rng.standard_normal((40, inputs)), rng.standard_normal((40, outputs))
    data = case.statistics(Samples(x, y))
    flat, restore = jax.flatten_util.ravel_pytree(params)
    # Compiled as wholes: operation by operation, each net has some eighty compilations.
    loss = jax.jit(jax.value_and_grad(lambda p: squared_error(case, restore(p), data)))
    output = jax.jit(lambda row: case(params, row[None])[0])
    direction = rng.standard_normal(flat.size)
    value, gradient = loss(flat)
    step = 1e-6
    up, down = (loss(flat + sign * step * direction)[0] for sign in (1, -1))
    numeric = (up - down) / (2 * step)
    np.testing.assert_allclose(gradient @ direction, numeric, rtol=1e-6)
    brute = np.mean([np.sum((t - output(row)) ** 2) for row, t in zip(x, y, strict=True)])
    np.testing.assert_allclose(value, brute, rtol=1e-12)


@named(of_kind(Optimiser))
def test_optimiser_lowers_a_quadratic(case):
    setting = linear_setting(net=linear_units(4, 0.3), optimiser=case, steps=20)
    losses = train(setting)["loss"].values
    assert losses[-1] < losses[0]
    assert len(losses) == 21


@named(of_kind(Schedule))
def test_schedule_is_silent_as_long_as_it_promised(case):
    """`quiet` lets the driver run ahead without asking: the rule must not have acted meanwhile."""
    rng = np.random.default_rng(2)
    losses, cuts, lr, acted = [], [], 1.0, 0
    promised = case.quiet(0, cuts, lr)
    for tick in range(1, 200):
        losses.append(rng.random())
        asked = (lr, tick, losses[-1]) if case.every_step else (lr, losses, cuts)
        new = (case.after_step if case.every_step else case.after)(*asked)
        if new != lr:
            assert tick >= promised, f"acted after {tick} ticks, had promised silence up to {promised}"
            if window := case.window_at(lr):
                assert np.mean(losses[-window:]) >= np.mean(losses[-2 * window : -window])
            cuts, lr, acted = [*cuts, tick], new, acted + 1
        if tick >= promised or (cuts and cuts[-1] == tick):
            promised = tick + case.quiet(tick, cuts, lr)
            assert promised > tick
    assert acted > 3 or type(case).__name__ == "Constant"


@named(of_kind(StopRule))
def test_stop_rule_speaks(case):
    assert not case.reached(1.0, [1.0])
    assert case.reached(case.level / 2, [1.0, case.level / 2])
    assert not case.reached(1.0, [np.nan])
    assert case.quiet(1.0) >= 1
    assert case.watched_level == -np.inf or not case.reached(1.0, [case.watched_level])
    assert case.reason


@named(of_kind(WidthRule))
def test_width_rules_agree_on_plain_cases(case):
    e = np.eye(3)
    assert case(jnp.asarray(e[:1] * 2)) == 1
    assert case(jnp.asarray(np.vstack([e[0], e[1], 1e-6 * e[2]]))) == 2


LAYERS = (
    "ActivationEffect",
    "ActivationRanks",
    "BottleneckRanks",
    "LayerNorms",
    "StrongImbalance",
    "WeakBalance",
    "WeightRanks",
)


def setting_for(case):
    """One that this observable can read."""
    kind = type(case).__name__
    if kind in ("HeldOutLoss", "Accuracy"):
        return minibatch_setting(epochs=10)
    if kind in LAYERS:
        return image_setting()
    if kind in ("LearnedSamples",):
        return relu_setting(steps=10)
    units = kind in ("LearnedModes", "EffectiveWidth", "UnitNorms", "UnitDirections", "Balancedness")
    return linear_setting(net=linear_units(4, 0.3), steps=10) if units else random_feature_setting(epochs=10)


@named(of_kind(Observable))
def test_observable_reads_the_same_from_what_is_stored(case, monkeypatch):
    """A run reads many instants in one compiled call; what is stored is read one instant at a time."""
    monkeypatch.setattr("saddlescope.training.passed.LEAST_SAVES", 3)
    setting = setting_for(case)
    setting = setting.replace(engine=Jax()) if setting.engine == Fused() else setting  # it reads one at a time too
    run = train(setting, (case, Parameters()) if case.name != "param" else (case,), SaveAt((0, 1, 2, 4, 5)))
    again = observe_saved(run, case)
    for name in again.data_vars:
        assert again[name].dims == run[name].dims
        np.testing.assert_array_equal(again[name].values, run[name].values)


@named(of_kind(Observable))
def test_observable_has_the_axes_it_says(case):
    run = train(setting_for(case), case, SaveAt((0, 5)))
    found = [name for name in run.data_vars if str(name).startswith(case.name)]
    assert found
    for name in found:
        assert run[name].sizes["saved"] == 3
        assert np.isfinite(run[name].values).all()
        if case.axes:
            assert run[name].dims == ("saved", *case.axes)


@named(of_kind(Prediction))
def test_prediction_is_a_pure_function_of_the_setting(case):
    made = {OrthogonalPoints: relu_setting, QuadraticDrops: quadratic_setting, DeepLevels: deep_setting}
    made |= {PreservedRelation: silent_setting, RelaxedLevel: silent_setting}
    made |= dict.fromkeys((ConstantFit, CosineLevels, FrozenAt, SpikesByLayer), random_feature_setting)
    made |= {FlowTime: lambda: random_feature_setting(schedule=Constant())}
    made |= {QuadraticNextDrops: quadratic_setting}
    setting = made.get(type(case), linear_setting)()
    given = (setting, Run(train(setting, (Parameters(),), SaveAt((0,))))) if case.conditional else (setting,)
    first, second = case(*given), case(*given)
    for name, (axes, values) in first.items():
        assert np.ndim(values) == (1 if isinstance(axes, str) else len(axes))
        np.testing.assert_array_equal(values, second[name][1])


@named(of_kind(Setting))
def test_setting_trains_and_says_how_it_ended(case):
    run = train(case)
    assert str(run["status"].values) == "finished"
    points = case.budget + 1 if case.loss_axis == "step" else case.epochs
    assert run["loss"].size == points
    assert str(run["hash"].values) == case.hash
    assert Setting.from_json(str(run["setting"].values)).hash == case.hash


def test_float32_is_a_choice():
    run = train(minibatch_setting(precision="float32", epochs=5), ())
    other = train(minibatch_setting(epochs=5), ())
    gap = np.abs(run["loss"].values / other["loss"].values - 1)
    assert 1e-9 < gap.max() < 1e-3
