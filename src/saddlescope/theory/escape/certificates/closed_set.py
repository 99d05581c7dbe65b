"""A bound on the speed at every depth, for one output and few points, by a closed set of weight
vectors.

`octagon` states and proves the claim: if from w = -G each proper subset A of the positive points,
of w and of -w, leads to a w' = (w on A, λw where w < 0) with Φ₂(w') ≤ s, and so on from every w',
then s*(L) ≤ s for all L ≥ 2. A w' has fewer points than w, so the recursion ends. Here λ is
searched in floating point, on any data whose cones can be enumerated.

With s = s*(3) a closed set proves s*(L) = s*(3) for all L ≥ 3. The converse is not true: at depth 4
and beyond the argument replaces the outputs of a net by their convex hull. On six points of the
circle with alternating G no closed set exists for s*(3) = 2√3 - 3: the point 0 alone forces λ = 4 -
2√3 on both neighbours, which two such points cannot both have. There the bound lies above what any
search finds.

Choices of λ, tried in turn: the least Σλ|w|, the least Φ₂, the largest Σλ|w|, each a linear program
with cutting planes. Data with symmetry need one value of λ at several places, which a vertex of a
program does not give. For them a second pass takes the values |w'| from a short list of levels,
those of the sets A that are tight at depth 3.
"""

from itertools import chain, combinations, product

import numpy as np

from saddlescope.theory.escape.certificates.arrangement import arrangement_of, with_new
from saddlescope.theory.escape.certificates.program import solve_program

ROOM = 1e-9  # s is met to this, relative: the solver's tolerance
MOST_GRID = 3_000  # choices of levels per subset
LEAST, EVEN, LARGEST = 1, 0, -1


class _TooLong(Exception):
    """The budget of trials is used up."""


class ClosedSet:
    """Search for a closed set of weight vectors with one-neuron speed at most s.

    **Arguments:**

    - `X`: the points, of shape (inputs, points).
    - `s`: the speed to prove.
    - `budget`: how many linear programs, or tests of levels, may be tried.
    - `levels`: values of |w| to choose from; without them λ comes from linear programs.
    """

    def __init__(self, X, s, budget=1_500, levels=None):
        self.arrangement = arrangement_of(X)
        self.s, self.budget, self.levels = s * (1 + ROOM), budget, levels
        self.pool, self.known = self.arrangement.rays, {}

    def contains(self, w) -> bool:
        """Whether a closed set with w was found, within the budget."""
        try:
            return self._closed(np.asarray(w, float))
        except _TooLong:
            return False

    def _closed(self, w):
        key = tuple(np.round(w / (self.s or 1.0), 9) + 0.0)  # a multiple of w is another vector
        if key not in self.known:
            self.known[key] = self._meets(w) and all(self._side(sign * w) for sign in (1, -1))
        return self.known[key]

    def _meets(self, w):
        return self.arrangement.maximum(w) <= self.s

    def _side(self, c):
        """All proper subsets of the positive points of c."""
        positive = [int(j) for j in np.flatnonzero(c > 0)]
        if self._meets(np.maximum(c, 0)):  # so do all subsets, with λ = 0
            return True
        proper = chain.from_iterable(combinations(positive, n) for n in range(1, len(positive)))
        return all(self._subset(c, list(chosen)) for chosen in proper)

    def _subset(self, c, chosen):
        alone = np.zeros(len(c))
        alone[chosen] = c[chosen]
        return self._meets(alone) or any(self._closed(w) for w in self._choices(c, chosen, alone))

    def _choices(self, c, chosen, alone):
        """Weight vectors w' with Φ₂ ≤ s."""
        if self.levels is not None:
            yield from self._on_levels(self.levels, c, alone)
            return
        for aim in (LEAST, EVEN, LARGEST):
            found = self._program(c, chosen, alone, aim)
            if found is None:
                return
            yield found

    def _on_levels(self, levels, c, alone):
        free = np.flatnonzero(c < 0)
        allowed = [[v for v in levels if v <= -c[j] * (1 + ROOM)] for j in free]
        if np.prod([len(values) for values in allowed]) > MOST_GRID:
            return
        for values in sorted(product(*allowed), key=sum):
            self._spend()
            w = alone.copy()
            w[free] = -np.array(values)
            if self._meets(w):
                yield w

    def _program(self, c, chosen, alone, aim):
        """The λ of one linear program, with rows added until Φ₂ ≤ s; None where there is none."""
        free, size = np.flatnonzero(c < 0), -1
        while size < len(self.pool):
            self._spend()
            size = len(self.pool)
            lam, least = _solve(self.arrangement.features(self.pool), c, chosen, free, aim, self.s)
            if lam is None:
                return None
            w = alone.copy()
            w[free] = np.where(lam < ROOM, 0, lam) * c[free]
            value, directions = self.arrangement.best(w, 8)
            if value <= self.s and (aim != EVEN or value <= least + 1e-4 * self.s):
                return w
            self.pool = with_new(self.pool, directions)
        return None

    def _spend(self):
        self.budget -= 1
        if self.budget < 0:
            raise _TooLong


def _solve(features, c, chosen, free, aim, s):
    """λ with |Σ w'_j σ(u·x_j)| ≤ t for the directions so far, and t: t = s, or the least t where
    the aim is EVEN.
    """
    fixed, slope = features[:, chosen] @ c[chosen], features[:, free] * c[free]
    column = -np.ones((2 * len(slope), 1))
    top = s * (1 - ROOM / 2)  # the solver may exceed a row by its tolerance
    cost = np.append(-aim * c[free], 1.0 if aim == EVEN else 0.0)
    rows = np.hstack([np.concatenate([slope, -slope]), column])
    found = solve_program(cost, rows, np.append(-fixed, fixed), [(0, 1)] * len(free) + [(0, top)])
    if found.status != 0:
        return None, None
    return np.clip(found.x[:-1], 0, 1), found.x[-1]
