"""What is kept of a training run: its stays at the origin and on the plateau after it, and singular values there.

All is read in the worker. Checks read these numbers alone, so that they can be judged again without the curves, which
are kept for figures.
"""

import numpy as np

from saddlescope.papers.escape._plateaus import after_rest, first_rest, ratios, spectra, wait

NEVER = -1.0  # epochs at the origin of a run that does not leave it
LOSS = ("loss",)  # of the run itself, for figures


def reading(run, made=None) -> dict:
    """The stays and spectra of one run; those of the plateau where it comes to one."""
    values, times = spectra(run), np.asarray(run.times, float)
    waited = wait(run)
    escaped = int(np.argmax(times >= waited)) if np.isfinite(waited) else -1
    found = {
        "wait": waited if np.isfinite(waited) else NEVER,
        "epochs": float(len(run["loss"])),
        "rested": False,
        "left": False,
        "escape_values": (("layer", "value"), values[escaped]),
        "end_values": (("layer", "value"), values[-1]),
        "times": (("instant",), times),
        "spectra": (("instant", "layer", "value"), values),
    }
    rest = first_rest(run)
    return found if rest is None else found | _on_plateau(run, rest, values, times)


def _on_plateau(run, rest, values, times):
    return {
        "rested": True,
        "left": bool(rest.left),
        "rest_start": float(rest.start),
        "rest_end": float(rest.end),
        "rest_level": float(rest.level),
        "rest_time": times[rest.at],
        "rest_values": (("layer", "value"), values[rest.at]),
        "after_values": (("layer", "value"), values[after_rest(run, rest)]),
    }


def rested(run) -> bool:
    """Whether a run came to the plateau."""
    return bool(run.finite and run["rested"])


def ratios_on(run, when="rest") -> np.ndarray:
    """s₂/s₁ of every layer on the plateau, or at another instant that was read."""
    return ratios(run[f"{when}_values"].values)


def on_rests(results) -> list:
    """The finite runs that came to rest."""
    return [run for run in results.runs() if rested(run)]
