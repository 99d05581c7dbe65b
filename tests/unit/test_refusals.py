"""Parts that are made wrongly are refused in a sentence that says what to write."""

import pytest

import saddlescope
from saddlescope.errors import InvalidInput
from saddlescope.observables import EffectiveWidth, Observable
from saddlescope.optimisers import GradientDescent


class WithoutName(Observable):
    def __call__(self, snapshot):
        return 0.0


def test_a_rule_by_its_word_is_refused_with_the_rule():
    with pytest.raises(InvalidInput, match=r"write ByRays\(\)"):
        EffectiveWidth("rays")


def test_an_observable_needs_a_name():
    with pytest.raises(InvalidInput, match="WithoutName"):
        WithoutName()


@pytest.mark.parametrize("given", ["x", None, (1, 2)])
def test_a_learning_rate_is_a_number(given):
    with pytest.raises(InvalidInput, match="A number is expected"):
        GradientDescent(given)


def test_version():
    assert saddlescope.__version__[0].isdigit()
