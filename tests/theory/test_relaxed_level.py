"""Where few units come to rest, against the best fit of that width on white data, known in closed form."""

import numpy as np
import pytest
from theory.descent import linear_setting

from saddlescope.errors import InvalidInput
from saddlescope.initials import given_weights
from saddlescope.nets import linear_units, low_rank
from saddlescope.observables import Parameters
from saddlescope.results import Run
from saddlescope.tasks import LinearTeacher, cosine
from saddlescope.theory import RelaxedLevel
from saddlescope.training import every, train

STRENGTHS = (1.0, 0.7, 0.4)


def narrow_run(width):
    """Some of five units are drawn, the others silent; a few steps of descent on white data."""
    rng = np.random.default_rng(width)
    start = {name: 0.5 * rng.standard_normal((5, 3)) for name in ("u", "v")}
    start = {name: np.where(np.arange(5)[:, None] < width, w, 0) for name, w in start.items()}
    teacher = LinearTeacher(np.diag(STRENGTHS), np.eye(3))
    given = dict(task=teacher, net=linear_units(5, 0.5), initial=given_weights(start), steps=40)
    setting = linear_setting(**given)
    return setting, Run(train(setting, Parameters(), every(20, 40), quiet=True))


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize(("step", "read"), [(0, 0), (20, 20), (None, 40)])
def test_it_is_the_best_fit_of_that_width_wherever_it_reads(width, step, read):
    found = RelaxedLevel(width, step)(*narrow_run(width))
    best = sum(s**2 for s in STRENGTHS[width:])  # a net of `width` units learns the strongest directions
    assert found["end_loss"][1] == pytest.approx(best, rel=1e-9)
    assert found["end_loss_from"][1] == read


def test_descent_goes_there():
    setting, run = narrow_run(1)
    on = train(setting.replace(steps=6000), quiet=True)
    assert on.loss.values[-1] == pytest.approx(RelaxedLevel(1, 0)(setting, run)["end_loss"][1], rel=1e-6)


def test_refuses_units_that_are_not_silent_and_steps_that_were_not_saved():
    with pytest.raises(InvalidInput, match="not silent"):
        RelaxedLevel(1)(*narrow_run(2))
    with pytest.raises(InvalidInput, match="step 7"):
        RelaxedLevel(1, 7)(*narrow_run(1))
    with pytest.raises(InvalidInput, match="nets of units"):
        RelaxedLevel(1)(linear_setting(task=cosine(1, 16), net=low_rank(2, 1, 4)), narrow_run(1)[1])
