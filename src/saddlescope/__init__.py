"""Saddlescope: a laboratory for the stages of neural-network learning."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from saddlescope.claims import Claim, judge
    from saddlescope.experiment import Experiment
    from saddlescope.explanations import explain
    from saddlescope.results import Results
    from saddlescope.setting import Setting
    from saddlescope.stages import Stages, find_stages
    from saddlescope.storage.result_folder import load_results, save_results
    from saddlescope.sweeps import sweep
    from saddlescope.theory.escape.blow_up import blow_up_time
    from saddlescope.theory.escape.directions import escape_directions
    from saddlescope.theory.escape.localized import localized_loss
    from saddlescope.training import train

# The public names and where they live. Imported when first used, so that `saddlescope --help` does not wait for JAX.
HOMES = {
    "Claim": "claims",
    "Experiment": "experiment",
    "Results": "results",
    "Setting": "setting",
    "Stages": "stages",
    "blow_up_time": "theory.escape.blow_up",
    "escape_directions": "theory.escape.directions",
    "explain": "explanations",
    "find_stages": "stages",
    "judge": "claims",
    "load_results": "storage.result_folder",
    "localized_loss": "theory.escape.localized",
    "save_results": "storage.result_folder",
    "sweep": "sweeps",
    "train": "training",
}
__all__ = [
    "Claim",
    "Experiment",
    "Results",
    "Setting",
    "Stages",
    "blow_up_time",
    "escape_directions",
    "explain",
    "find_stages",
    "judge",
    "load_results",
    "localized_loss",
    "save_results",
    "sweep",
    "train",
]


def __getattr__(name):
    if name == "__version__":
        from importlib.metadata import version

        return version("saddlescope")
    if name not in HOMES:
        raise AttributeError(f"module 'saddlescope' has no attribute {name!r}")
    return getattr(import_module(f"saddlescope.{HOMES[name]}"), name)


def __dir__():
    return __all__
