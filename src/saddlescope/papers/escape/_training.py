"""What the training runs of the escape paper share: Appendices B and C, at any scale.

Cross-entropy, batches of 32, no biases, N(0, scale²) weights, learning rate c/‖θ‖^power. An aligned net of depth L
grows by the factor 1 + c s* L^(1-L/2) per step near the origin, if the power is L - 2. Where that growth is far above
0.15 the step overshoots at the escape.
"""

from dataclasses import replace
from typing import NamedTuple

from saddlescope.losses import CrossEntropy
from saddlescope.nets import BiasFreeMLP, ReLU
from saddlescope.observables import TopSingularValues
from saddlescope.optimisers import NormScaledDescent
from saddlescope.setting import Setting
from saddlescope.tasks import ImageClasses
from saddlescope.tasks.datasets import find_dataset
from saddlescope.training import every, log_spaced

SPECTRA = TopSingularValues(10)
DATASETS = {
    "small": "the small digits",
    "mnist": "MNIST",
    "cifar10": "CIFAR-10",
    "fashion": "Fashion-MNIST",
}
LOG, EVEN = 50, 60  # instants that are read, spaced by their logarithm and evenly


class Form(NamedTuple):
    """One choice of data and scale.

    **Arguments:**

    - `dataset`, `depth`, `width`: what is learned; layers; neurons per hidden layer.
    - `scale`: the deviation of initial weights.
    - `c`, `power`: the learning rate is c/‖θ‖^power.
    - `epochs`: how long.
    """

    dataset: str
    depth: int
    width: int
    scale: float
    c: float
    power: float
    epochs: int

    def setting(self, seed, activation=None):
        return Setting(
            task=ImageClasses(self.dataset),
            net=BiasFreeMLP((self.width,) * (self.depth - 1), self.scale, activation or ReLU()),
            optimiser=NormScaledDescent(self.c, self.power),
            loss=CrossEntropy(),
            batch=32,
            epochs=self.epochs,
            precision="float32",
            seed=seed,
        )

    def instants(self):
        """When observables are read."""
        budget = self.setting(0).budget
        return log_spaced(LOG, budget) | every(max(1, budget // EVEN), budget)

    def check_available(self):
        """Refuse, before anything is run, data that is not here."""
        if self.dataset != "small":
            find_dataset(self.dataset).load()


def require_data(forms):
    """A `check_available` for experiments with an axis `form`."""

    def check(axes):
        for form in axes.get("form", ()):
            if form in forms:
                forms[form].check_available()

    return check


def at_forms(forms):
    """`setting` and `save_at` of an experiment with the axes `form` and `seed`."""

    def setting(form, seed):
        return forms[form].setting(seed)

    def save_at(form, seed):
        return forms[form].instants()

    return setting, save_at


def on_named_data(claims, forms, meant=None):
    """The claims, each with the data of its runs in the evidence, and that they are not `meant` where they are not."""
    return tuple(replace(claim, check=_naming(claim.check, forms, meant)) for claim in claims)


def _naming(check, forms, meant):
    def named(results):
        found = check(results)
        text = data_text({forms[form].dataset for form in results.values("form")}, meant)
        return found and replace(found, evidence=f"{text}: {found.evidence}")

    return named


def data_text(datasets, meant=None):
    """`on the small digits, not on MNIST`."""
    text = " and ".join(f"on {DATASETS[name]}" for name in sorted(datasets, key=list(DATASETS).index))
    return text if meant is None or meant in datasets else f"{text}, not on {DATASETS[meant]}"
