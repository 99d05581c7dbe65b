"""The stages of a curve with noise: gaps become falls, and what lies between them plateaus."""

from dataclasses import replace

import numpy as np

from saddlescope.stages.gaps import Flanks, Gap, edge_fall, find_gaps
from saddlescope.stages.noise import Noise, blurred
from saddlescope.stages.plateaus import Stretch
from saddlescope.stages.value import Drop, Stages

NEAR = 3.0  # widths of a fall: how far away a plateau gives it its level


def noisy_stages(loss, time, grain, min_fall, prominence) -> Stages:
    """The stages of a curve without outliers, at evenly spaced times or in order of its points."""
    noise, flanks = Noise(loss), Flanks(loss)
    gaps, more = find_gaps(flanks, noise, grain, min_fall, prominence)
    drops = [_drop(loss, time, gap, "drop") for gap in gaps]
    shoulders = [_drop(loss, time, gap, "shoulder")[0] for gap in more]
    falls, spans = [d for d, _ in drops], [span for _, span in drops]
    room = (spans[0][0] if spans else len(loss), len(loss) - (spans[-1][1] + 1 if spans else 0))
    begin = edge_fall(flanks, noise, room[0], min_fall, prominence)
    if begin is not None:
        falls.insert(0, _edge(loss, time, 0, begin, "slope"))
        spans.insert(0, (0, begin))
    ending = edge_fall(Flanks(loss[::-1]), noise.reversed(), room[1], min_fall, prominence, sign=-1)
    if ending is not None:
        last = len(loss) - 1 - ending
        falls.append(_edge(loss, time, last, len(loss) - 1, "unfinished"))
        spans.append((last, len(loss) - 1))
    inner = slice(begin is not None, -1 if ending is not None else None)
    plateaus, trends = _plateaus(flanks, time, spans, inner, noise, min_fall)
    plateaus = _with_flatness(plateaus, falls, time)
    falls = _with_levels(falls, plateaus)
    everything = tuple(sorted(falls + shoulders, key=lambda d: d.at))
    share = float(np.median(noise.table[0]))
    return Stages(everything, tuple(plateaus), trends=tuple(trends), noise=share)


def _drop(loss, time, gap: Gap, kind) -> tuple[Drop, tuple[int, int]]:
    """A fall where the smoothed curve has done a tenth to nine tenths of it, fastest in between; and its two ends."""
    a, b = max(gap.first - gap.flank, 0), min(gap.last + gap.flank, len(loss) - 1)
    before, after = float(np.mean(loss[a : gap.first + 1])), float(np.mean(loss[gap.last : b + 1]))
    part = blurred(loss[a : b + 1], max(1.0, (gap.half + gap.flank / 6) / 3))
    middle = gap.at - a
    done = (before - part) / max(before - after, 1e-300)
    start = np.flatnonzero(done[: middle + 1] <= 0.1)
    start = int(start[-1]) if start.size else 0
    end = np.flatnonzero(done[max(middle, start + 1) :] >= 0.9)
    end = max(middle, start + 1) + int(end[0]) if end.size else len(part) - 1
    step = -np.diff(part[start : end + 1]) / np.diff(time[a + start : a + end + 1])
    at = a + start + int(np.argmax(step))
    when = 0.5 * float(time[at] + time[at + 1])
    span = a + start, a + end
    return Drop(float(time[span[0]]), float(time[span[1]]), when, before, after, float(step.max()), kind,
                gap.deviations), span  # fmt: skip


def _edge(loss, time, a, b, kind) -> Drop:
    """The fall that the curve begins with, or ends in."""
    few = max(1, (b - a) // 8)
    before, after = float(np.mean(loss[a : a + few])), float(np.mean(loss[b + 1 - few : b + 1]))
    rate = (before - after) / max(time[b] - time[a], 1e-300)
    return Drop(float(time[a]), float(time[b]), float(time[(a + b) // 2]), before, after, float(rate), kind)


def _plateaus(flanks, time, spans, inner, noise, min_fall):
    """The plateau of every stretch between falls; `inner` are those that have one: not what comes before a slope."""
    loss = flanks.loss
    ends = [0, *(i for span in spans for i in span), len(loss) - 1]
    tails = [0, *(b - a for a, b in spans), 0]
    stretches = [(ends[2 * i], ends[2 * i + 1], (tails[i], tails[i + 1])) for i in range(len(spans) + 1)]
    plateaus, trends = [], []
    for a, b, reach in stretches[inner]:
        stretch = Stretch(loss, time, a, max(b, min(a + 1, len(loss) - 1)), noise, min_fall, reach)
        plateau, beside = stretch.plateau(stretch.flattest(flanks))
        plateaus.append(plateau)
        trends.extend(beside)
    return plateaus, trends


def _with_flatness(plateaus, falls, time):
    """The slope of each plateau over the rates of the falls beside it; without any, how far it moves."""
    found = []
    for p in plateaus:
        sides = [d.rate for d in falls if d.end <= p.start][-1:] + [d.rate for d in falls if d.start >= p.end][:1]
        near = [rate for rate in sides if rate > 0]
        if near:
            flatness = max(-p.slope[0], 0.0) / float(np.exp(np.mean(np.log(near))))
        else:
            flatness = abs(p.slope[0]) * float(time[-1] - time[0]) / max(abs(p.level), 1e-300)
        found.append(replace(p, flatness=flatness))
    return found


def _with_levels(falls, plateaus):
    """Falls from the level of the plateau before to that of the one after, where those are near: no further than three
    times the width of the fall."""
    found = []
    for i, d in enumerate(falls):
        previous = falls[i - 1].end if i else -np.inf
        following = falls[i + 1].start if i + 1 < len(falls) else np.inf
        near = NEAR * (d.end - d.start)
        before = [p.level for p in plateaus if previous <= p.at <= d.start and d.start - p.end <= near]
        after = [p.level for p in plateaus if d.end <= p.at <= following and p.start - d.end <= near]
        changes = {"before": before[-1]} if before else {}
        found.append(replace(d, **changes, **({"after": after[0]} if after else {})))
    return found
