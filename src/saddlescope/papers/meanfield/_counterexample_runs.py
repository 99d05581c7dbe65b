"""What `counterexamples` follows: the exact limit of each kind, and a net beside it."""

from functools import cache

import numpy as np

from saddlescope.meanfield.by_nodes import system_of
from saddlescope.meanfield.following import follow_system
from saddlescope.papers.meanfield._kinds import KINDS, assumptions, meets_all, zero_loss
from saddlescope.papers.meanfield._rank_one import follow, of_limit, of_net

TIMES = 201


def by_rank_one(system, start, times):
    course = follow(system, start, times[-1])
    states = np.stack([np.interp(times, course.times, c) for c in course.states.T], axis=1)
    end = course.states[-1]
    rate = system.velocity(end, None if course.held < 0 else course.held)
    slopes = np.array(system.sides(end)) if course.held >= 0 else np.where(end[:2] > 0, *system.sides(end))
    return {
        "loss": np.array([system.loss(s) for s in states]),
        "reach": np.abs(states[:, :2]).max(axis=1),
        "speed": float(np.abs(rate).max()),
        "signal": float(np.abs(slopes).max()),
        "held": course.held >= 0 and bool(system.attracts(end, course.held)),
    }


def by_nodes(system, start, times):
    course = follow_system(system, start, times, rtol=1e-7)
    return {
        "loss": course.loss,
        "reach": np.abs(course.channels[0]).max(axis=(1, 2)),
        "speed": float(course.speed[-1]),
        "signal": float(np.abs(course.slopes[-1]).max()),
        "held": False,
    }


def reduces(limit):
    return limit.kinked and not limit.mixing.has_bias


@cache
def limit_of(kind):
    limit, T, _ = KINDS[kind]
    times = np.linspace(0, T, TIMES)
    if reduces(limit):
        return by_rank_one(*of_limit(limit), times)
    nodes = limit.mixing.nodes(1, 24, limit.kinked)
    return by_nodes(*system_of(limit, [nodes]), times)


def measure(kind, width, seed):
    limit, T, _ = KINDS[kind]
    times, exact, net = np.linspace(0, T, TIMES), limit_of(kind), limit.net(width, seed)
    found = by_rank_one(*of_net(net), times) if reduces(limit) else by_nodes(*net.system(), times)
    met = assumptions(limit, exact["loss"][0], exact["speed"], growth(exact["reach"]))
    return {
        "time": ("instant", times),
        "limit_loss": ("instant", exact["loss"]),
        "net_loss": ("instant", found["loss"]),
        "limit_first": float(exact["loss"][0]),
        "limit_end": float(exact["loss"][-1]),
        "limit_change": float(np.ptp(exact["loss"])),
        "largest_reach": float(exact["reach"].max()),
        "reach_growth": growth(exact["reach"]),
        "limit_speed": exact["speed"],
        "limit_signal": exact["signal"],
        "limit_held": exact["held"],
        "zero_loss": zero_loss(limit),
        "net_end": float(found["loss"][-1]),
        "net_held": found["held"],
        "met": ("assumption", np.array(list(met.values()))),
        "meets_all": meets_all(met),
    }


def growth(reach):
    """By how much the largest channel so far grows in the second half of the time."""
    return float(reach.max() - reach[: TIMES // 2].max())
