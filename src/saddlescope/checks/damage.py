"""Results that are damaged on purpose. A claim that still holds of all of them cannot fail: it is no verdict."""

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import xarray as xr

from saddlescope.claims import HOLDS, Claim, judge
from saddlescope.results import FOUND, Results
from saddlescope.stages import find_stages

SEED = 20


def shuffled_labels(results: Results) -> Results:
    """Each axis but the seed is given to other runs."""
    rng, measured = np.random.default_rng(SEED), results.measured
    axes = [n for n, c in measured.coords.items() if c.dims == ("run",) and n != "seed"]
    return Results(
        measured.assign_coords({n: ("run", rng.permutation(measured[n].values)) for n in axes}), results.predicted
    )


def reversed_columns(results: Results) -> Results:
    """Each array backwards: curves and rows in themselves, single numbers from run to run."""
    return _changed(results, lambda v: v[..., ::-1])


def shuffled_values(results: Results) -> Results:
    """The numbers of each array in another order, over all runs."""
    rng = np.random.default_rng(SEED)
    return _changed(results, lambda v: rng.permutation(v.ravel()).reshape(v.shape))


def constant(results: Results) -> Results:
    """Each array is its own mean."""
    return _changed(results, lambda v: np.full_like(v, v[np.isfinite(v)].mean() if np.isfinite(v).any() else 0))


def ones(results: Results) -> Results:
    """Each number is 1."""
    return _changed(results, np.ones_like)


def zeros(results: Results) -> Results:
    """Each number is 0."""
    return _changed(results, np.zeros_like)


def stageless(results: Results) -> Results:
    """Each loss curve falls evenly, without plateau or drop."""
    measured, changed = results.measured, {}
    if "loss" in measured and measured["loss"].ndim > 1:
        changed["loss"] = (
            measured["loss"].dims,
            np.broadcast_to(_even(measured["loss"].shape[-1]), measured["loss"].shape),
        )
    if FOUND in measured:
        changed[FOUND] = "run", np.full(measured.sizes["run"], find_stages(_even(500)).to_json())
    return Results(measured.assign(changed), results.predicted)


DAMAGES: Mapping[str, Callable[[Results], Results]] = {
    "labels shuffled": shuffled_labels,
    "columns reversed": reversed_columns,
    "values shuffled": shuffled_values,
    "all constant": constant,
    "all one": ones,
    "all zero": zeros,
    "no stages": stageless,
}


def survived(claims: Iterable[Claim], results: Results) -> dict[str, tuple[str, ...]]:
    """The damages after which each claim that holds still does. A check that cannot read damaged data has not noticed.

    A claim that survives all of them is true by construction, or its check looks at nothing.
    """
    claims = tuple(claims)
    whole = {v.sentence for v in judge(claims, results) if v.word == HOLDS}
    found = {c.sentence: c for c in claims if c.sentence in whole}
    still = {name: _holding(found.values(), damage(results)) for name, damage in DAMAGES.items()}
    return {sentence: tuple(name for name, those in still.items() if sentence in those) for sentence in found}


def _holding(claims, results) -> set[str]:
    return {claim.sentence for claim in claims if _holds(claim, results)}


def _holds(claim, results) -> bool:
    try:
        return all(v.word == HOLDS for v in judge([claim], results))
    except Exception:  # of whatever kind the check raises
        return True


def _changed(results, change) -> Results:
    measured = results.measured
    new = {
        name: _new(v, change) for name, v in measured.data_vars.items() if v.dtype.kind in "fiub" and not _keeps(name)
    }
    return Results(measured.assign(new), results.predicted)


def _new(variable: xr.DataArray, change):
    values = variable.values
    new = np.asarray(change(values.astype(float)))
    return variable.dims, (new if values.dtype.kind == "f" else new.round()).astype(values.dtype)


def _keeps(name) -> bool:
    """What says how long a run is, and whether it is finite, is no measurement."""
    return str(name).endswith("length") or name == "finite"


def _even(points):
    return np.geomspace(1, 1e-3, max(points, 2))[:points]
