"""What `plateaus_explained` reads off a run: its drops, and how far its weights are from the manifolds of few units."""

import numpy as np

from saddlescope.explanations import saved_weights
from saddlescope.theory import Equal, Rays, Silent, Span, manifold_residual

SAID = {"B": "span", "B diag": "span", "C": "span", "D": "rays", "E": "rays", "F": "silent", "G": "silent"}
LINEAR = ("B", "B diag", "C")
KINDS = {"span": Span(), "rays": Rays(), "silent": Silent()}
OFF = ("silent", "rays", "span", "equal", "inner")
READ = 40  # instants of a drop


def analyse(run, made, panel):
    """The drops; the middle plateau's level; distances from manifolds, there and at the end."""
    plateaus = run.stages.plateaus
    middle = saved_weights(run, plateaus[1]) if len(plateaus) > 2 else None
    found = {"drop_step": (("drop",), np.array(drops_after_plateaus(run)))}
    if middle is not None:
        off = residuals(panel, run, middle[1])
        found |= {"level": plateaus[1].level, "off": (("place", "kind"), off)}
    if panel in SAID:
        found["along"] = (
            ("passed",),
            np.array([along(run, drop, KINDS[SAID[panel]], k) for k, drop in enumerate(run.stages.drops[:2], 1)]),
        )
    return found


def along(run, drop, kind, width):
    """The largest distance from the manifold of so many units while the loss drops, from where the drop begins to where
    it ends, over the weights."""
    on = np.flatnonzero((run.times >= drop.start) & (run.times <= drop.end))
    if not on.size:
        return np.nan
    rows = [{n: run[f"param_{n}"].values[i] for n in ("u", "v")} for i in on[:: max(1, len(on) // READ)]]
    return max(manifold_residual(p, kind, width) for p in rows)


def drops_after_plateaus(run):
    """The step of the first drop after each plateau that weights were saved on."""
    falls = [d.at for d in run.stages.drops]
    read = [p.at for p in run.stages.plateaus if saved_weights(run, p) is not None]
    after = [next((at for at in falls if at > start), None) for start in read]
    return [at for at in after if at is not None]


def residuals(panel, run, middle):
    """The distance from the manifolds of all four kinds, of one unit on the plateau and of two at the end. Eq. 4 allows
    any v along one vector where u is equal: `inner` is the distance of u alone."""
    end = {name: run[f"param_{name}"].values[-1] for name in ("u", "v")}
    kinds = {"silent": Silent(), "rays": Rays(lines=panel in LINEAR), "span": Span(), "equal": Equal()}
    rows = []
    for p, width in ((middle, 1), (end, 2)):
        off = [manifold_residual(p, kinds[k], width) for k in OFF[:-1]]
        rows.append([*off, manifold_residual(of_u(p), Equal(), width)])
    return np.array(rows)


def of_u(params):
    return {"u": params["u"], "v": params["v"][:, :0]}
