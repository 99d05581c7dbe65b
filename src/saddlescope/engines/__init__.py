"""What advances a run: compiled loops behind one interface."""

from typing import TYPE_CHECKING

from saddlescope.engines.cached_features import CachedFeatures
from saddlescope.engines.engine import Engine, Stepper
from saddlescope.engines.flow import Flow
from saddlescope.engines.fused import Fused
from saddlescope.engines.jax_loop import Jax

if TYPE_CHECKING:
    from saddlescope.setting import Setting

__all__ = ["CachedFeatures", "Engine", "Flow", "Fused", "Jax", "Stepper", "choose_engine", "engine_named"]

PREFERRED = (Flow(), CachedFeatures(), Fused(), Jax())  # the first that fits is taken


def choose_engine(setting: "Setting") -> Engine:
    """The fastest engine that fits a setting; the general one, with its reason, where none does."""
    return next((engine for engine in PREFERRED if engine.why_not(setting) is None), PREFERRED[-1])


def engine_named(name: str) -> Engine | None:
    """Our own engine of this name, for the command line and setting files."""
    return next((engine for engine in PREFERRED if engine.name == name), None)
