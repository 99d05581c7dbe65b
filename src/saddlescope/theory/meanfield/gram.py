"""Theorem C.1 on finitely many points: features whose span is dense separate any points.

The features' span, restricted to m distinct points, is R^m exactly if the Gram matrix K(x_p, x_q) is
positive definite. K does not depend on the time, since the features are frozen. Necessary for a
dense span, and for a continuous K sufficient where it holds for every finite set of points.
Reference: meanfield paper, Theorem C.1, which asks of φ that it be no polynomial, and of the law
that its support be everything. Without a bias this is not enough: see `gram_rank`.
"""

import numpy as np


def smallest_eigenvalue(kernel: np.ndarray) -> float:
    """The smallest eigenvalue over the largest."""
    values = np.linalg.eigvalsh((kernel + kernel.T) / 2)
    return float(values[0] / values[-1])


def gram_rank(kernel: np.ndarray, digits: float = 1e-10) -> int:
    """Eigenvalues above `digits` times the largest: how many directions the features span."""
    values = np.linalg.eigvalsh((kernel + kernel.T) / 2)
    return int(np.sum(values > digits * values[-1]))
