"""Falls that a noisy curve begins with, or ends in: there is no flank on one side."""

import numpy as np

from saddlescope.stages.gaps import least_deviations, windows
from saddlescope.stages.lines import line_through


def edge_fall(loss, clock, level, noise, room, min_fall, prominence, sign=1) -> int | None:
    """How many of the first `room` points fall before the curve becomes flat; None where it is flat at once.

    The mean of the first few points lies above the line through a flank that comes soon after. With a `sign` of −1 the
    curve is one that was turned round: how many of its last points it falls in, without a plateau after them.
    """
    least = least_deviations(len(loss))
    for length, between in windows(room):
        few = max(3, length // 4)
        after = few + (between - 1) // 2
        if after + length > room:
            continue
        line = line_through(loss[after : after + length], clock[after : after + length])
        first, begin = float(np.mean(loss[:few])), float(np.mean(clock[:few]))
        fall = sign * (first - line.value(begin))
        variance = [
            noise.of_means(few, few // 2) ** 2 * level(first) ** 2 / few,
            noise.of_means(length, after + length // 2) ** 2 * level(line.mean) ** 2 * line.variance(begin),
        ]
        fast = fall / (clock[after] - begin) > (prominence - 1) * abs(line.slope)
        large = max(least * np.sqrt(sum(variance)), min_fall * max(level(first), level(line.mean)))
        if fall > large and fast:
            return after
    return None
