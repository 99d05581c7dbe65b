"""Checks of the two-sided step."""

import numpy as np

from saddlescope.checks import always, decided_by, groups_by, holds_in_share, share_text
from saddlescope.claims import CheckResult
from saddlescope.papers.meanfield._numbers import lies_within
from saddlescope.statistics import mean_of

ROUNDING = 1e-12  # relative to the sum of all terms
INTEGRAL = 1e-4  # of R over two saved steps, for Simpson's rule: without π the gap would be of order 1
ALIKE = 0.1  # shares that differ by less are the same


def _by(part, good):
    """Good runs and all runs, by activation, δ and rank: nets of one seed share draws, and no group has two of them."""
    axes = part.activation.values, part.delta.values, part["rank"].values
    names = np.array([f"{a}, δ = {d:g}, rank {r}" for a, d, r in zip(*axes, strict=True)])
    good = np.asarray(good, bool)
    return {str(n): (int(good[names == n].sum()), int((names == n).sum())) for n in dict.fromkeys(names)}


def inequality(name):
    def check(results):
        worst, held = results.measured[name].values, int(results.measured.held.sum())
        good = int(np.sum(worst >= -ROUNDING))
        text = f"{share_text(good, len(worst))} without an exception; smallest slack {worst.min():.1e} of all terms"
        return always(good, len(worst), f"{text}; (i)–(iii) held at {held:,} instants at x₀")

    return check


def rises_enough(results):
    least = results.measured.least_rise.values
    good = int(np.sum(least >= -INTEGRAL))
    text = f"{share_text(good, len(least))}; smallest excess {least.min():.1e} over two saved steps"
    return always(good, len(least), f"{text}, allowed −{INTEGRAL:g}")


def conclusion_as_printed(results):
    gap = results.measured.printed_gap.values
    gap = gap[gap >= 0]
    if not gap.size:
        return None
    good = int(np.sum(gap <= 1e-3))
    text = f"median gap per net from {gap.min():.2g} to {gap.max():.2g} of the largest ∂_t R − ε, allowed 0.001"
    return always(good, len(gap), f"{share_text(good, len(gap))}; {text}")


def stronger_term_decides(results):
    wrong, held = results.measured.dominated_wrong.values, results.measured.dominated.values
    with_any = held > 0
    good = int(np.sum(wrong[with_any] == 0))
    text = f"{int(wrong.sum())} exceptions at {int(held.sum()):,} instants"
    return always(good, int(with_any.sum()), f"{share_text(good, int(with_any.sum()))}; {text}")


def dominance_kept(results):
    lost, leads = results.measured.leads_lost.values, results.measured.leads.values
    any_lead = leads > 0
    if not any_lead.any():
        return None
    good = lost[any_lead] == 0
    text = f"{int(lost.sum())} of {int(leads.sum()):,} stretches of time lost a lead, by the integral of ∂_t R too"
    text = f"{share_text(int(good.sum()), good.size)} lost none; {text}"
    return always(int(good.sum()), good.size, text, groups_by(results.where(any_lead), "activation", good))


def favourable(results):
    part = results.measured
    some = part.held.values > 0
    share = part.favourable.values[some] / part.held.values[some]
    good = share > 0.5
    kernel = part.cross_kernel.values
    text = f"ε₀ > 0 at {part.favourable.values.sum() / part.held.values.sum():.0%} of the instants"
    text += f"; K(−δ, δ) from {kernel.min():.2g} to {kernel.max():.2g}"
    text = f"{share_text(int(good.sum()), good.size)} with ε₀ > 0 most of the time; {text}"
    groups = _by(part.isel(run=np.flatnonzero(some)), good)
    return holds_in_share(good.sum(), good.size, text, groups=groups)


def share_of_time(name, most=0.8):
    """Most of the time means four fifths of the time before the loss has fallen to a hundredth."""

    def check(results):
        share = results.measured[name].values
        good = share >= most
        text = f"{share_text(int(good.sum()), good.size)} for {most:.0%} of the time or more"
        text += f"; median share {np.median(share):.0%}"
        return holds_in_share(good.sum(), good.size, text, groups=_by(results.measured, good))

    return check


