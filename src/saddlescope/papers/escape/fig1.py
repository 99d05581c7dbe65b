"""Escape paper, Fig. 1 and 3: singular values of a 6-layer ReLU net on MNIST.

Scaled: width 100 in place of 1000, 30/‖θ‖⁴ in place of 10/‖θ‖⁴. The narrower net costs 0.3 ms per step in place of 18.
What matters of the initial weights is the size of their singular values, about 2 √width · deviation: 0.06 in the paper.
The time until the second escape falls steeply with it. So there are two forms:

- `scaled` has the deviation 0.01, so that this size is 0.2, and 160 epochs in place of 1000. Its plateau is short, and
  missing in half of the runs; at twice the deviation there is none. Claims on the second escape rest on it.
- `paper-noise` has the deviation 0.003, so that the size is the paper's, for 80 epochs. It comes to the plateau and is
  still there at the end.

`--axis form=paper` is the paper's own scale, about ten hours of one core per seed; a run that is
stopped resumes. The quick form trains on the small digits, not on MNIST, which may not be here.
"""

from saddlescope.experiment import Experiment
from saddlescope.papers.escape._readings import LOSS, reading
from saddlescope.papers.escape._spectra_claims import spectra_claims
from saddlescope.papers.escape._spectra_figure import DRAWN, spectra_figure
from saddlescope.papers.escape._training import SPECTRA, Form, at_forms, require_data

FORMS = {
    "scaled": Form("mnist", depth=6, width=100, scale=0.01, c=30, power=4, epochs=160),
    "paper-noise": Form("mnist", depth=6, width=100, scale=0.003, c=30, power=4, epochs=80),
    "paper": Form("mnist", depth=6, width=1000, scale=1e-3, c=10, power=4, epochs=1000),
    "digits": Form("small", depth=6, width=50, scale=0.01, c=20, power=4, epochs=300),
}
setting, save_at = at_forms(FORMS)

experiment = Experiment(
    title="Two saddles of a 6-layer ReLU net on MNIST, and its singular values",
    source="Fig. 1 and 3",
    setting=setting,
    save_at=save_at,
    observe=(SPECTRA,),
    analyse=reading,
    keep=LOSS,
    full=dict(form=("scaled", "paper-noise"), seed=range(11)),
    quick=dict(form=("digits",), seed=range(4)),
    where="form != 'paper-noise' or seed < 8",
    check_available=require_data(FORMS),
    draw=spectra_figure(FORMS),
    drawn=DRAWN,
    claims=spectra_claims("Fig. 1 and 3", FORMS, "mnist"),
)
