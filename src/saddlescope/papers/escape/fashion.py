"""The escape paper's Fig. 1 on Fashion-MNIST, which the paper does not train on.

Width 100, deviation 0.01, 15/‖θ‖⁴: the best one-neuron speed is 1.6 times that of MNIST, so that c is smaller. Claims
on the second escape rest on the runs that leave their plateau within 80 epochs: only short plateaus are seen to end.
The quick form trains on the small digits, not on Fashion-MNIST, which may not be here: nets as in the quick form of
`fig1`, from other seeds.
"""

from saddlescope.experiment import Experiment
from saddlescope.papers.escape._readings import LOSS, reading
from saddlescope.papers.escape._spectra_claims import spectra_claims
from saddlescope.papers.escape._spectra_figure import DRAWN, spectra_figure
from saddlescope.papers.escape._training import SPECTRA, Form, at_forms, require_data

FORMS = {
    "scaled": Form("fashion", depth=6, width=100, scale=0.01, c=15, power=4, epochs=80),
    "digits": Form("small", depth=6, width=50, scale=0.01, c=20, power=4, epochs=300),
}
setting, save_at = at_forms(FORMS)

experiment = Experiment(
    title="Two saddles of a 6-layer ReLU net on Fashion-MNIST",
    source="ours",
    setting=setting,
    save_at=save_at,
    observe=(SPECTRA,),
    analyse=reading,
    keep=LOSS,
    full=dict(form=("scaled",), seed=range(11)),
    quick=dict(form=("digits",), seed=range(8, 12)),
    check_available=require_data(FORMS),
    draw=spectra_figure(FORMS),
    drawn=DRAWN,
    claims=spectra_claims("as Fig. 1, other data", FORMS, "fashion"),
)
