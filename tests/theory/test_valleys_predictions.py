"""Predictions for the valleys paper, against descent, rules and fits that are written out here."""

import numpy as np
import pytest
from cases import linear_setting, minibatch_setting, random_feature_setting
from hypothesis import given, settings
from hypothesis import strategies as st

from saddlescope.errors import InvalidInput
from saddlescope.nets import low_rank
from saddlescope.optimisers import (
    Adam,
    Constant,
    GradientDescent,
    HalveOnStagnation,
    LearningRateBelow,
)
from saddlescope.tasks import ArrayTask, Cosines, Points, cosine_sum
from saddlescope.theory import ConstantFit, CosineLevels, FlowTime, FrozenAt, SpikesByLayer

# ---- ConstantFit ----


def constant_by_descent(y, batch, clip, epochs=3000):
    """Where minibatch descent of a single number ends: the mean over its last epochs.

    A clipped step is 0.002 long at most, so that the way of about 1 is done in a few hundred steps.
    """
    rng, c, path, lr = np.random.default_rng(0), 0.0, [], 2e-3 / min(clip, 1)
    for epoch in range(epochs):
        for rows in np.array_split(rng.permutation(len(y)), len(y) // batch):
            g = -2 * np.mean(y[rows] - c)
            c -= lr * g * min(1, clip / max(abs(g), 1e-300))
        path += [c] * (epoch > epochs / 2)
    return np.mean(path)


@pytest.mark.parametrize(("batch", "clip"), [(1, 1e-2), (1, None), (20, None), (20, 1e-2)])
def test_descent_of_a_constant_ends_where_it_is_said_to(batch, clip):
    y = np.random.default_rng(1).exponential(size=20)  # mean and median far apart
    setting = minibatch_setting(
        task=ArrayTask(np.linspace(-1, 1, 20), y),
        optimiser=GradientDescent(0.01, clip=clip),
        batch=batch,
    )
    found = ConstantFit()(setting)
    apart = abs(found["mean"][1] - found["median"][1])
    ended = constant_by_descent(y, batch, clip or np.inf)
    assert abs(ended - found["level"][1]) < 0.15 * apart
    loss = np.mean((y - found["level"][1]) ** 2)
    np.testing.assert_allclose(found["plateau_level"][1], [loss], rtol=1e-14)


def test_a_constant_of_two_outputs_a_population_or_adam_is_refused():
    two = Points(((1, 0.5), (-1, 2)), ((1, 0), (-1, 0)))
    for given_parts in (dict(task=two), {}):
        with pytest.raises(InvalidInput, match="one output"):
            ConstantFit()(linear_setting(**given_parts))
    with pytest.raises(InvalidInput, match="gradient descent"):
        ConstantFit()(minibatch_setting(optimiser=Adam(1e-3)))


# ---- CosineLevels ----


def levels(task):
    found = CosineLevels()(random_feature_setting(task=task))
    return found["plateau_level"][1], found["drops"][1]


def test_levels_tend_to_half_the_power_that_is_left():
    """On a grid of N samples, ends included, at first order in 1/N."""
    sizes = np.array([101, 201, 401, 801])
    said = [levels(cosine_sum(3, int(n))) for n in sizes]
    assert all(drops == 3 for _, drops in said)
    gaps = np.array([np.abs(level - [1.5, 1, 0.5, 0]).max() for level, _ in said])
    assert np.polyfit(np.log(sizes), np.log(gaps), 1)[0] == pytest.approx(-1, abs=0.05)


def test_amplitudes_phases_and_the_order_of_frequencies():
    task = Cosines((3, 1), 20_001, phases=(0.3, 0.7), amplitudes=(2, 1))
    np.testing.assert_allclose(levels(task)[0], [2.5, 2, 0], atol=1e-3)  # the slow one is first


def test_other_targets_are_refused():
    with pytest.raises(InvalidInput, match="sums of cosines"):
        CosineLevels()(linear_setting())


# ---- FlowTime ----


def escape_epochs(lr, batch, samples=64):
    """Epochs until a single unit, L = (1 - uv)², has learned half, on samples without noise."""
    u, steps = 0.01, 0
    while u * u < 0.5:
        u, steps = u + 2 * lr * (1 - u * u) * u, steps + 1
    return steps, steps / (samples / batch)


def test_exponents_are_those_of_a_run_without_noise():
    grid = [(lr, batch) for lr in (1e-3, 5e-4, 2.5e-4) for batch in (1, 4, 16)]
    times = np.log([escape_epochs(*point) for point in grid])
    factors = np.column_stack([np.log(grid), np.ones(len(grid))])
    (lr_steps, lr_epochs), (bs_steps, bs_epochs), _ = np.linalg.lstsq(factors, times, rcond=None)[0]
    said = FlowTime()(random_feature_setting(schedule=Constant()))
    measured = dict(
        lr_exponent_steps=lr_steps,
        bs_exponent_steps=bs_steps,
        lr_exponent_epochs=lr_epochs,
        bs_exponent_epochs=bs_epochs,
    )
    for name, value in measured.items():
        assert value == pytest.approx(said[name][1], abs=0.01)


def test_a_schedule_momentum_and_full_batch_have_no_flow_time():
    momentum = GradientDescent(0.01, momentum=0.9)
    for setting in (
        random_feature_setting(),
        random_feature_setting(schedule=Constant(), optimiser=momentum),
        linear_setting(),
    ):
        with pytest.raises(InvalidInput, match="minibatch descent"):
            FlowTime()(setting)


# ---- FrozenAt ----


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.integers(1, 6), st.integers(0, 9), st.floats(1e-4, 10), st.floats(1e-6, 1e-3))
def test_a_flat_loss_is_frozen_at_the_said_epoch(window, more, lr, level):
    """The rule itself on a loss that never falls."""
    rule = HalveOnStagnation(window, 2 * window + more)
    stop, losses, cuts, now = LearningRateBelow(level), [], [], lr
    while not stop.reached(now, losses or [1.0]) or not losses:
        losses.append(1.0)
        new = rule.after(now, losses, cuts)
        cuts, now = (cuts if new == now else [*cuts, len(losses)]), new
    setting = random_feature_setting(optimiser=GradientDescent(lr), schedule=rule, stop=stop)
    said = {name: value for name, (_, value) in FrozenAt()(setting).items()}
    assert (said["cuts"], said["epochs"]) == (len(cuts), len(losses))
    if cuts:
        assert said["first_cut"] == cuts[0]
        assert set(np.diff(cuts)) <= {said["cut_distance"]}


def test_the_valleys_paper_freezes_after_281_epochs():
    setting = random_feature_setting(optimiser=GradientDescent(0.01, clip=1.0))
    said = FrozenAt()(setting)
    assert (said["cuts"][1], said["epochs"][1]) == (14, 281)


def test_another_schedule_is_never_frozen():
    for changes in (dict(schedule=Constant()), dict(stop=())):
        with pytest.raises(InvalidInput, match="HalveOnStagnation"):
            FrozenAt()(random_feature_setting(**changes))


# ---- SpikesByLayer ----


def test_two_spikes_more_in_every_hidden_layer():
    axes, spikes = SpikesByLayer()(random_feature_setting(net=low_rank(3, 4, 20)))["spikes"]
    assert axes == "block"
    np.testing.assert_array_equal(spikes, [2, 4, 6, 8])
    with pytest.raises(InvalidInput, match="random-feature nets"):
        SpikesByLayer()(minibatch_setting())
