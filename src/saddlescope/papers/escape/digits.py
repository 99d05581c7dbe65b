"""Escape paper, Fig. 1 on small data: a 6-layer ReLU net learns the 8 × 8 digits by two saddles.

The paper trains on MNIST for hours; here are 1797 images of 64 pixels, and 13 seconds per seed. Scaled so: width 100,
deviation 0.02 of initial weights, learning rate 20/‖θ‖⁴. An aligned net then grows by about 0.2 per step (s* is 0.37 or
more). At 50/‖θ‖⁴ and deviation 0.01 it grows by 0.5, the last layer overshoots to 1.7 times the others, and
one seed of four escapes twice in 900 epochs.
"""

from saddlescope.experiment import Experiment
from saddlescope.papers.escape._spectra_claims import spectra_claims
from saddlescope.papers.escape._spectra_figure import spectra_figure
from saddlescope.papers.escape._training import SPECTRA, Form, at_forms, require_data

DIGITS = Form("small", depth=6, width=100, scale=0.02, c=20, power=4, epochs=900)
FORMS = {"quick": DIGITS, "long": DIGITS._replace(epochs=1800)}
setting, save_at = at_forms(FORMS)

experiment = Experiment(
    title="Two saddles of a 6-layer ReLU net on small digits",
    source="Fig. 1",
    setting=setting,
    save_at=save_at,
    observe=(SPECTRA,),
    full=dict(form=("long",), seed=range(12)),
    quick=dict(form=("quick",), seed=range(5)),
    check_available=require_data(FORMS),
    draw=spectra_figure,
    claims=spectra_claims("Fig. 1"),
)
