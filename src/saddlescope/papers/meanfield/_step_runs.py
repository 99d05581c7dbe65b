"""What is read off a flow on the two-sided step: Theorem 3.1's series, winners, angles."""

from itertools import permutations

import numpy as np

from saddlescope.theory.meanfield.log_ratio import intervals, log_ratio
from saddlescope.theory.meanfield.superposition import superpose

QUIET = 0.05  # of the largest channel: below it a log-ratio changes too fast for saved times
LEARNT = 0.01  # of the first loss: learning is over
TURNS = 4000
PLACES = np.linspace(-1, 1, 101)


def read_step(net, flow, seed):
    """All numbers of one net."""
    data = flow.data
    times, loss = data.time.values, data.loss.values
    f, B = data.channels.values[:, 0], data.B.values[:, :, 0]
    d = data.output.values[:, :, 0] - net.limit.measure.y[:, 0]
    features = net.features(net.limit.measure.x)
    kernel = features @ features.T / net.width
    weights = net.limit.measure.weights
    rank = f.shape[2]
    series = {
        (p, pair): log_ratio(f, d, B, kernel, weights, p, pair) for p in (0, 1) for pair in permutations(range(rank), 2)
    }
    over = np.flatnonzero(loss < LEARNT * loss[0])
    learning = np.arange(len(times)) < (over[0] if len(over) else len(times))
    order = np.argsort(-np.abs(f[-1, 0]))
    return {
        **_theorem(series, f, times),
        **_hypotheses(series[0, (order[0], order[1])], d, learning),
        **_winners(f, B, loss, seed),
        "spike_at": _peak(net, flow, order[0]),
        "cross_kernel": float(kernel[0, 1]),
        "on_floor": float(data.attrs["on_floor"]),
        "loss_end": float(loss[-1] / loss[0]),
        "learns_until": float(times[learning][-1]),
        "ratio": ("time", series[0, (0, 1)].value[::4]),
        "moment": ("time", times[::4]),
    }


def _scale(s):
    return np.abs(s.rate) + np.abs(s.remainder) + np.abs(s.leading) + 1e-300


def _theorem(series, f, times):
    """The inequality, the equality, the printed equality, and leads that are lost, over all pairs."""
    worst, worst_printed, unequal, held, wrong, lost, kept = 0.0, 0.0, 0.0, 0, 0, 0, 0
    favourable, counted, printed, off, rises = 0, 0, [], [], []
    for (point, pair), s in series.items():
        share, right, said = s.slack / _scale(s), s.right_hypotheses, s.hypotheses
        worst = min(worst, share[right].min(initial=0.0))
        worst_printed = min(worst_printed, share[said].min(initial=0.0))
        equal = right & (s.coherent == s.other_coherent)
        unequal = max(unequal, np.abs(share[equal]).max(initial=0.0))
        strong = said & ((1 - s.rho) * s.leading > np.abs(s.remainder))
        held, wrong = held + strong.sum(), wrong + (s.rate[strong] < 0).sum()
        quiet = np.abs(f[:, point][:, pair]).min(axis=1) > QUIET * np.abs(f[:, point]).max()
        off.append(np.abs(_beyond(s.value, s.rate, times))[_three(quiet)].max(initial=0.0))
        rises.append(_beyond(s.value, s.least_rate, times)[_three(quiet & said)].min(initial=0.0))
        if point == 0:
            favourable += (s.remainder[said] > 0).sum()
            counted += said.sum()
            found = intervals(said)
            leads = [i for i in found if s.value[i][0] > 0]
            lost += sum(_is_lost(s.value[i], s.rate[i], times[i]) for i in leads)
            kept += len(leads)
            printed += [_printed_gap(s, i) for i in found if i.stop - i.start > 10]
    return {
        "worst": float(worst),
        "worst_printed": float(worst_printed),
        "unequal": float(unequal),
        "dominated": int(held),
        "dominated_wrong": int(wrong),
        "rate_gap": float(np.max(off)),
        "least_rise": float(np.min(rises)),
        "printed_gap": float(np.median(printed)) if printed else -1.0,
        "leads": int(kept),
        "leads_lost": int(lost),
        "held": int(counted),
        "favourable": int(favourable),
    }


