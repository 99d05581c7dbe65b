"""Levels of deep nets by the widths of their layers: against closed forms."""

import numpy as np
import pytest
from cases import linear_setting

from saddlescope.errors import InvalidInput
from saddlescope.nets import DeepUnits, Identity, Neuron
from saddlescope.papers.simplicity import fig5
from saddlescope.theory import DeepLevels


def levels(panel, *widths, tries=20):
    found = DeepLevels(widths, tries)(fig5.setting(panel, 0, fig5.SAMPLES, 1))
    return found["plateau_level"][1]


def test_a_deep_linear_net_has_the_levels_of_two_layers():
    """W* = I, Σ_xx = (1 1; 1 4): what is left of its two eigenvalues, (5 ± √13) / 2."""
    np.testing.assert_allclose(levels("A", (1, 1), (2, 2), tries=4), [5, (5 - 13**0.5) / 2, 0], atol=1e-9)


def test_which_layer_recruits_is_told_by_the_level():
    """Four points, of which x₃ holds 0.4 of the loss and each other 0.2; the taps of x₁ and x₃ are one kernel's. One
    ray with one unit behind it fits x₃ alone; a second unit behind it fits x₁ as well; a second ray does not."""
    np.testing.assert_allclose(levels("D", (1, 1), (1, 2)), [1, 0.6, 0.4], atol=1e-9)
    np.testing.assert_allclose(levels("D", (2, 1)), [1, 0.6], atol=1e-9)


@pytest.mark.parametrize("wrong", [(), ((0, 1),), ((1, 1.5),)])
def test_widths_are_positive_whole_numbers(wrong):
    with pytest.raises(InvalidInput, match="widths"):
        DeepLevels(wrong)


def test_a_width_for_each_layer():
    setting = linear_setting(net=DeepUnits(4, Neuron(Identity()), (3, 3), 0.1))
    with pytest.raises(InvalidInput, match="Give 3 widths"):
        DeepLevels(((1, 1),))(setting)


def test_of_deep_nets_alone():
    with pytest.raises(InvalidInput, match="deep nets"):
        DeepLevels()(linear_setting())


def test_a_level_says_how_many_starts_found_it():
    """Of a linear net every start ends at the least loss; of ReLUs few do, and more starts can only lower the level."""
    found = DeepLevels(((1, 1),), 4)(fig5.setting("A", 0, fig5.SAMPLES, 1))
    assert list(found["times_found"][1]) == [4, 4]
    few, many = (DeepLevels(((1, 2),), tries)(fig5.setting("D", 0, fig5.SAMPLES, 1)) for tries in (3, 20))
    assert many["plateau_level"][1][-1] <= few["plateau_level"][1][-1]
    assert 1 <= many["times_found"][1][-1] < 20
