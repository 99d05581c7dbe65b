"""The data of a question about escape: checked, and reduced to what decides the answer."""

from typing import NamedTuple

import numpy as np

from saddlescope.errors import InvalidInput, require

EMPTY = 1e-12  # singular values of X below this share of the largest are none


class Problem(NamedTuple):
    """X and G, scaled to norm one, with X in coordinates of the space that its points span.

    Weights outside that space do nothing, and neither do points at zero or with G = 0. A point times r > 0 with G / r
    is the same, so that all points have the same size. All speeds are those of the scaled data times `scale`.

    **Arguments:**

    - `X`: (dimensions, points), with ‖X‖_op = 1.
    - `G`: (outputs, points), with ‖G‖_F = 1.
    - `basis`: (inputs, dimensions), orthonormal columns: the points are basis · X · their size.
    - `scale`: ‖X‖_op ‖G‖_F of the data with points of size one.
    """

    X: np.ndarray
    G: np.ndarray
    basis: np.ndarray
    scale: float

    def weights(self, found) -> list[np.ndarray]:
        """Weights for the data as they were given."""
        return [found[0] @ self.basis.T, *found[1:]]


def problem_of(X, G) -> Problem:
    """Check X (inputs, points) and G (outputs, points), and reduce them."""
    X, G = as_data(X, G)
    largest = np.abs(X).max(axis=0)
    counts = (largest > 0) & G.any(axis=0)
    require(counts.any(), "Every point lies at zero or has G = 0, so that nothing escapes; give other data.")
    X, G, largest = X[:, counts] / largest[counts], G[:, counts], largest[counts]
    sizes = np.linalg.norm(X, axis=0)
    X, G = X / sizes, G * sizes * largest
    left, values, right = np.linalg.svd(X, full_matrices=False)
    kept = values > EMPTY * values[0]
    size = np.linalg.norm(G)
    return Problem((values[kept, None] / values[0]) * right[kept], G / size, left[:, kept], float(values[0] * size))


def as_data(X, G) -> tuple[np.ndarray, np.ndarray]:
    """X and G as arrays of numbers, refused with one sentence where they cannot be used."""
    X, G = as_numbers("X", X), as_numbers("G", G)
    require(X.ndim == 2 and X.size, f"X must have the shape (inputs, points); got {X.shape}.")
    require(
        G.ndim == 2 and G.shape[0] and G.shape[1] == X.shape[1],
        f"G must have the shape (outputs, {X.shape[1]}), one column per point of X; got {G.shape}.",
    )
    for name, values in (("X", X), ("G", G)):
        bad = int(np.sum(~np.isfinite(values)))
        require(not bad, f"{name} has entries that are not finite: {bad}; remove these points.")
        require(values.any(), f"{name} is zero everywhere, so that the localized loss is zero; give other data.")
    return X, G


def as_numbers(name, values) -> np.ndarray:
    """An array of floats; refused where it has words or complex numbers."""
    try:
        values = np.asarray(values)
        real = values.dtype.kind in "biuf"
        return values.astype(float) if real else np.asarray(values.tolist(), float)
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} must be a table of real numbers; some of its entries are not.") from None


def scaled(X, G) -> tuple[np.ndarray, np.ndarray, float]:
    """X and G with a largest entry of one each, and the size by which all speeds are then multiplied."""
    largest, steepest = np.abs(X).max(), np.abs(G).max()
    size = float(largest * steepest) if np.log10(largest) + np.log10(steepest) < 300 else np.inf
    require(
        1e-290 < size < np.inf,
        "X and G are too large or too small together for floating-point numbers; scale one of them.",
    )
    return X / largest, G / steepest, size


def check_sizes(depth, width, restarts, seed=0) -> None:
    """Refuse sizes with which there is nothing to search."""
    whole = all(isinstance(v, int | np.integer) for v in (depth, width, restarts, seed))
    require(
        whole,
        f"Depth, width, restarts and seed are whole numbers; got {depth!r}, {width!r}, {restarts!r}, {seed!r}.",
    )
    require(seed >= 0, f"The seed must be 0 or more; got {seed}.")
    require(depth >= 2, f"An escape direction needs depth 2 or more, since depth 1 has no ReLU; got depth {depth}.")
    require(width >= 1, f"The hidden width must be 1 or more; got {width}.")
    require(restarts >= 1, f"The number of restarts must be 1 or more; got {restarts}.")
