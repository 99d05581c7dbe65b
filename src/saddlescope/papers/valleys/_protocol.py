"""Names of the valleys paper's runs: `f3_N768_bs8_L2` is factor 3, 768 samples, batch 8, depth 2.

A name stands for the paper's whole protocol (App. A.2): Σ_{k ≤ factor} cos(2πkx) on a grid, a
random-feature net of width 1024, descent at rate 0.01 clipped to norm 1, halved on stagnation,
stopped below 1e-6 or after 10,000 epochs.
"""

from dataclasses import astuple, dataclass

from saddlescope.errors import InvalidInput, nearest
from saddlescope.nets import Gaussian, MeanField, MuP, RandomFeatureNet, UniformFanIn, low_rank
from saddlescope.optimisers import GradientDescent, HalveOnStagnation, LearningRateBelow
from saddlescope.papers.valleys import RUN_EXAMPLE, RUN_NAME
from saddlescope.setting import Setting
from saddlescope.tasks import Cosines, cosine_sum

INITS = {"uniform": UniformFanIn, "gaussian": Gaussian, "mean-field": MeanField, "mup": MuP}
INIT_WORDS = {"uniform": "uniform", "gaussian": "Gaussian", "mean-field": "mean-field", "mup": "μP"}


@dataclass(frozen=True)
class Name:
    """The name of a run of the paper.

    **Arguments:**

    - `factor`: how many cosines the target sums.
    - `samples`: how many points of the grid are trained on.
    - `batch`: samples per step.
    - `depth`: how many low-rank blocks the net has.
    """

    factor: int
    samples: int
    batch: int
    depth: int

    def __str__(self):
        return "f{}_N{}_bs{}_L{}".format(*astuple(self))

    @staticmethod
    def parse(text: str) -> "Name":
        found = RUN_NAME.fullmatch(text)
        if not found:
            raise InvalidInput(
                f"A run is named by factor, samples, batch and depth, such as {RUN_EXAMPLE}; got {text!r}."
            )
        return Name(*map(int, found.groups()))

    @staticmethod
    def of(setting: Setting) -> "Name":
        """The name of a setting, which says its task, batch and depth. Rank, width, seed and the rest are not in it."""
        task, net, batch = setting.task, setting.net, setting.batch
        if not isinstance(task, Cosines) or not isinstance(net, RandomFeatureNet) or batch is None:
            raise InvalidInput("Only minibatch runs of a RandomFeatureNet on a sum of cosines have such a name.")
        name = Name(len(task.frequencies), task.samples, batch, len(net.ranks))
        if task != cosine_sum(name.factor, name.samples, allow_aliasing=task.allow_aliasing):
            raise InvalidInput(f"The name {name} stands for cos(2πkx), k = 1 to {name.factor}; this target is another.")
        return name

    def setting(
        self, rank, seed=0, *, width=1024, lr=0.01, clip: float | None = 1.0, momentum=None, epochs=10_000,
        schedule=None, precision="float32", engine=None, allow_aliasing=False, **net,
    ) -> Setting:  # fmt: skip
        """The paper's protocol at a rank; `net` goes to the net, such as parameterisation=Gaussian()."""
        return Setting(
            task=cosine_sum(self.factor, self.samples, allow_aliasing=allow_aliasing),
            net=low_rank(rank, self.depth, width, **net),
            optimiser=GradientDescent(lr, momentum, clip),
            schedule=HalveOnStagnation() if schedule is None else schedule,
            stop=LearningRateBelow(1e-6),
            batch=self.batch, epochs=epochs, precision=precision, engine=engine, seed=seed,
        )  # fmt: skip

    def by_options(self, **options) -> Setting:
        """The setting at options of `saddlescope train`, such as rank=10 and init="gaussian"."""
        return valleys(self.factor, self.samples, self.batch, self.depth, **options)


def valleys(
    factor, N, bs, L, rank=10, seed=0, init="uniform", lr=0.01, clip=1.0, momentum=None, width=1024, epochs=10_000,
    precision="float32", engine=None, allow_aliasing=False,
) -> Setting:  # fmt: skip
    """The valleys paper's protocol as a function of what a sweep varies, under the names of the paper's runs.

    `clip=0` means no clipping; `init` is uniform, gaussian, mean-field or mup.
    """
    if init not in INITS:
        raise InvalidInput(f"`init` must be one of {', '.join(INITS)}; got {init!r}.{nearest(str(init), INITS)}")
    return Name(factor, N, bs, L).setting(
        rank, seed, width=width, lr=lr, clip=clip or None, momentum=momentum, epochs=epochs, precision=precision,
        engine=engine, allow_aliasing=allow_aliasing, parameterisation=INITS[init](),
    )  # fmt: skip
