"""Mean-field paper, Theorem 2.2: limits that are no global minimisers, in the exact limit and in
finite nets.

At a limit the proof has E[d | x] B_k(x) = 0, and concludes B_k ≠ 0 from φ' ≠ 0 and w₂ ≠ 0. But B_k
= E[L_k φ'(H) w₂] is an average over neurons, and averages can vanish. Three kinds, each with rank
one and two points:

(a) the standard start, all means zero, no mixing bias: f = 0 and B = 0, and no weight of the limit
ever moves;
(b) w₂ of mean 1, independent of a symmetric L, and w₁ of mean zero: f = 0 for ever, so that ŷ is
the same at both points;
(c) leaky ReLU without mixing bias: ŷ ≥ 0 by the start, the target is −1 at one point, and f stops
at the kink there.

Every assumption of the theorem is tested one by one, in a table and beside the verdict. C.5 (a
start better than zero) excludes (a), in which it is an equality, but neither (b) nor (c). (b) and
(c) meet all of C.1–C.6, as far as these can be met together.

What remains true: in kinds (a) and (b) the limit is a saddle. Finite nets leave it, after a time
that grows as ln n. In kind (c) the kink attracts, so that finite nets are held too; φ' jumps there,
and the equations have a solution only in the sense of Filippov. Nets of kind (b) are followed by
scipy; (a) and (c) with leaky ReLU by the exact equations of rank one (`_rank_one.py`), without any
step floor.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always, groups_by, holds_in_share, share_text
from saddlescope.claims import CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, BLUE, WIDTH, letters
from saddlescope.papers.meanfield._counterexample_runs import measure
from saddlescope.papers.meanfield._kinds import KINDS, assumptions
from saddlescope.tables import Table

FITTED, ABOVE = 1e-3, 1e-2  # a loss that counts as the global minimum, and one that does not


# ---- Claims ----


def by_kind(results):
    """One run of every kind: what is said of the limit has no seed."""
    return {kind: next(results.select(kind=kind).runs()) for kind in results.values("kind")}


def theorem(results):
    """A limit that meets every assumption and whose loss stays above zero refutes it."""
    runs = by_kind(results)
    valid = {k: float(r.limit_end) for k, r in runs.items() if bool(r.meets_all)}
    bad = [k for k, end in valid.items() if end > ABOVE]
    if not valid:
        return None
    said = "; ".join(f"{k} ends at {valid[k]:.4f}, meets all but {unmet(runs[k])}" for k in valid)
    text = f"{len(bad)} of {len(valid)} limits that meet C.1–C.6 end above {ABOVE:g}: {said}"
    return CheckResult(not bad, text, exact=True)


def names_of_assumptions():
    return list(assumptions(KINDS["a-leaky"].limit, 0.0, 0.0, 0.0))


def unmet(run):
    """What the paper asks for and does not keep itself, by name."""
    return ", ".join(n for n, met in zip(names_of_assumptions(), run.met.values, strict=True) if not met) or "none"


def standard_start(results):
    """Kind (a) is the i.i.d. start with means zero."""
    runs = {k: r for k, r in by_kind(results).items() if k.startswith("a")}
    ends = {k: float(r.limit_end) for k, r in runs.items()}
    text = ", ".join(f"{k}: loss {v:.4f} for ever, {float(runs[k].zero_loss):.4f} for ŷ = 0" for k, v in ends.items())
    return CheckResult(all(v < ABOVE for v in ends.values()), text, exact=True) if ends else None


def nothing_moves(results):
    runs = {k: r for k, r in by_kind(results).items() if k.startswith("a")}
    if not runs:
        return None
    fastest = max(float(r.limit_speed) for r in runs.values())
    change = max(float(r.limit_change) for r in runs.values())
    text = f"largest derivative at the end {fastest:.1e}, largest change of the loss {change:.1e}"
    return CheckResult(fastest <= 1e-14 and change <= 1e-14, text, exact=True)


def signal_nonzero(results):
    """B ≠ 0 on a set of positive measure, at limits of kinds (a) and (b), where φ' ≠ 0 and w₂ ≠ 0.

    1e-6 is ten times the tolerance of the flow.
    """
    runs = {k: r for k, r in by_kind(results).items() if k[0] in "ab"}
    if not runs:
        return None
    signals = {k: float(r.limit_signal) for k, r in runs.items()}
    text = ", ".join(f"{k} |B| ≤ {v:.1e}" for k, v in signals.items())
    return CheckResult(all(v > 1e-6 for v in signals.values()), text, exact=True)


def ends_at_mean(results):
    """Kind (b) ends at ŷ = the mean, with half of the target's variance as squared loss."""
    runs = {k: r for k, r in by_kind(results).items() if k in ("b-leaky", "b-rounded", "b-sigmoid")}
    if not runs:
        return None
    gaps = {k: abs(float(r.limit_end) - 0.125) for k, r in runs.items()}
    text = ", ".join(f"{k} {v:.1e}" for k, v in gaps.items())
    return CheckResult(all(v < 1e-10 for v in gaps.values()), f"gap to Var y/2 = 0.125: {text}", exact=True)


