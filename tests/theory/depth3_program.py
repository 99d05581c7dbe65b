"""The best three-layer speed as one mixed-integer program over the weights, for the tests of
certificates.

It shares neither the argument nor code with the package: there are no favourable sets, no λ and no
dual. Neurons of the first layer with one activation pattern P and one outgoing sign add up to one,
±(p·x) on P, so one vector p for each of both suffices. p keeps its pattern by linear rows, Σ‖p‖ ≤ 1
is cut by tangents, and σ(h_j) for points that gain is a binary choice. Patterns are found by
throwing many directions. Exact up to tangents that are added until they hold.
"""

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_matrix

THROWN, ROUNDS = 40_000, 40


def patterns_of(X, rng):
    u = rng.standard_normal((THROWN, len(X)))
    return np.unique(u @ X > 0, axis=0)


def best_speed(X, g, rng, tolerance=1e-6):
    """s*(3) for one output."""
    return max(0.0, *(_one_sign(X, c, patterns_of(X, rng), tolerance) for c in (g, -g)))


class _Program:
    """Columns: p of every pattern and sign, then their lengths t, then y_j = the gain of σ(h_j),
    then binaries.
    """

    def __init__(self, X, c, patterns):
        self.d, self.n = X.shape
        units = [(p, s) for p in patterns for s in (1.0, -1.0)]
        self.k = len(units)
        self.size = self.k * self.d + self.k + 2 * self.n
        self.t, self.y = self.k * self.d, self.k * self.d + self.k
        self.rows, self.low, self.high = [], [], []
        h = np.zeros((self.n, self.size))
        for i, (pattern, sign) in enumerate(units):
            place = slice(i * self.d, (i + 1) * self.d)
            h[:, place] = (sign * pattern)[:, None] * X.T
            self._block(np.where(pattern, -1, 1)[:, None] * X.T, place)
        self._budget()
        for j in range(self.n):
            self._output(j, h[j], c[j], 2 * np.linalg.norm(X[:, j]))
        self.cost = np.zeros(self.size)
        self.cost[self.y : self.y + self.n] = -c

    def _row(self, row, low, high):
        self.rows.append(row)
        self.low.append(low)
        self.high.append(high)

    def _block(self, block, place):
        for line in block:
            row = np.zeros(self.size)
            row[place] = line
            self._row(row, -np.inf, 0)

    def _budget(self):
        row = np.zeros(self.size)
        row[self.t : self.y] = 1
        self._row(row, -np.inf, 1)

    def _output(self, j, h, c, most):
        y, binary = np.zeros(self.size), np.zeros(self.size)
        y[self.y + j], binary[self.y + self.n + j] = 1, 1
        if c < 0:
            self._row(y - h, 0, np.inf)  # y ≥ h, and y ≥ 0 by its bounds
        else:
            self._row(y - h + most * binary, -np.inf, most)  # y ≤ h where switched on
            self._row(y - most * binary, -np.inf, 0)  # y ≤ 0 where switched off

    def tangent(self, i, direction):
        row = np.zeros(self.size)
        row[i * self.d : (i + 1) * self.d] = direction
        row[self.t + i] = -1
        self._row(row, -np.inf, 0)

    def solve(self):
        lower, upper = np.full(self.size, -1.0), np.full(self.size, np.inf)
        lower[self.t :], upper[: self.t], upper[self.y + self.n :] = 0, 1, 1
        whole = np.zeros(self.size)
        whole[self.y + self.n :] = 1
        rows = LinearConstraint(csr_matrix(np.array(self.rows)), self.low, self.high)
        found = milp(
            self.cost, constraints=rows, bounds=Bounds(lower, upper), integrality=whole, options={"mip_rel_gap": 1e-9}
        )
        return -found.fun, found.x


def _one_sign(X, c, patterns, tolerance):
    program = _Program(X, c, patterns)
    for i in range(program.k):
        for e in np.concatenate([np.eye(program.d), -np.eye(program.d)]):
            program.tangent(i, e)
    for _ in range(ROUNDS):
        value, x = program.solve()
        p = x[: program.t].reshape(program.k, program.d)
        length = np.linalg.norm(p, axis=1)
        long = np.flatnonzero(length > x[program.t : program.y] + tolerance)
        if not len(long):
            break
        for i in long:
            program.tangent(i, p[i] / length[i])
    return value
