"""The claims on nets of four layers, whose plateaus the paper calls less distinct (Section 5, Fig. 4 and 6)."""

import numpy as np

from saddlescope.checks import in_most_runs
from saddlescope.claims import Claim
from saddlescope.papers.escape._plateaus import DOMINANT, deep_layers, spaced
from saddlescope.papers.escape._readings import NEVER, ratios_on
from saddlescope.papers.escape._spectra_claims import falls_with_depth
from saddlescope.papers.escape._training import on_named_data


def none_as_long(run):
    """The run leaves the origin, and rests after it for less time than there, or not at all."""
    left = run["wait"] != NEVER
    return bool(left and (not run["rested"] or run["rest_end"] - run["rest_start"] < run["wait"]))


def say_stays(results):
    rests = [run for run in results.runs() if run.finite and run["rested"]]
    lengths = spaced([float(run["rest_end"] - run["rest_start"]) for run in rests], ".0f")
    waits = spaced([float(run["wait"]) for run in results.runs() if run.finite], ".0f")
    return f"epochs at the origin {waits}; epochs on a plateau after it: {lengths or 'none'}"


def deep_dominant(run):
    """One value of each layer of the deeper half is dominant where the loss has left the origin."""
    found = ratios_on(run, "escape")
    return bool(run["wait"] != NEVER and np.all(found[deep_layers(len(found))] < DOMINANT))


def stronger_when_deeper(run):
    return bool(run["wait"] != NEVER and falls_with_depth(ratios_on(run, "escape")))


def say_escape(results):
    rows = [ratios_on(run, "escape") for run in results.runs() if run.finite]
    return f"median s₂/s₁ by layer at the escape: {spaced(np.median(rows, axis=0)) if rows else 'none'}"


def depth4_claims(figure, forms, meant):
    """The claims of one figure; `meant` is the data set that its sentences speak of."""
    claims = (
        Claim(
            "With four layers no plateau after the first escape is as long as the wait at the origin.",
            f"E91 · Section 5, {figure}",
            in_most_runs(none_as_long, say_stays, by="form"),
            note="On the small digits plateaus of four layers from 0.001 are longer than the wait.",
        ),
        Claim(
            f"At the first escape the deeper layers have one dominant singular value (s₂/s₁ < {DOMINANT:g}).",
            f"E57, ours · {figure}",
            in_most_runs(deep_dominant, say_escape, by="form"),
        ),
        Claim(
            "The deeper a layer, the stronger its low-rank bias at the first escape: s₂/s₁ falls with the layer.",
            f"E97, ours · {figure}",
            in_most_runs(stronger_when_deeper, say_escape, by="form"),
        ),
    )
    return on_named_data(claims, forms, meant)