def channels_bounded(results):
    """|H| ≤ |L| |f| for leaky ReLU: the largest |f| up to any time does not grow in the second half.

    Asked of kind (c), whose channels move; those of (a) and (b) are zero for ever.
    """
    run = next(results.runs())
    largest, growth = float(run.largest_reach), float(run.reach_growth)
    text = f"largest |f| = {largest:.2f}, which bounds φ(H); its growth in the second half {growth:.1e}"
    return CheckResult(largest > 0 and growth < 1e-6, text, exact=True)


def no_layer_vanishes(results):
    """Where C.5 holds the limit ends below the loss of ŷ = 0, which any layer of zero weights would give."""
    runs = {k: r for k, r in by_kind(results).items() if float(r.limit_first) < float(r.zero_loss) - 1e-9}
    if not runs:
        return None
    good = all(float(r.limit_end) < float(r.zero_loss) for r in runs.values())
    text = ", ".join(f"{k} {float(r.limit_end):.3f} < {float(r.zero_loss):.3f}" for k, r in runs.items())
    return CheckResult(good, text, exact=True)


def nets_leave(results):
    part = results.where(np.array([k[0] in "ab" for k in results.measured.kind.values]))
    if not part.measured.sizes["run"]:
        return None
    end = part.measured.net_end.values
    good = end < FITTED
    text = f"{share_text(int(good.sum()), len(good))} end below {FITTED:g}; largest {end.max():.2g}"
    return holds_in_share(int(good.sum()), len(good), text, groups=groups_by(part, "kind", good))


def nets_held(results):
    m = results.measured
    good = m.net_held.values.astype(bool) & (m.net_end.values > ABOVE)
    text = f"{share_text(int(good.sum()), len(good))} are held at the kink; losses {m.net_end.values.min():.4f} to "
    text += f"{m.net_end.values.max():.4f}, 0.125 in the limit"
    return holds_in_share(int(good.sum()), len(good), text, groups=groups_by(results, "width", good))


def nets_fit(results):
    """The theorem read for finite nets: all reach the minimum."""
    end = results.measured.net_end.values
    good = end < FITTED
    text = f"{share_text(int(good.sum()), len(good))} end below {FITTED:g}"
    return always(int(good.sum()), len(good), text, groups_by(results, "kind", good))


# ---- Output ----


def tables(results):
    runs = by_kind(results)
    names = names_of_assumptions()
    rows: list[list[str | float]]
    rows = [[n, *("yes" if bool(r.met.values[i]) else "no" for r in runs.values())] for i, n in enumerate(names)]
    rows.append(["C.1–C.6, as the paper reads them", *("yes" if bool(r.meets_all) else "no" for r in runs.values())])
    rows.append(["loss at the start", *(float(r.limit_first) for r in runs.values())])
    rows.append(["loss of ŷ = 0", *(float(r.zero_loss) for r in runs.values())])
    rows.append(["loss of the limit", *(float(r.limit_end) for r in runs.values())])
    rows.append(["least loss", *(0.0 for _ in runs)])
    return [Table("assumptions", "Which assumptions of Theorem 2.2 each counterexample meets", ["", *runs], rows)]


