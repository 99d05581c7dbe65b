"""The claims on nets of four layers, whose plateaus the paper calls less distinct (Section 5, Fig. 4 and 6)."""

import numpy as np

from saddlescope.checks import in_most_runs
from saddlescope.claims import CheckResult, Claim
from saddlescope.errors import number_of
from saddlescope.papers.escape._plateaus import DOMINANT, deep_layers, spaced
from saddlescope.papers.escape._readings import NEVER, ratios_on
from saddlescope.papers.escape._spectra_claims import falls_with_depth
from saddlescope.papers.escape._training import on_named_data


def in_most_that_tell(tells, test, say):
    """test(run) in most runs of which tells(run) is true; the others say nothing. Decided for each form as well."""

    def check(results):
        part = results.where([bool(not run.finite or tells(run)) for run in results.runs()])
        n, total = part.measured.sizes["run"], results.measured.sizes["run"]
        text = f"{n} of {number_of(total, 'run')} can tell"
        if not n:
            return CheckResult(False, text, unclear=True)
        return in_most_runs(test, lambda part: f"{text}; {say(part)}", by="form")(part)

    return check


def left_origin(run):
    return run["wait"] != NEVER


def seen_to_its_end(run):
    """The run left the origin, and does not end on a plateau that may yet become as long as the wait."""
    return left_origin(run) and not (run["rested"] and not run["left"] and none_as_long(run))


def none_as_long(run):
    """The run rests after the origin for less time than there, or not at all."""
    return bool(not run["rested"] or run["rest_end"] - run["rest_start"] < run["wait"])


def say_stays(results):
    rests = [run for run in results.runs() if run.finite and run["rested"]]
    lengths = spaced([float(run["rest_end"] - run["rest_start"]) for run in rests], ".0f")
    waits = spaced([float(run["wait"]) for run in results.runs() if run.finite], ".0f")
    return f"epochs at the origin {waits}; epochs on a plateau after it: {lengths or 'none'}"


def deep_dominant(run):
    """One value of each layer of the deeper half is dominant where the loss has left the origin."""
    found = ratios_on(run, "escape")
    return bool(np.all(found[deep_layers(len(found))] < DOMINANT))


def stronger_when_deeper(run):
    return falls_with_depth(ratios_on(run, "escape"))


def say_escape(results):
    rows = [ratios_on(run, "escape") for run in results.runs() if run.finite]
    return f"median s₂/s₁ by layer at the escape: {spaced(np.median(rows, axis=0)) if rows else 'none'}"


def depth4_claims(figure, forms, meant):
    """The claims of one figure; `meant` is the data set that its sentences speak of."""
    claims = (
        Claim(
            "With four layers no plateau after the first escape is as long as the wait at the origin.",
            f"E91, ours · Section 5, {figure}",
            in_most_that_tell(seen_to_its_end, none_as_long, say_stays),
            note="On the small digits plateaus of four layers from 0.001 are longer than the wait.",
        ),
        Claim(
            f"At the first escape the deeper layers have one dominant singular value (s₂/s₁ < {DOMINANT:g}).",
            f"E57, ours · {figure}",
            in_most_that_tell(left_origin, deep_dominant, say_escape),
        ),
        Claim(
            "The deeper a layer, the stronger its low-rank bias at the first escape: s₂/s₁ falls with the layer.",
            f"E97, ours · {figure}",
            in_most_that_tell(left_origin, stronger_when_deeper, say_escape),
        ),
    )
    return on_named_data(claims, forms, meant)
