"""Escape paper, Fig. 6: singular values of a 4-layer ReLU net on CIFAR-10 in grey values.

The paper says of depth 4 that its plateaus are less distinct. So singular values are read where the loss has left the
origin, and not on a plateau, which need not be there.

Scaled: width 100 in place of 1000, its own clock 0.1/‖θ‖² in place of 0.01/‖θ‖⁴, so that the origin is left after
some 12 epochs, and 60 epochs in place of 10,000. `--axis form=paper` is the paper's own scale; a run that is stopped
resumes. The quick form trains on the small digits, not on CIFAR-10, which may not be here: nets as in `fig4`, from
other seeds.
"""

from saddlescope.experiment import Experiment
from saddlescope.papers.escape._depth4_claims import depth4_claims
from saddlescope.papers.escape._readings import LOSS, reading
from saddlescope.papers.escape._spectra_figure import DRAWN, spectra_figure
from saddlescope.papers.escape._training import SPECTRA, Form, at_forms, require_data

FORMS = {
    "scaled": Form("cifar10", depth=4, width=100, scale=1e-3, c=0.1, power=2, epochs=60),
    "paper": Form("cifar10", depth=4, width=1000, scale=1e-3, c=0.01, power=4, epochs=10_000),
    "digits": Form("small", depth=4, width=50, scale=1e-3, c=1.5, power=2, epochs=200),
}
setting, save_at = at_forms(FORMS)

experiment = Experiment(
    title="Singular values of a 4-layer ReLU net on CIFAR-10",
    source="Fig. 6",
    setting=setting,
    save_at=save_at,
    observe=(SPECTRA,),
    analyse=reading,
    keep=LOSS,
    full=dict(form=("scaled",), seed=range(11)),
    quick=dict(form=("digits",), seed=range(4, 8)),
    check_available=require_data(FORMS),
    draw=spectra_figure(FORMS, log=True, when="escape"),
    drawn=DRAWN,
    claims=depth4_claims("Fig. 6", FORMS, "cifar10"),
)
