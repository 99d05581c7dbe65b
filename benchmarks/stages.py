"""How well stages are found: precision and recall of drops on made curves, beside two other methods.

    python benchmarks/stages.py [--set first|second] [--write] [--table]

A drop is hit if one is found between a fortieth of the curve before its 10 % and after its 90 %.
Drops that nobody can see (made_curves.py says which) count neither way. False drops are counted on
curves without a stage. Levels of plateaus are compared with the mean of the curve without noise, in
halves of their 95 % interval. Times are CPU seconds.

The others: peaks of the derivative of the smoothed log loss, at a fifth of the largest; and, where
it is installed, PELT of `ruptures` on the log loss, smoothed alike, with a penalty of 3 log n
variances.
"""

import argparse
import json
import time
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

import numpy as np
from made_curves import Made, curves, made
from scipy.ndimage import gaussian_filter1d
from scipy.signal import find_peaks

from saddlescope.stages import Stages, find_stages

RESULT = Path(__file__).with_name("stages.json")
SHARE = 0.025  # of the curve: how far from a drop a hit may lie
LONGEST = 5000  # points, for the slower methods


def ours(curve: Made) -> Stages:
    return find_stages(curve.loss, curve.time, log_time=curve.log_time)


def by_derivative(curve: Made) -> list[float]:
    """Peaks of −d log L of the curve smoothed by a sixtieth of itself."""
    log = gaussian_filter1d(np.log(np.maximum(curve.loss, 1e-12)), max(1.0, len(curve.loss) / 60), mode="nearest")
    rate = -np.gradient(log)
    peaks, _ = find_peaks(rate, height=0.2 * rate.max(), prominence=0.2 * rate.max())
    return [float(curve.time[p]) for p in peaks]


def by_pelt(curve: Made) -> list[float] | None:
    """Changes of the mean of the log loss that go down."""
    try:
        import ruptures  # type: ignore[import-not-found]
    except ImportError:
        return None
    log = np.log(np.maximum(curve.loss, 1e-12))
    noise = np.median(np.abs(np.diff(log))) / 0.954 + 1e-9
    cuts = ruptures.KernelCPD(kernel="linear", min_size=3).fit(log).predict(pen=3 * np.log(len(log)) * noise**2) or []
    edges = [0, *cuts]
    means = [np.mean(log[a:b]) for a, b in pairwise(edges)]
    return [float(curve.time[c]) for c, (a, b) in zip(cuts, pairwise(means), strict=False) if b < a]


def hits(curve: Made, found: list[float]) -> tuple[int, int]:
    """How many visible drops were found, and how many of the found are none."""
    clock = np.log if curve.log_time else np.asarray
    near = SHARE * float(clock(curve.time[-1]) - clock(curve.time[0]))
    used, good = set(), 0
    for (a, _, b), visible in zip(curve.drops, curve.visible, strict=True):
        inside = (clock(f) >= clock(a) - near and clock(f) <= clock(b) + near for f in found)
        match = next((i for i, yes in enumerate(inside) if yes and i not in used), None)
        if match is not None:
            used.add(match)
            good += visible
    return good, len(found) - len(used)


def levels(curve: Made, stages: Stages) -> list[float]:
    """Of every plateau: its level less the mean of the clean curve, in halves of its interval."""
    found = []
    for p in stages.plateaus:
        inside = (curve.time >= p.start) & (curve.time <= p.end)
        half = 0.5 * (p.level_interval[1] - p.level_interval[0])
        if stages.noise and inside.sum() > 30 and half > 0:
            found.append((p.level - float(np.mean(curve.clean[inside]))) / half)
    return found


def outside(curve: Made, stages: Stages) -> int:
    """Points shaded as plateau, no spikes, whose loss is not in the stated band."""
    spikes, count = set(stages.spikes), 0
    for p in stages.plateaus:
        inside = (curve.time >= p.start) & (curve.time <= p.end)
        for t, y in zip(curve.time[inside], curve.loss[inside], strict=True):
            count += int(t not in spikes and not p.band[0] - 1e-9 <= y <= p.band[1] + 1e-9)
    return count


def score(name: str) -> dict:
    """All curves of a set, by all methods: overall, and by kind of noise."""
    counts: dict[str, dict[str, Counter]] = defaultdict(lambda: defaultdict(Counter))
    off, shaded = [], 0
    for curve in curves(name):
        stages = ours(curve)
        found = {"saddlescope": [d.at for d in stages.drops]}
        if len(curve.loss) <= LONGEST:
            found |= {"derivative": by_derivative(curve), "PELT": by_pelt(curve)}
            off += levels(curve, stages)
            shaded += outside(curve, stages) if not curve.log_time else 0
        for method, drops in found.items():
            if drops is not None:
                good, false = hits(curve, drops)
                stageless = not curve.drops
                for key in ("all", curve.noise):
                    counts[method][key].update(
                        hits=good, asked=sum(curve.visible), false=0 if stageless else false,
                        stageless=stageless, false_stageless=false if stageless else 0,
                    )  # fmt: skip
    table = {m: {key: _rates(c) for key, c in by.items()} for m, by in counts.items()}
    return {"set": name, "methods": table, "levels": _levels(off), "points_outside_their_band": shaded}


