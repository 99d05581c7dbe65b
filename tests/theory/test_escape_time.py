"""When the next drop comes, from zero weights of a linear net, against descent written out; ties are told."""

import warnings

import numpy as np
import pytest
from theory.descent import descend_linear, fastest_falls, linear_setting

from saddlescope.theory import escape_steps
from saddlescope.theory.escape_time import NearTie

EYE = ((1, 0), (0, 1))


def said_and_measured(second):
    """The first drop of a net whose second singular value is this share of the first, said and measured."""
    setting = linear_setting(((1, 0), (0, second)), EYE, lr=0.01, steps=1500)
    start = setting.initial_params()
    zero = {name: 0 * w for name, w in start.items()}
    said = escape_steps(setting.net, start, zero, setting.statistics(), 0.01, 1.0)[0]
    return said, fastest_falls(descend_linear(setting)[0])[0]


def test_a_mode_that_grows_alone_drops_when_said():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        said, measured = said_and_measured(0.7)
    assert said == pytest.approx(measured, rel=3e-3)


def test_modes_that_nearly_tie_are_told():
    with pytest.warns(NearTie, match="grow nearly together"):
        said, measured = said_and_measured(0.95)
    assert np.isfinite(said)
    assert said < measured
