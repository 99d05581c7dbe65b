"""The reduced equations of rank one against the package's nets, and a channel that its kink holds."""

import numpy as np
import pytest

from saddlescope.meanfield import Measure, meanfield
from saddlescope.meanfield.laws import StartLaw, UniformMixing
from saddlescope.nets.activation import LeakyReLU
from saddlescope.papers.meanfield._rank_one import follow, of_limit, of_net


def held_limit():
    data = Measure([-0.5, 0.5], [1.0, -1.0], [0.75, 0.25])
    start = (StartLaw(0.5, 0, 1), StartLaw(1, 0, 1))
    return meanfield(data, 1, 1, LeakyReLU(0.1), mixing=UniformMixing(), start=start)


def test_reduced_equations_are_those_of_the_net():
    net = held_limit().net(64, 3)
    reduced, state = of_net(net)
    system, start = net.system()
    gamma, (w,) = system.velocity(0.0, start)
    L, f = net.frozen[1][:, 0], reduced.velocity(state)
    moved = [np.sum((np.asarray(w)[:, 0] * np.abs(L))[side]) / 64 for side in (L > 0, L <= 0)]
    assert np.allclose(f[2:], moved, atol=1e-14)
    assert np.allclose(f[:2], -np.asarray(system.kernel @ gamma)[:, 0], atol=1e-14)
    assert reduced.loss(state) == pytest.approx(float(system.loss(start)), abs=1e-14)


def test_the_kink_holds_the_channel_of_the_limit():
    system, start = of_limit(held_limit())
    course = follow(system, start, 200.0)
    assert course.held == 1
    assert abs(course.states[-1, 1]) < 1e-12
    assert system.loss(course.states[-1]) == pytest.approx(0.125, abs=1e-9)
    assert system.attracts(course.states[-1], 1)


def test_without_contradiction_nothing_is_held():
    system, start = of_limit(held_limit())
    course = follow(system._replace(targets=np.array([1.0, 0.5])), start, 400.0)
    assert course.held == -1
    assert system._replace(targets=np.array([1.0, 0.5])).loss(course.states[-1]) < 1e-6