def _rates(c: Counter) -> dict:
    return {
        "precision": c["hits"] / max(c["hits"] + c["false"], 1),
        "recall": c["hits"] / max(c["asked"], 1),
        "drops": int(c["asked"]),
        "false_per_stageless": c["false_stageless"] / max(c["stageless"], 1),
    }


def _levels(off) -> dict:
    off = np.array(off)
    return {"plateaus": len(off), "median_bias_in_half_intervals": float(np.median(off)),
            "within_the_interval": float(np.mean(np.abs(off) <= 1))}  # fmt: skip


def own_runs() -> dict:
    """Our own runs: two drops of the linear net of Fig. 1B; drops at the cuts of the valleys paper's Fig. 1."""
    from saddlescope.workflows.find import find_experiment

    linear, cuts = find_experiment("simplicity.fig1b"), find_experiment("valleys.fig1")
    drops = [run.stages.n_drops for run in linear.run(linear.quick, quiet=True).runs()]
    found = {"linear nets with two drops": f"{drops.count(2)} of {len(drops)}"}
    runs = [(run.loss.values[np.isfinite(run.loss.values)], run.cuts) for run in cuts.run(cuts.full, quiet=True).runs()]
    for share in (0.2, 0.1):
        seen = [at_cut for loss, when in runs for at_cut in _at_cuts(loss, when, share)]
        found[f"cuts that lower ten epochs' mean by {share:.0%} or more, with a drop"] = f"{sum(seen)} of {len(seen)}"
    return found


def _at_cuts(loss, cuts, share):
    """Of every cut that lowers the loss so much, and by four deviations: whether a drop is within two epochs."""
    drops = find_stages(loss).drops
    for cut in map(int, cuts):
        before, after = loss[max(cut - 10, 0) : cut], loss[cut + 1 : cut + 11]
        if min(len(before), len(after)) >= 5:
            deviation = np.hypot(before.std() / len(before) ** 0.5, after.std() / len(after) ** 0.5)
            if before.mean() - after.mean() > max(share * before.mean(), 4 * deviation):
                yield any(d.start - 2 <= cut <= d.end + 2 for d in drops)


def timings() -> dict[int, float]:
    """CPU seconds by the number of points, with 5 % of white noise."""
    found = {}
    find_stages(made("first", 1, "even steps", "white 5 %", 1000).loss)
    for n in (1_000, 10_000, 100_000, 1_000_000):
        curve = made("first", 1, "even steps", "white 5 %", n)
        start = time.process_time()
        ours(curve)
        found[n] = round(time.process_time() - start, 3)
    return found


def _table(methods):
    """Precision, recall and false drops per stageless curve, by noise and method."""
    yield "| noise | drops | find_stages | derivative | PELT |"
    yield "|---|---|---|---|---|"
    for noise, row in methods["saddlescope"].items():
        cells = (methods[m][noise] for m in ("saddlescope", "derivative", "PELT"))
        text = [f"{c['precision']:.2f} / {c['recall']:.2f} / {c['false_per_stageless']:.1f}" for c in cells]
        name = f"**{noise}**" if noise == "all" else noise
        yield f"| {name} | {row['drops']} | {' | '.join(text)} |"


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--set", choices=("first", "second"), action="append")
    parser.add_argument("--table", action="store_true", help="print the stored numbers as docs/stages.md has them")
    parser.add_argument("--write", action="store_true", help=f"keep the numbers in {RESULT.name}")
    given = parser.parse_args()
    if given.table:
        print("\n".join(_table(json.loads(RESULT.read_text("utf-8"))["sets"]["second"]["methods"])))
        return
    sets = {name: score(name) for name in given.set or ("first", "second")}
    for name, found in sets.items():
        for method, by in found["methods"].items():
            for key, row in by.items():
                print(f"{name:7} {method:12} {key:20} P {row['precision']:.3f}  R {row['recall']:.3f}  "
                      f"false per stageless {row['false_per_stageless']:.2f}")  # fmt: skip
        print(name, found["levels"], "points outside their band:", found["points_outside_their_band"])
    print("points: CPU seconds", seconds := timings())
    print("own runs:", own := own_runs())
    if given.write:
        RESULT.write_text(
            json.dumps({"sets": sets, "own_runs": own, "cpu_seconds": seconds}, indent=1, ensure_ascii=False) + "\n",
            encoding="utf-8",
        )


if __name__ == "__main__":
    main()
