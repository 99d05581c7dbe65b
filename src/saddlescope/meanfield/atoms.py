"""A block of the limit as a kernel machine: what its weights have become is a sum over the past.

The weights of a block obey ∂_t w(c) = −ξ Σ_q π_q φ(L_c·u_q) g_q. After some steps of any Runge-Kutta method they are

    w(c) = w⁰(c) − Σ_m φ(L_c·u_m) γ_m,

a sum over *atoms* (u_m, γ_m): an input of the block at some stage, and the step's weight times ξ π g. The average over
all neurons c of w(c) φ(L_c·v) is then a sum of kernels k(u_m, v) in closed form: no neuron is ever drawn.
"""

import numpy as np
from numba import njit

from saddlescope.theory.meanfield.pairs import pair, single


@njit(cache=True, error_model="numpy")
def sum_of_atoms(kind, alpha, unit, size, gamma, unit_v, size_v):
    """Σ_m γ_m k(u_m, v_p) and its derivative by v_p, for every p.

    **Arguments:**

    - `kind`, `alpha`: the activation, as in `pairs`.
    - `unit`, `size`: û and |u|, atom × coordinate and atom; `gamma`: atom × output.
    - `unit_v`, `size_v`: v̂ and |v|, point × coordinate and point.
    """
    (atoms, inputs), outputs, points = unit.shape, gamma.shape[1], len(size_v)
    value = np.zeros((points, outputs))
    slope = np.zeros((points, outputs, inputs))
    along_v = np.zeros((points, outputs))
    for m in range(atoms):
        for p in range(points):
            apart, together = 0.0, 0.0
            for j in range(inputs):
                apart += (unit[m, j] - unit_v[p, j]) ** 2
                together += (unit[m, j] + unit_v[p, j]) ** 2
            k, by_u, by_v = pair(kind, alpha, size[m], size_v[p], apart, together)
            for o in range(outputs):
                value[p, o] += gamma[m, o] * k
                along_v[p, o] += gamma[m, o] * by_v
                for j in range(inputs):
                    slope[p, o, j] += gamma[m, o] * by_u * unit[m, j]
    for p in range(points):
        for o in range(outputs):
            for j in range(inputs):
                slope[p, o, j] += along_v[p, o] * unit_v[p, j]
    return value, slope


@njit(cache=True, error_model="numpy")
def unit_vectors(v, deviations):
    """v̂ and |v| with the bias as one more coordinate, each coordinate times its deviation; zero stays zero."""
    points, inputs = v.shape
    unit, size = np.empty((points, inputs + 1)), np.empty(points)
    for p in range(points):
        unit[p, :inputs] = v[p] * deviations[:inputs]
        unit[p, inputs] = deviations[inputs]
        size[p] = np.sqrt((unit[p] ** 2).sum())
        if size[p] > 0:
            unit[p] /= size[p]
    return unit, size


@njit(cache=True, error_model="numpy")
def start_of(kind, alpha, mean, slope, unit, size):
    """E[w⁰ φ(L·v)] and its derivative by v, for w⁰ = mean + slope·L.

    **Arguments:**

    - `kind`, `alpha`: the activation, as in `pairs`.
    - `mean`, `slope`: one per output, and output × coordinate; the slope times the deviations of L.
    - `unit`, `size`: v̂ and |v|.
    """
    (points, inputs), outputs = unit.shape, len(mean)
    value, by_v = np.empty((points, outputs)), np.empty((points, outputs, inputs))
    for p in range(points):
        mu, dmu, nu, dnu = single(kind, alpha, size[p])
        for o in range(outputs):
            along = size[p] * (unit[p] * slope[o]).sum()
            value[p, o] = mu * mean[o] + nu * along
            by_v[p, o] = (dmu * mean[o] + dnu * along) * unit[p] + nu * slope[o]
    return value, by_v


Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]  # û, |u| and γ


class Atoms:
    """The past of one block, and behind it the atoms of the step that is being tried.

    Arrays double when they are full. A step has one group of atoms per stage, one atom per point.

    **Arguments:**

    - `inputs`: the coordinates of u, the bias's among them.
    - `outputs`: the outputs of the block.
    """

    def __init__(self, inputs: int, outputs: int):
        self.count = self.end = 0
        self._unit, self._size = np.empty((256, inputs)), np.empty(256)
        self._gamma = np.empty((256, outputs))

    def add(self, unit, size, gamma):
        """Append atoms to the past."""
        self.begin_step()
        self.append(unit, size)
        self.accept([gamma])

    def begin_step(self):
        """Forget the step that was tried last."""
        self.end = self.count

    def append(self, unit, size):
        """Append places to the step; their γ come by `weigh`."""
        start, self.end = self.end, self.end + len(size)
        while self.end > len(self._size):
            self._unit, self._gamma = (np.concatenate([a, np.empty_like(a)]) for a in (self._unit, self._gamma))
            self._size = np.concatenate([self._size, np.empty_like(self._size)])
        self._unit[start : self.end], self._size[start : self.end] = unit, size

    def weigh(self, groups):
        """Give the step's atoms their γ, one group per stage."""
        self._gamma[self.count : self.end] = np.concatenate(groups)

    def accept(self, groups):
        """Make the first groups of the step, with these γ, part of the past; a group of zeros is dropped."""
        start = self.count
        for group in groups:
            end, new = start + len(group), self.count + len(group)
            if group.any():
                self._unit[self.count : new], self._size[self.count : new] = (
                    self._unit[start:end],
                    self._size[start:end],
                )
                self._gamma[self.count : new] = group
                self.count = new
            start = end
        self.end = self.count

    def before(self, count) -> Arrays:
        """û, |u| and γ of the first atoms."""
        return self._unit[:count], self._size[:count], self._gamma[:count]

    @property
    def all(self) -> Arrays:
        """û, |u| and γ of the past and of the step."""
        return self.before(self.end)

    @property
    def step(self) -> Arrays:
        """û, |u| and γ of the step."""
        tried = slice(self.count, self.end)
        return self._unit[tried], self._size[tried], self._gamma[tried]
