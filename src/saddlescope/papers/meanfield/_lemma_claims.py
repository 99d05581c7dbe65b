"""Checks of the lemmas."""

import numpy as np

from saddlescope.checks import always, groups_by, share_text
from saddlescope.papers.meanfield._lemma_paths import TIMES
from saddlescope.theory.meanfield.difference import iterate_bound

ROUNDING = 1 + 1e-10


def at_most_one(*names, by_rank=False):
    """Left side over right side is at most 1, or at most the rank."""

    def check(results):
        part = results.measured
        found = np.max([part[name].values for name in names], axis=0)
        limit = part["rank"].values if by_rank else 1
        good = int(np.sum(found <= limit * ROUNDING))
        what = "r" if by_rank else "1"
        text = f"{share_text(good, len(found))}; largest left over right side {found.max():.3g}, allowed {what}"
        return always(good, len(found), text)

    return check


def _by_activation(results, good, text):
    good = np.asarray(good)
    groups = groups_by(results, "activation", good)
    return always(int(good.sum()), good.size, f"{share_text(int(good.sum()), good.size)}; {text}", groups)


def no_lower_bound(results):
    ratio = results.measured.lower.values
    good = int(np.sum(ratio > 1e-8))
    text = f"{share_text(good, len(ratio))}; smallest change of H₂ over E|Δw₁| {ratio.min():.1e}"
    return always(good, len(ratio), text)


def power_of_two(results):
    """Weights stay below the bound of bounded activations, and grow by a power of t of at most 2 at the end."""
    part = results.measured
    over, late = part.over_bound.values, part.exponents.values[:, -1]
    good = int(np.sum((over <= ROUNDING) & (late <= 2)))
    text = f"{share_text(good, len(over))}; largest weight over its bound {over.max():.3g}"
    return always(good, len(over), f"{text}; exponent of t at the end {late.min():.2f} to {late.max():.2f}, allowed 2")


def polynomial(results):
    """The exponent d log‖w‖/d log t at the end is not above that at half time by a tenth."""
    part = results.measured
    early, late = part.exponents.values.T
    text = "; ".join(
        f"{a}: median exponent {np.median(early[part.activation == a]):.2f} at t = 6, "
        f"{np.median(late[part.activation == a]):.2f} at t = 12"
        for a in results.values("activation")
    )
    return _by_activation(results, late <= 1.1 * np.maximum(early, 1), text)


def exponential(results):
    part = results.measured
    gap = np.abs(part.rate.values / part.said_rate.values - 1)
    good = int(np.sum(gap <= 0.01))  # what the other mode, e^{−λt}, leaves at t = 10
    text = f"{share_text(good, len(gap))}; largest relative gap of the rate {gap.max():.1e}, allowed 0.01"
    return always(good, len(gap), text)


def decays_like_gauss(results):
    """Nearer to a Gaussian's slope, 1.68, than to an exponential's, 1."""
    tail = results.measured.tail_slope.values
    good = int(np.sum(tail > 1.34))
    text = f"slope of log(−log P) {tail.min():.2f} to {tail.max():.2f}; a Gaussian has 1.68, an exponential 1"
    return always(good, len(tail), f"{share_text(good, len(tail))}; {text}")


def stays_inside(results):
    part = results.measured
    outside = part.outside.values.min(axis=1)  # of three K₀: one that serves would do
    good = int(np.sum(outside <= 1))
    text = f"‖F(W)‖ over ‖W‖ = K₀ from {outside.min():.2f} to {outside.max():.2f}, for K₀ = 10, 10³ and 10⁶"
    text += f"; the iterates' largest norm is {part.iterate_norm.values.max():.2f} of the last one's"
    return always(good, len(outside), f"{share_text(good, len(outside))} inside; {text}")


def same_ratio(results):
    """From ε = 0.1 to 10⁻⁶ the constant k₁ = (K K₀)⁴ that the lemma needs grows by less than a factor 10."""
    part = results.measured
    growth = part.lipschitz.values[:, -1] / part.lipschitz.values[:, 0]
    text = "; ".join(
        f"{a}: k₁ grows by a factor {np.median(growth[part.activation == a]):.2g} from ε = 0.1 to 10⁻⁶"
        for a in results.values("activation")
    )
    return _by_activation(results, growth < 10, text)


def constants_do_not_grow(results):
    """The second half of the differences needs no larger k than the first half."""
    part = results.measured
    gaps, k = part.gaps.values, part.constants.values
    half = k.shape[1] // 2
    seen = np.append(gaps[:, 1:] > 1e-11 * gaps[:, :1], np.zeros((len(gaps), 1), bool), axis=1)  # not rounding
    late = np.where(seen, k, 0.0)[:, half:].max(axis=1)
    first = k[:, :half].max(axis=1)
    text = "; ".join(
        f"{a}: k up to {first[part.activation == a].max():.2g} in the first half, "
        f"last difference {np.median(gaps[part.activation == a, -1]):.1e} (median)"
        for a in results.values("activation")
    )
    m = np.arange(1, gaps.shape[1] + 1)
    printed = iterate_bound(m, TIMES[-1], 1.0).max()
    text += f"; with k₁ = 1, the least that K ≥ 1 allows, the printed factor is up to 10^{printed:.0f}"
    return _by_activation(results, late <= first, text)
