"""How far weights are from the manifolds of Theorem 3, and which of them the paper names for each panel of Fig. 1."""

import numpy as np

from saddlescope.theory import Equal, Rays, Silent, Span, manifold_residual

SAID = {"B": "span", "B diag": "span", "C": "span", "D": "rays", "E": "rays", "F": "silent", "G": "silent"}
LINEAR, RELU, STEEP = ("B", "B diag", "C"), ("D", "E"), ("F", "G")
KINDS = {"span": Span(), "rays": Rays(), "silent": Silent()}
OFF = ("silent", "rays", "span", "equal", "inner")
READ = 40  # instants of a drop


def along(run, drop, kind, width):
    """The largest distance from the manifold of so many units while the loss drops, from where the drop begins to where
    it ends, over the weights."""
    on = np.flatnonzero((run.times >= drop.start) & (run.times <= drop.end))
    if not on.size:
        return np.nan
    rows = [{n: run[f"param_{n}"].values[i] for n in ("u", "v")} for i in on[:: max(1, len(on) // READ)]]
    return max(manifold_residual(p, kind, width) for p in rows)


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


def off(run, place, kind):
    return float(run.off.values[place, OFF.index(kind)]) if "off" in run else np.inf
