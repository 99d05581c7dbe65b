"""Escape paper, Fig. 1 on small data: a 6-layer ReLU net learns the 8 × 8 digits by two saddles.

The paper trains on MNIST for hours; here are 1797 images of 64 pixels, and 20 seconds per seed. Scaled so: width 100,
and a learning rate c/‖θ‖⁴ at which an aligned net grows by 0.15 per step, the most that does not overshoot: c = 14,
since s* is 0.37 or more. The deviation of initial weights is 0.02: at 0.01 the second saddle is not left within 3,000
epochs. From 0.02 the noise keeps s₂/s₁ of the inner layers near 0.2 on the plateau. So it is not asked whether they
stay rank one.
"""

from saddlescope.experiment import Experiment
from saddlescope.papers.escape._readings import LOSS, reading
from saddlescope.papers.escape._spectra_claims import spectra_claims
from saddlescope.papers.escape._spectra_figure import DRAWN, spectra_figure
from saddlescope.papers.escape._training import SPECTRA, Form, at_forms, require_data

DIGITS = Form("small", depth=6, width=100, scale=0.02, c=14, power=4, epochs=1500)
FORMS = {"quick": DIGITS, "long": DIGITS._replace(epochs=3000)}
setting, save_at = at_forms(FORMS)

experiment = Experiment(
    title="Two saddles of a 6-layer ReLU net on small digits",
    source="Fig. 1",
    setting=setting,
    save_at=save_at,
    observe=(SPECTRA,),
    analyse=reading,
    keep=LOSS,
    full=dict(form=("long",), seed=range(12)),
    quick=dict(form=("quick",), seed=range(4)),
    check_available=require_data(FORMS),
    draw=spectra_figure(FORMS),
    drawn=DRAWN,
    claims=spectra_claims("Fig. 1", FORMS, "mnist", until_left=False),
)
