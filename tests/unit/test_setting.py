"""A setting refuses what cannot be run, in one sentence."""

import numpy as np
import pytest
from cases import COVARIANCE, TEACHER, linear_setting, minibatch_setting, relu_setting

from saddlescope.errors import InvalidInput
from saddlescope.nets import Neuron, ReLU, Units, linear_units
from saddlescope.observables import ByRays
from saddlescope.optimisers import Adam, GradientDescent, GradientFlow, HalveOnStagnation, LossBelow, StepDecay
from saddlescope.setting import Setting
from saddlescope.tasks import LinearTeacher, Points, cosine

REFUSED = {
    "negative width": (lambda: linear_units(-3, 1e-6), "`units`, the width, must be a positive whole number; got -3"),
    "fraction of a unit": (lambda: Units(2.5, Neuron(ReLU()), 1e-6), "positive whole number"),
    "no scale": (lambda: linear_units(3, 0), "`scale`.* must be positive"),
    "lr 0": (lambda: GradientDescent(0), "learning rate, must be positive and finite; got 0"),
    "negative lr": (lambda: Adam(-1e-3), "must be positive"),
    "momentum 1": (lambda: GradientDescent(0.1, momentum=1.0), r"momentum` must lie in \[0, 1\)"),
    "clip 0": (lambda: GradientDescent(0.1, clip=0.0), "`clip`"),
    "adam b2": (lambda: Adam(0.1, b2=1.0), "`b1` and `b2`"),
    "tolerance": (lambda: GradientFlow(0.1, rtol=0), "Tolerances must be positive"),
    "patience": (lambda: HalveOnStagnation(10, 15), "at least 2 × `window`"),
    "decay": (lambda: StepDecay(0.9, 0), "`every` must be a positive"),
    "stop level": (lambda: LossBelow(0), "must be positive"),
    "cosine": (lambda: ByRays(cosine=1.0), "between 0 and 1"),
    "ragged matrix": (lambda: LinearTeacher(((1, 0), (1,)), COVARIANCE), "rows of finite numbers of one length"),
    "text matrix": (lambda: LinearTeacher("ab", COVARIANCE), "rows of finite numbers"),
    "shapes": (lambda: LinearTeacher(((1, 0, 0),), COVARIANCE), "must be 3 × 3"),
    "dead direction": (lambda: LinearTeacher(((1, 0),), ((1, 1), (1, 1))), "positive definite"),
    "no samples": (lambda: LinearTeacher(((1, 0),), COVARIANCE, 0), "`samples` must be a positive whole number"),
    "points": (lambda: Points(((1, 0),), ((1,), (2,))), "one target for each input"),
    "aliased": (lambda: cosine(10, 16), "give the task `allow_aliasing=True`"),
    "population of samples": (lambda: relu_setting(task=TEACHER), "give it `samples`"),
    "population unreduced": (lambda: linear_setting(train_on_moments=False), "give it `samples`"),
    "batch of a population": (lambda: linear_setting(batch=4, steps=None, epochs=3), "give it `samples`"),
    "batch too large": (lambda: minibatch_setting(batch=31), "between 1 and the task's 30 samples, got 31"),
    "batch 0": (lambda: minibatch_setting(batch=0), "between 1 and"),
    "flow in batches": (lambda: minibatch_setting(optimiser=GradientFlow(0.1)), "leave `batch` out"),
    "steps and epochs": (lambda: minibatch_setting(steps=10), "Give the budget once"),
    "both budgets": (lambda: linear_setting(steps=3, epochs=4), "Give the budget once"),
    "no budget": (
        lambda: linear_setting(steps=0),
        "`steps` must be a positive whole number, at most 1,000,000,000; got 0",
    ),
    "seed": (lambda: linear_setting(seed=-1), "`seed` must be a non-negative whole number below 2⁶³, got -1"),
    "precision": (lambda: linear_setting(precision="float16"), "'float32' or 'float64', got 'float16'"),
    "infinite lr": (lambda: GradientDescent(float("inf")), "positive and finite"),
    "nan in a matrix": (lambda: Points(((float("nan"), 0),), ((1,),)), "rows of finite numbers"),
    "activation": (lambda: Units(3, Neuron("tanh"), 1.0), "must be one of saddlescope.nets"),
    "fraction of a batch": (lambda: minibatch_setting(batch=2.5), "between 1 and"),
    "stop": (lambda: linear_setting(stop=("x",)), "takes stop rules"),
    "two budgets": (lambda: linear_setting(steps=300, budget=5), "Give the budget once"),
    "fraction of a tick": (lambda: StepDecay(0.5, 2.5), "`every` must be a positive"),
    "true steps": (lambda: linear_setting(steps=True), "at most 1,000,000,000; got True"),
    "kind": (lambda: linear_setting(net=GradientDescent(0.1)), "`net` must be a Net, got GradientDescent"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_a_sentence(name):
    make, sentence = REFUSED[name]
    with pytest.raises(InvalidInput, match=sentence) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_three_seeds_default_to_one():
    setting = linear_setting(seed=5)
    assert (setting.data_seed, setting.init_seed, setting.batch_seed) == (5, 5, 5)
    other = linear_setting(seed=5, init_seed=7)
    assert (other.data_seed, other.init_seed, other.batch_seed) == (5, 7, 5)


def test_numbers_of_numpy_and_of_python_are_the_same_setting():
    a = linear_setting(net=linear_units(50, 1e-6), optimiser=GradientDescent(1, momentum=0, clip=1), seed=3)
    net = linear_units(np.int64(50), np.float64(1e-6))
    b = linear_setting(net=net, optimiser=GradientDescent(np.float64(1), 0.0, np.float32(1)), seed=np.int32(3))
    assert a.hash == b.hash
    assert linear_setting(optimiser=GradientDescent(0.1)).hash != linear_setting(optimiser=GradientDescent(0.2)).hash


def test_streams_of_one_seed_are_not_the_same_numbers():
    setting = minibatch_setting(seed=5)
    draws = [setting.rng(stream).standard_normal() for stream in range(3)]
    assert len(set(draws)) == 3
    assert setting.permutation(0).tolist() != setting.permutation(1).tolist()
    assert sorted(setting.permutation(9)) == list(range(30))


def test_a_misspelt_field_is_pythons_own_error():
    with pytest.raises(TypeError, match="optimizer"):
        Setting(task=TEACHER, net=linear_units(3, 0.1), optimizer=GradientDescent(0.1), steps=3)  # type: ignore[call-arg]


def test_another_budget_is_given_as_steps_or_as_budget():
    assert linear_setting(steps=300).replace(steps=500).hash == linear_setting(steps=500).hash
    assert linear_setting(steps=300).replace(budget=500).hash == linear_setting(steps=500).hash
