"""Valleys paper, App. C.9: the symmetry comparison at (144, 48), N = 4000, once, frozen and all
maps trained.

10,000 epochs in the paper; 4,000 here, when the rate is 1.5 % of what it was. Its layers 7 and 16
count all 18 affine maps; the channels nearest to them are those of blocks 4 and 8. If one of the
two nets does not fit, nothing is concluded.
"""

from saddlescope.checks import mean_odd_share
from saddlescope.claims import CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.papers.valleys import _symmetry as symmetry
from saddlescope.papers.valleys._symmetry import EVEN, WORDS, fitting
from saddlescope.training import SaveAt

BLOCKS = (3, 7)


def setting(net, seed, width, samples, epochs):
    return symmetry.chirp_run(net, 144, 48, samples, epochs, seed, width)


def seen(results):
    """The frozen net is symmetric, the other is not; said only of nets that fit."""
    found = {net: fitting(results, net) for net in ("frozen", "all")}
    errors = ", ".join(f"{WORDS[str(m.net.values)]} {float(m.test_error[-1]):.2g}" for m in results.runs())
    if not all(found.values()):
        return CheckResult(
            False, f"test errors {errors}, where 0.01 would be a fit; {symmetry.say(results)}", unclear=True
        )
    frozen, free = (mean_odd_share(found[net][0]) for net in ("frozen", "all"))
    return CheckResult(frozen < EVEN < free, f"odd share {frozen:.3f} and {free:.3f}; test errors {errors}")


experiment = Experiment(
    title="Symmetry of channels on the chirp (144, 48), one seed",
    source="App. C.9",
    setting=setting,
    full=dict(net=("frozen", "all"), seed=(0,), width=(1024,), samples=(4000,), epochs=(4000,)),
    quick=dict(net=("frozen", "all"), seed=(0,), width=(32,), samples=(600,), epochs=(20,)),
    save_at=SaveAt((0,)),
    observe=symmetry.observe(BLOCKS),
    draw=symmetry.draw(BLOCKS),
    drawn=symmetry.DRAWN,
    tables=symmetry.tables,
    claims=(
        Claim("At (144, 48) the frozen net is symmetric and the other is not.", "V24 · C.9", seen,
              note="Neither net fits after 4,000 epochs, when the rate is 1.5 % of what it was: test errors of 0.44 "
              "and 0.28. The odd shares of the last block, 0.50 frozen and 0.11 with all maps trained, are the other "
              "way round."),
    ),
)  # fmt: skip
