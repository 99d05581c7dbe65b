"""Escape paper, Fig. 1 and 3: singular values of a 6-layer ReLU net on MNIST.

Scaled: width 100 in place of 1000, deviation 0.01 in place of 0.001, 30/‖θ‖⁴ in place of 10/‖θ‖⁴, 120 epochs in
place of 1000. The narrower net costs 0.3 ms per step in place of 18, so that a seed takes 70 seconds of one core. The
singular values of the initial noise, about 2 √width · deviation, are 0.2 in place of 0.06. The time until the second
escape falls steeply with them: half of the runs come to no plateau, and at twice the deviation none does. From half the
deviation, and at a rate that does not overshoot at the escape, runs come to the plateau and do not leave it in 130
epochs: `smaller-start`.

`--axis form=paper` is the paper's own scale, about ten hours of one core per seed; a run that is
stopped resumes. The quick form trains on the small digits, not on MNIST, which may not be here.
"""

from saddlescope.experiment import Experiment
from saddlescope.papers.escape._readings import LOSS, reading
from saddlescope.papers.escape._spectra_claims import spectra_claims
from saddlescope.papers.escape._spectra_figure import DRAWN, spectra_figure
from saddlescope.papers.escape._training import SPECTRA, Form, at_forms, require_data

FORMS = {
    "scaled": Form("mnist", depth=6, width=100, scale=0.01, c=30, power=4, epochs=120),
    "smaller-start": Form("mnist", depth=6, width=100, scale=0.005, c=7.5, power=4, epochs=130),
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
    full=dict(form=("scaled", "smaller-start"), seed=range(14)),
    quick=dict(form=("digits",), seed=range(4)),
    where="form != 'smaller-start' or seed < 6",
    check_available=require_data(FORMS),
    draw=spectra_figure(FORMS),
    drawn=DRAWN,
    claims=spectra_claims("Fig. 1 and 3", FORMS, "mnist"),
)
