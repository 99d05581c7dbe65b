"""How sure: intervals of a mean, a share, a count or error of one more seed, and of exponents, all at 95 %.

Exponents are fitted to logarithms. A run that was stopped before the event is censored: its time is known to be longer.
It enters the likelihood as such (Tobin 1958) and is neither dropped nor taken for an event.
"""

import numpy as np

Z = 1.96


def wilson(good, n, z=Z):
    """Interval of a share, by Wilson's score."""
    centre, spread = good + z**2 / 2, z * np.sqrt(good * (n - good) / n + z**2 / 4)
    return max(0.0, (centre - spread) / (n + z**2)), min(1.0, (centre + spread) / (n + z**2))


def wilson_clear_of_half(share) -> int:
    """From how many runs on the interval of this share, above one half, lies above one half.

    Wilson's interval leaves out ½ where the score test does: |share - ½| ≥ z √(¼ / n).
    """
    return int(np.ceil((Z / (2 * share - 1)) ** 2))


def same_share(good, n, other_good, other_n, level=0.01) -> bool:
    """Whether two counts may come from one share: Fisher's exact test, two-sided."""
    if not n or not other_n or good * other_n == other_good * n:
        return True
    from scipy.stats import fisher_exact

    table = [[good, n - good], [other_good, other_n - other_good]]
    return bool(fisher_exact(table).pvalue >= level)


def student(n, level=0.95):
    from scipy.stats import t  # a second to import

    return t.ppf((1 + level) / 2, n - 1)


def mean_of(values) -> tuple[float, float]:
    """Mean and half its interval by Student's t; NaN for a single value."""
    values = np.asarray(values, float)
    if len(values) < 2:
        return float(values.mean()), np.nan
    return float(values.mean()), float(student(len(values)) * values.std(ddof=1) / np.sqrt(len(values)))


def one_more(values, least=0.0, level=0.95) -> tuple[float, float]:
    """Where one more value of the same kind would lie, normal values of a deviation of `least` or more assumed."""
    values = np.asarray(values, float)
    if len(values) < 2:
        return np.nan, np.nan
    half = student(len(values), level) * max(values.std(ddof=1), least) * np.sqrt(1 + 1 / len(values))
    return float(values.mean() - half), float(values.mean() + half)


def one_more_count(good, n, size) -> tuple[int, int]:
    """How many of `size` further runs would be good, after `good` of `n` were: binomial, at the ends of the share's
    own interval. Independent runs of one chance are assumed."""
    from scipy.stats import binom

    low, high = wilson(good, n)
    return int(binom.ppf(0.025, size, low)), int(binom.ppf(0.975, size, high))


def rank_correlation(x, y) -> float:
    """Spearman's."""
    from scipy.stats import rankdata

    return float(np.corrcoef(rankdata(x), rankdata(y))[0, 1])


def auc(scores, good) -> tuple[float, float]:
    """The chance that a good run has a higher score than another run, and half its interval by DeLong (1988)."""
    return _mean_placement(_placements(scores, good))


def _placements(scores, good):
    """Of each good run, the share of the others that it exceeds; of each other, the share of good runs above it."""
    scores, good = np.asarray(scores, float), np.asarray(good, bool)
    above = np.sign(scores[good][:, None] - scores[~good]) / 2 + 0.5
    return above.mean(axis=1), above.mean(axis=0)


def _mean_placement(placements):
    variance = sum(p.var(ddof=1) / len(p) if len(p) > 1 else np.nan for p in placements)
    return float(np.mean(placements[0])), float(Z * np.sqrt(variance))


def apart(a, b) -> bool:
    """Whether the intervals (mean, half) of two means do not overlap; no interval, no difference."""
    return bool(abs(a[0] - b[0]) > a[1] + b[1])


def exponents(factors, times, censored=None) -> tuple[np.ndarray, np.ndarray]:
    """Exponents e_k in time ∝ Π factor_k^e_k and half their intervals; one row of `factors` per run.

    Normal scatter of log time. `censored` runs have not had the event by their time.
    """
    x = np.column_stack([np.ones(len(times)), np.log(np.asarray(factors, float))])
    y = np.log(np.asarray(times, float))
    late = np.zeros(len(y), bool) if censored is None else np.asarray(censored, bool)
    n, k = x.shape
    if np.sum(~late) <= k or np.linalg.matrix_rank(x[~late]) < k:
        return np.full(k - 1, np.nan), np.full(k - 1, np.nan)
    best, covariance = _least_squares(x, y) if not late.any() else _tobit(x, y, late)
    return best[1:], student(n - k + 1) * np.sqrt(np.diag(covariance)[1:])


def _least_squares(x, y):
    best = np.linalg.lstsq(x, y, rcond=None)[0]
    variance = np.sum((y - x @ best) ** 2) / (len(y) - x.shape[1])
    return best, variance * np.linalg.inv(x.T @ x)


def _tobit(x, y, late):
    """The likeliest coefficients and their covariance, from the curvature of the likelihood at its maximum."""
    from scipy.optimize import minimize
    from scipy.stats import norm

    def cost(theta):
        scale = np.exp(theta[-1])
        away = (y - x @ theta[:-1]) / scale
        return -np.sum(norm.logpdf(away[~late]) - theta[-1]) - np.sum(norm.logsf(away[late]))

    start = np.linalg.lstsq(x, y, rcond=None)[0]
    spread = np.std(y - x @ start) or 1.0
    found = minimize(cost, np.append(start, np.log(spread)), method="Nelder-Mead",
                     options=dict(maxiter=40_000, maxfev=40_000, xatol=1e-8, fatol=1e-10, adaptive=True)).x  # fmt: skip
    return found[:-1], np.linalg.inv(_curvature(cost, found))[:-1, :-1]


def _curvature(cost, at, step=1e-4):
    """The matrix of second derivatives, by central differences."""
    n, e = len(at), step * np.eye(len(at))
    found = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            corners = [a * b * cost(at + a * e[i] + b * e[j]) for a in (1, -1) for b in (1, -1)]
            found[i, j] = sum(corners) / (4 * step**2)
    return found
