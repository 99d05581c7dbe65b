"""Take away the peaks of a rate whose falls are too small to count.

The weakest goes first. Where the curve falls on between it and a neighbour, its fall becomes a part of the neighbour's:
both are one long fall with a dip in its rate. Where a plateau lies on each side, it is a small step, and goes without
making another one larger. A heap holds the falls, and only those beside a peak that went are measured again.
"""

import heapq
from bisect import bisect_left

import numpy as np

REACH = 2  # smoothing widths
BOTH, ONE = 5, 12  # deviations of noise: at an end without plateau the level is one point, and asks for more


def without_small_falls(cuts, least, noise) -> list[int]:
    """The peaks whose falls are large against `least` and `noise`, each an array along the curve."""
    falls = _Falls(cuts, least, noise)
    while True:
        weakest = falls.weakest()
        if weakest is None:
            joined = falls.no_plateau_between()
            if joined is None:
                return falls.counted()
            falls.remove(joined)  # one long fall, known by where it is fastest
        elif falls.part_of_a_neighbour(weakest):
            falls.remove(weakest)
        else:
            falls.small.add(falls.peaks[weakest])


class _Falls:
    def __init__(self, cuts, least, noise):
        self.cuts, self.least, self.noise = cuts, least, noise
        self.peaks = list(cuts.peaks)
        self.inner = cuts.valleys_of.between(self.peaks)  # also where an end has no plateau
        self.valleys = cuts.valleys_of.around(self.peaks, self.inner)
        self.small: set[int] = set()  # steps that are seen, and do not count
        self.size = {p: self._size_of(i) for i, p in enumerate(self.peaks)}
        self.heap = [(size, p) for p, size in self.size.items()]
        heapq.heapify(self.heap)
        self.clear = 0  # no pair before this one has to be joined

    def counted(self):
        return [p for p in self.peaks if p not in self.small]

    def _size_of(self, i):
        """A fall over the least that counts."""
        start, end = self.valleys[i : i + 2]
        sure = BOTH if start is not None and end is not None else ONE
        start, end = 0 if start is None else start, -1 if end is None else end
        fall = self.cuts.curve[start] - self.cuts.curve[end]
        return fall / max(self.least[start], sure * self.noise[self.peaks[i]])

    def weakest(self) -> int | None:
        """The place of the weakest peak that is too weak and still counts."""
        while self.heap and (self.size.get(self.heap[0][1]) != self.heap[0][0] or self.heap[0][1] in self.small):
            heapq.heappop(self.heap)
        if not self.heap or self.heap[0][0] > 1:
            return None
        return bisect_left(self.peaks, self.heap[0][1])

    def part_of_a_neighbour(self, i):
        """Whether the curve falls on between this peak and one beside it."""
        pairs = [(k, k + 1) for k in (i - 1, i) if 0 <= k < len(self.peaks) - 1]
        return any(self._falls_on(self.peaks[k], self.peaks[m], self.peaks[k], self.peaks[m]) for k, m in pairs)

    def _falls_on(self, p, q, a, b):
        """Whether the mean rate from a to b is nearly that of the slower of two peaks."""
        cuts = self.cuts
        mean = (cuts.curve[a] - cuts.curve[b]) / (cuts.clock[b] - cuts.clock[a])
        return np.log(max(mean, 1e-300)) > min(cuts.log_rate[p], cuts.log_rate[q]) - cuts.depth

    def remove(self, i):
        """Take a peak away, and join the valleys beside it."""
        valleys_of = self.cuts.valleys_of
        del self.size[self.peaks[i]], self.peaks[i]
        if not self.peaks:
            return
        before = self.peaks[i - 1] if i else 0
        after = self.peaks[i] if i < len(self.peaks) else len(self.cuts.log_rate) - 1
        self.inner[i : i + 2] = [valleys_of.joined(self.inner[i], self.inner[i + 1], before, after)]
        self.valleys[i : i + 2] = [self.inner[i]]
        self.valleys[0] = valleys_of.at_start(self.inner[0], self.peaks[0])
        self.valleys[-1] = valleys_of.at_end(self.inner[-1], self.peaks[-1])
        self.clear = max(0, min(self.clear, i - 2))
        last = len(self.peaks) - 1
        for k in {0, last, min(max(i - 1, 0), last), min(i, last)}:
            self.size[self.peaks[k]] = self._size_of(k)
            heapq.heappush(self.heap, (self.size[self.peaks[k]], self.peaks[k]))

    def no_plateau_between(self) -> int | None:
        """The slower of two drops with no plateau between them but a dip that noise made in the rate of a long fall.

        Over two smoothing widths to each side of the valley (at most a third of the way between the drops) the loss
        still falls at nearly their rate. A clean curve has no such dips.
        """
        rate, width = self.cuts.log_rate, self.cuts.width
        for i in range(self.clear, len(self.peaks) - 1 if width else 0):
            p, q = self.peaks[i : i + 2]
            reach = 1 + int(min(REACH * width, (q - p) / 6))
            valley = self.inner[i + 1]
            if self._falls_on(p, q, max(valley - reach, p), min(valley + reach, q)):
                self.clear = i
                return i + int(rate[p] > rate[q])
        return None
