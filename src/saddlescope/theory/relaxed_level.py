"""The level at which a run that has few units of any size comes to rest."""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp

from saddlescope.errors import InvalidInput, require
from saddlescope.losses import SquaredError
from saddlescope.nets import Units
from saddlescope.numerics import reproducible
from saddlescope.serialization.part import as_int
from saddlescope.theory.prediction import ConditionalPrediction
from saddlescope.theory.relax import relax


@final
class RelaxedLevel(ConditionalPrediction):
    """The loss of the fixed point below saved weights, of their first few units (simplicity paper,
    Section 4).

    A net whose other units are silent stays on the manifold of these few, so it ends where they do:
    at a local minimum of the narrower net. That is found by a trust-region method with exact
    Hessians, not by descent.

    Holds for two-layer nets of units with φ(x; 0) = 0, trained on the squared error, whose later
    units are silent. Gives `end_loss`, and `end_loss_from`, the step that it read.

    **Arguments:**

    - `width`: how many units are not silent: the first ones.
    - `step`: the step whose weights are read; None for the last that were saved.
    """

    width: int = eqx.field(static=True, converter=as_int)
    step: int | None = eqx.field(default=None, static=True, converter=as_int)

    def __check_init__(self):
        good = type(self.width) is int and self.width > 0
        require(good, f"`width` must be a positive number of units; got {self.width!r}.")

    @reproducible()
    def __call__(self, setting, run):
        net = setting.net
        fits = isinstance(net, Units) and isinstance(setting.loss, SquaredError)
        require(fits, "This theory is for two-layer nets of units, trained on the squared error.")
        require(self.width <= net.units, f"`width` is at most the {net.units} units of the net; got {self.width}.")
        step, params = self._weights(run)
        rest = max(float(abs(w[self.width :]).max(initial=0)) for w in params.values())
        require(rest == 0, f"Units after the first {self.width} are not silent at step {step}.")
        few = {name: w[: self.width] for name, w in params.items()}
        narrow = Units(self.width, net.unit, net.scale)
        statistics = jax.tree.map(jnp.asarray, setting.statistics())
        return {"end_loss": ((), relax(narrow, few, statistics)[1]), "end_loss_from": ((), step)}

    def _weights(self, run):
        names, steps = [n for n in ("u", "v") if f"param_{n}" in run], run["saved_step"].values
        require(names == ["u", "v"], "This run kept no weights: observe `Parameters()`.")
        if len(steps) == 0 or self.step not in (None, *steps.tolist()):
            raise InvalidInput(f"No weights were saved at step {self.step}; give one of {steps}.")
        i = -1 if self.step is None else steps.tolist().index(self.step)
        return int(steps[i]), {name: run[f"param_{name}"].values[i] for name in names}
