"""Escape paper, Fig. 5: singular values of a 6-layer ReLU net on CIFAR-10 in grey values.

Scaled: width 100 in place of 1000, deviation 0.003 in place of 0.001, 30/‖θ‖⁴ in place of 40/‖θ‖⁴. The singular values
of the initial noise, about 2 √width · deviation, are the paper's. Two runs of 1000 epochs in place of 5000 take ten
minutes of one core each; what comes after the first plateau is not decided by them. `short` has 250 epochs and more
seeds, for the claims on that plateau. Whether layers stay rank one until it is left is not asked here, because one run
in two left it, after 489 epochs.

`--axis form=paper` is the paper's own scale, about forty hours of one core per seed; a run that is
stopped resumes. The quick form trains on the small digits, not on CIFAR-10, which may not be here:
nets as in the quick form of `fig1`, from other seeds.
"""

from saddlescope.experiment import Experiment
from saddlescope.papers.escape._readings import LOSS, reading
from saddlescope.papers.escape._spectra_claims import spectra_claims
from saddlescope.papers.escape._spectra_figure import DRAWN, spectra_figure
from saddlescope.papers.escape._training import SPECTRA, Form, at_forms, require_data

SCALED = Form("cifar10", depth=6, width=100, scale=0.003, c=30, power=4, epochs=1000)
FORMS = {
    "scaled": SCALED,
    "short": SCALED._replace(epochs=250),
    "paper": Form("cifar10", depth=6, width=1000, scale=1e-3, c=40, power=4, epochs=5000),
    "digits": Form("small", depth=6, width=50, scale=0.01, c=20, power=4, epochs=300),
}
setting, save_at = at_forms(FORMS)

experiment = Experiment(
    title="Singular values of a 6-layer ReLU net on CIFAR-10",
    source="Fig. 5",
    setting=setting,
    save_at=save_at,
    observe=(SPECTRA,),
    analyse=reading,
    keep=LOSS,
    full=dict(form=("scaled", "short"), seed=range(8)),
    quick=dict(form=("digits",), seed=range(4, 8)),
    where="(form != 'scaled' or seed < 2) and (form != 'short' or seed >= 2)",
    check_available=require_data(FORMS),
    draw=spectra_figure(FORMS, log=True),
    drawn=DRAWN,
    claims=spectra_claims("Fig. 5", FORMS, "cifar10", until_left=False),
)
