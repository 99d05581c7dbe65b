"""How a run on a curve ended: worked, between or failed, and which kind of failure. Valleys paper,
App. C.5.

worked: test error below 0.01; failed: 0.5 or more, or not finite; between: neither. A failed run is
mostly a constant: the mean of the target, or its median where clipping makes descent follow the
sign of the error.
"""

import numpy as np

WORKED, FAILED = 0.01, 0.5
FLAT = 0.05  # a fit with less than this share of the target's variance is a constant
FAR, ALIKE = 0.25, 0.05  # in deviations of the target: far from mean and median; mean and median not told apart


def outcome(test_error: float) -> str:
    if test_error < WORKED:
        return "worked"
    return "between" if test_error < FAILED else "failed"


def failure(fit: np.ndarray, target: np.ndarray) -> str:
    """How a run failed, from its outputs and the target at the same points."""
    if not np.isfinite(fit).all():
        return "diverged"
    if np.var(fit) > FLAT * np.var(target):
        return "partial fit"
    level, mean, median, spread = np.mean(fit), np.mean(target), np.median(target), np.std(target)
    to_mean, to_median = abs(level - mean), abs(level - median)
    if min(to_mean, to_median) > FAR * spread:
        return "constant (other)"
    if abs(mean - median) < ALIKE * spread:
        return "constant"  # of a single cosine, say, mean and median are the same
    return "constant (mean)" if to_mean <= to_median else "constant (median)"