def symmetric_point(results):
    share = results.measured.under_other.values
    good = share > 0.5
    text = f"{share_text(int(good.sum()), good.size)} for most of the time; median share {np.median(share):.0%}"
    return holds_in_share(good.sum(), good.size, text)


def in_most(name, word, chance=False):
    """In most nets, and by activation, δ and rank; `chance` says how often one channel of r would come true."""

    def check(results):
        part = results.measured
        good = part[name].values.astype(bool)
        text = f"{share_text(int(good.sum()), good.size)} {word}"
        text += f"; by chance {np.mean(1 / part['rank'].values):.0%}" if chance else ""
        return holds_in_share(good.sum(), good.size, text, groups=_by(part, good))

    return check


def one_constant(results):
    """A spread above 10, one order of magnitude, refutes it; a smaller one of a few nets shows nothing."""
    part = results.measured
    spread, nets = {}, []
    for name, delta in dict.fromkeys(zip(part.activation.values, part.delta.values, strict=True)):
        chosen = (part.activation.values == name) & (part.delta.values == delta)
        largest = part.largest_remainder.values[chosen]
        spread[f"{name}, δ = {delta:g}"] = largest.max() / largest.min()
        nets.append(len(largest))
    text = ", ".join(f"{v:.3g} for {k}" for k, v in spread.items())
    holds = all(v < 10 for v in spread.values())
    few = holds and min(nets) < 10
    return CheckResult(holds and not few, f"largest over smallest maximum of |ε₀|: {text}", unclear=few)


def winners_apart(results):
    part = results.measured
    good = part.distinct.values.astype(bool)
    angle = ", ".join(
        f"{np.median(part.angle.values[part.delta.values == d]):.0f}° at δ = {d:g}" for d in results.values("delta")
    )
    text = f"{share_text(int(good.sum()), good.size)}; expected after a random rotation {part.chance.values.mean():.0%}"
    text += f"; median angle {angle}"
    return holds_in_share(good.sum(), good.size, text, groups=_by(results.measured, good))


def as_chance(results):
    """For every activation and rank: the share of distinct winners less the expected one.

    Nets of one seed share draws, so that one number per seed is taken: the mean over δ."""
    part, said, words = results.measured, [], {}
    gap = part.distinct.values - part.chance.values
    for name in results.values("activation"):
        for rank in results.values("rank"):
            chosen = (part.activation.values == name) & (part["rank"].values == rank)
            seeds = part.seed.values
            each = [gap[chosen & (seeds == s)].mean() for s in np.unique(seeds[chosen])]
            mean, half = mean_of(each)
            words[f"{name}, rank {rank}"] = lies_within(-ALIKE, ALIKE, mean, half)
            share, expected = part.distinct.values[chosen].mean(), part.chance.values[chosen].mean()
            said.append(f"{name}, rank {rank}: {share:.0%}, expected {expected:.0%}, {mean:+.3f} ± {half:.3f}")
    return decided_by(words, f"{'; '.join(said)}; allowed ± {ALIKE:g}")


def no_spike(results):
    part = results.measured
    good = np.abs(part.spike_at.values + part.delta.values) <= 0.1
    text = f"{share_text(int(good.sum()), good.size)}; |f| is largest at x ="
    text += f" {np.median(part.spike_at.values):.2f} (median)"
    return holds_in_share(good.sum(), good.size, text)


def slides(results):
    """Steps at their floor for more than a thousandth of the time."""
    part = results.measured
    kinked, share = part.activation.values == "leaky", part.on_floor.values
    good = np.where(kinked, share > 1e-3, share == 0)
    text = share_text(int(good.sum()), good.size)
    if kinked.any():
        text += f"; share of the time with leaky ReLU: median {np.median(share[kinked]):.0%}"
        text += f", largest {share[kinked].max():.0%}"
    return holds_in_share(good.sum(), good.size, text, groups=groups_by(results, "activation", good))