def draw(results):
    kinds = results.values("kind")
    columns, rows = min(3, len(kinds)), -(-len(kinds) // 3)
    figure, axes = plt.subplots(rows, columns, figsize=(WIDTH, 0.5 + 1.8 * rows), squeeze=False, sharey=True)
    width = max(results.values("width"))
    for ax, kind in zip(axes.flat, kinds, strict=False):
        for i, run in enumerate(results.select(kind=kind, width=width).runs()):
            ax.semilogy(run.time, run.net_loss, color=BLUE, lw=0.6, label=f"nets of width {width:,}" if not i else None)
        ax.semilogy(run.time, run.limit_loss, color=BLACK, lw=1.4, label="limit of infinite width")
        ax.axhline(float(run.zero_loss), color="0.6", ls=":", lw=1, label="loss of the output 0")
        ax.set(title=f"({kind[0]}) {KINDS[kind].words}".replace(", ", ",\n", 1), xlabel="time", ylim=(1e-6, 2))
    for ax in axes[:, 0]:
        ax.set_ylabel("loss")
    for ax in axes.flat[len(kinds) :]:
        ax.remove()
    letters(axes.flat[: len(kinds)])
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


AVERAGE = "B_k is an average over neurons, which vanishes for a symmetric L. Nothing in C.1–C.6 excludes it."
experiment = Experiment(
    title="Counterexamples to global convergence: limits above the minimum",
    source="Theorem 2.2",
    measure=measure,
    full=dict(kind=tuple(KINDS), width=(64, 256, 1024), seed=range(6)),
    quick=dict(kind=("a-leaky", "b-leaky", "c-leaky"), width=(256,), seed=range(4)),
    draw=draw,
    drawn="Black lines are losses of the exact limit, blue lines those of the widest nets, one per seed; the "
    "dotted line is the loss of the output 0. Titles name the kind, (a) to (c), and its start.",
    tables=tables,
    claims=(
        Claim("Under C.1–C.6 every limit is a global minimiser.", "M1 · Theorem 2.2", theorem, note=AVERAGE),
        Claim(
            "With the standard i.i.d. start any limit is a global minimiser.",
            "M40 · Remark 2.1",
            standard_start,
            note="With means zero the start itself is a limit: f = 0 and B = 0. C.5 is an equality there.",
        ),
        Claim(
            "φ' ≠ 0 and w₂ ≠ 0 give B_k ≠ 0 on a set of positive measure.",
            "M39, M104 · E.2",
            signal_nonzero,
            note=AVERAGE,
        ),
        Claim(
            "Along the flow of kind (c) φ(H) is bounded, with leaky ReLU and bounded L.",
            "M83 · C.1, one flow",
            channels_bounded,
            {"kind": "c-leaky"},
        ),
        Claim("With C.5 no layer's weights vanish at the limit.", "M90 · Assumption C.5", no_layer_vanishes),
        Claim("From a start of means zero no weight of the limit ever moves.", "ours", nothing_moves, built=True),
        Claim("Kind (b) ends with the target's mean at every point.", "ours", ends_at_mean),
        Claim("Finite nets leave the limits of kinds (a) and (b) and reach the minimum.", "ours", nets_leave),
        Claim("Finite nets of kind (c) are held at the kink.", "ours", nets_held, {"kind": "c-leaky"}),
        Claim(
            "Finite nets reach the global minimum.",
            "M1 · Abstract, for nets",
            nets_fit,
            note="Leaky ReLU without mixing bias holds a channel at zero, in an open set of starts.",
        ),
    ),
)
