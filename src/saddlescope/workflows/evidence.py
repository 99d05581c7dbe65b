"""The least of a result from which its verdicts follow: small enough to be kept with the code, and judged again."""

from collections.abc import Iterable, Iterator

import numpy as np

from saddlescope.claims import Claim, judge
from saddlescope.results import FOUND, Results, each_run, stages_of_curve

JUDGED = "judged.nc"
SMALL = 20_000  # bytes of a variable that is kept without asking whether a check reads it


def sufficient(claims: Iterable[Claim], results: Results) -> Results:
    """The results without any variable that no check reads. The stages of a curve take the place of the curve.

    A variable is left out where the verdicts are the same without it, to the last word of their evidence.
    """
    claims = tuple(claims)
    wanted, kept = said(claims, results), results
    for smaller in _steps(results):
        fewer = smaller(kept)
        if _says(claims, fewer, wanted):
            kept = fewer
    return kept


def said(claims, results) -> list[tuple]:
    """What a judgement says."""
    return [(v.sentence, v.word, v.evidence, v.counts) for v in judge(claims, results)]


def _says(claims, results, wanted) -> bool:
    try:
        return said(claims, results) == wanted
    except Exception:  # a check of any kind may miss what it reads
        return False


def _steps(results) -> Iterator:
    if has_curve(results):
        yield with_stages
        yield lambda kept: without(kept, "measured", FOUND)  # where no check reads stages
    for part in ("measured", "predicted"):
        every = getattr(results, part).variables
        large = [str(n) for n, v in every.items() if v.nbytes > SMALL or n in ("setting", "loss")]
        for name in sorted(large, key=lambda n: -every[n].nbytes):
            yield lambda kept, part=part, name=name: without(kept, part, name)


def has_curve(results: Results) -> bool:
    return "loss" in results.measured and results.measured["loss"].dims[1:] in (("step",), ("epoch",))


def with_stages(results: Results) -> Results:
    """With the stages of every curve in place of the curves."""
    texts = [stages_of_curve(run["loss"].values).to_json() for run in each_run(results.measured)]
    measured = results.measured.drop_vars("loss").assign({FOUND: ("run", np.array(texts))})
    return Results(measured, results.predicted)


def without(results: Results, part: str, name: str) -> Results:
    parts = {"measured": results.measured, "predicted": results.predicted}
    return Results(**parts | {part: parts[part].drop_vars(name, errors="ignore")})
