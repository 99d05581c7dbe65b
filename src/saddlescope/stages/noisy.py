"""The stages of a curve with noise: gaps become falls, and what lies between them plateaus."""

from dataclasses import replace

import numpy as np

from saddlescope.stages.edges import edge_fall
from saddlescope.stages.gaps import Gap, find_gaps
from saddlescope.stages.level import Level
from saddlescope.stages.noise import Noise, blurred
from saddlescope.stages.plateaus import Stretch
from saddlescope.stages.value import Drop, Stages

NEAR = 3.0  # widths of a fall: how far away a plateau gives it its level


def noisy_stages(loss, time, clock, level: Level, grain, min_fall, prominence) -> Stages:
    """The stages of a curve without outliers. Rates are per unit of `clock`, which is the time or its logarithm."""
    noise = Noise(loss, level)
    gaps, weaker = find_gaps(loss, clock, level, noise, grain, min_fall, prominence)
    drops = [_drop(loss, time, clock, gap, "drop") for gap in gaps]
    shoulders = [_drop(loss, time, clock, gap, "shoulder")[0] for gap in weaker]
    falls, spans = [d for d, _ in drops], [span for _, span in drops]
    room = (spans[0][0] if spans else len(loss), len(loss) - (spans[-1][1] + 1 if spans else 0))
    begin = edge_fall(loss, clock, level, noise, room[0], min_fall, prominence)
    if begin is not None:
        falls.insert(0, _edge(loss, time, clock, 0, begin, "slope"))
        spans.insert(0, (0, begin))
    ending = edge_fall(loss[::-1], -clock[::-1], level, noise.reversed(), room[1], min_fall, prominence, sign=-1)
    if ending is not None:
        last = len(loss) - 1 - ending
        falls.append(_edge(loss, time, clock, last, len(loss) - 1, "unfinished"))
        spans.append((last, len(loss) - 1))
    plateaus, trends = [], []  # one before, between and after the falls; None where there is none
    for i, (ends, tails) in enumerate(_between(spans, len(loss))):
        if (begin is not None and i == 0) or (ending is not None and i == len(spans)):
            plateaus.append(None)
            continue
        stretch = Stretch(loss, time, level, *ends, noise, min_fall, tails)
        plateau, beside = stretch.plateau(stretch.flattest())
        plateaus.append(_with_flatness(plateau, falls[max(i - 1, 0) : i + 1], clock))
        trends.extend(beside)
    falls = [_with_levels(d, *plateaus[i : i + 2]) for i, d in enumerate(falls)]
    everything = tuple(sorted(falls + shoulders, key=lambda d: d.at))
    flat = tuple(p for p in plateaus if p is not None)
    return Stages(everything, flat, trends=tuple(trends), noise=float(np.median(noise.table[0])))


def _drop(loss, time, clock, gap: Gap, kind) -> tuple[Drop, tuple[int, int]]:
    """A fall where the smoothed curve has done a tenth to nine tenths of it, fastest in between; and its two ends."""
    a, b = max(gap.first - gap.flank, 0), min(gap.last + gap.flank, len(loss) - 1)
    before, after = float(np.mean(loss[a : gap.first + 1])), float(np.mean(loss[gap.last : b + 1]))
    part = blurred(loss[a : b + 1], max(1.0, ((gap.last - gap.first) / 2 + gap.flank / 6) / 3))
    middle = gap.at - a
    done = (before - part) / max(before - after, 1e-300)
    start = np.flatnonzero(done[: middle + 1] <= 0.1)
    start = int(start[-1]) if start.size else 0
    end = np.flatnonzero(done[max(middle, start + 1) :] >= 0.9)
    end = max(middle, start + 1) + int(end[0]) if end.size else len(part) - 1
    step = -np.diff(part[start : end + 1]) / np.diff(clock[a + start : a + end + 1])
    at = a + start + int(np.argmax(step))
    when = float(np.interp(0.5 * (clock[at] + clock[at + 1]), clock[at : at + 2], time[at : at + 2]))
    span = a + start, a + end
    return Drop(float(time[span[0]]), float(time[span[1]]), when, before, after, float(step.max()), kind,
                gap.deviations), span  # fmt: skip


def _edge(loss, time, clock, a, b, kind) -> Drop:
    """The fall that the curve begins with, or ends in."""
    few = max(1, (b - a) // 8)
    before, after = float(np.mean(loss[a : a + few])), float(np.mean(loss[b + 1 - few : b + 1]))
    rate = (before - after) / max(clock[b] - clock[a], 1e-300)
    return Drop(float(time[a]), float(time[b]), float(time[(a + b) // 2]), before, after, float(rate), kind)


def _between(spans, n):
    """The first and the last point of every stretch between falls, and how far the tails of those may reach into it."""
    ends = [0, *(i for span in spans for i in span), n - 1]
    tails = [0, *(b - a for a, b in spans), 0]
    for i in range(len(spans) + 1):
        a, b = ends[2 * i : 2 * i + 2]
        yield (a, max(b, min(a + 1, n - 1))), (tails[i], tails[i + 1])


def _with_flatness(plateau, falls, clock):
    """The slope of a plateau over the rates of the falls beside it; without any, how far it moves."""
    near = [d.rate for d in falls if d.rate > 0]
    if near:
        flatness = max(0.0, -plateau.slope[0]) / float(np.exp(np.mean(np.log(near))))
    else:
        flatness = abs(plateau.slope[0]) * float(clock[-1] - clock[0]) / max(abs(plateau.level), 1e-300)
    return replace(plateau, flatness=flatness)


def _with_levels(fall, before, after):
    """A fall from the level of the plateau before it to that of the one after, where those are near: no further than
    three times the width of the fall."""
    near = NEAR * (fall.end - fall.start)
    if before is not None and fall.start - before.end <= near:
        fall = replace(fall, before=before.level)
    if after is not None and after.start - fall.end <= near:
        fall = replace(fall, after=after.level)
    return fall