def _is_lost(ratio, rate, times):
    """Whether R ends below 0, and by the integral of its rate too, to a tenth of the change.

    Between saved times a channel may have crossed 0, or the flow a kink: then the integral is another."""
    change = ratio[-1] - ratio[0]
    said = np.sum((rate[1:] + rate[:-1]) / 2 * np.diff(times))
    return ratio[-1] < 0 and abs(said - change) < 0.1 * abs(change)


def _printed_gap(s, where):
    """How far the printed equality is off on an interval, with the smallest constant ρ₀ there."""
    gap = s.printed_gap(s.rho[where].max())[where]
    return np.abs(gap).max() / np.abs((s.rate - s.remainder)[where]).max()


def _beyond(value, rate, times):
    """R's change over two saved steps, less the integral of a rate by Simpson's rule."""
    said = (rate[:-2] + 4 * rate[1:-1] + rate[2:]) * (times[1] - times[0]) / 3
    return value[2:] - value[:-2] - said


def _three(flags):
    """Where three saved times in a row are flagged."""
    return flags[:-2] & flags[1:-1] & flags[2:]


def _hypotheses(s, d, learning):
    """Shares of the learning time, for the channel that wins at x₀ against the second."""
    return {
        "under": float((d[learning, 0] <= 0).mean()),
        "under_other": float((d[learning, 1] <= 0).mean()),
        "coherent": float(s.coherent[learning].mean()),
        "dominant": float(s.dominant[learning].mean()),
        "all_three": float(s.hypotheses[learning].mean()),
        "gain": float(s.value[-1] - s.value[0]),
        "largest_remainder": float(np.abs(s.remainder[learning]).max()),
    }


def _winners(f, B, loss, seed):
    size, half = np.abs(f), int(np.argmax(loss < 0.5 * loss[0]))
    first, last = size[0].argmax(axis=1), size[-1].argmax(axis=1)
    named = np.abs(B[half, 0] / f[half, 0]).argmax()
    units = f[-1] / np.linalg.norm(f[-1], axis=1, keepdims=True)
    angle = float(np.arccos(np.clip(units[0] @ units[1], -1, 1)))
    return {
        "distinct": int(last[0] != last[1]),
        "chance": chance_of_distinct(angle, f.shape[2], seed),
        "angle": np.degrees(angle),
        "kept_lead": int(first[0] == last[0]),
        "named": int(named == last[0]),
        "largest_signal": int(np.abs(B[-1, 0]).argmax() == last[0]),
        "balanced": int(size[0, 0].max() < 2 * size[0, 0].min()),
    }


def chance_of_distinct(angle, rank, seed):
    """How often two vectors at this angle have different largest coordinates, turned at random."""
    rng = np.random.default_rng(seed)
    one, two = rng.standard_normal((2, TURNS, rank))
    one /= np.linalg.norm(one, axis=1, keepdims=True)
    two -= (one * two).sum(axis=1, keepdims=True) * one
    two /= np.linalg.norm(two, axis=1, keepdims=True)
    other = np.cos(angle) * one + np.sin(angle) * two
    return float(np.mean(np.abs(one).argmax(axis=1) != np.abs(other).argmax(axis=1)))


def _peak(net, flow, channel):
    """Where |f_k(T, x)| is largest on [−1, 1], for the channel that wins at x₀."""
    return float(PLACES[np.abs(channel_shape(net, flow, channel)[-1]).argmax()])


def channel_shape(net, flow, channel):
    """f_k(t, x) on PLACES at every saved time, by Γ."""
    there, here = net.features(PLACES[:, None]), net.features(net.limit.measure.x)
    start = there @ net.start[0] / net.width
    return superpose(start, there @ here.T / net.width, flow.data.Gamma.values)[:, :, channel]
