"""Figures of `saddlescope stages`: scales, labels, and a legend beside the curve."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from staircases import staircase

from saddlescope.figures import curve as figures
from saddlescope.stages import Curve, find_stages

TIME = np.arange(1.0, 601)
WIDE = staircase(TIME, [150, 400], [3, 1, 0.01], 5)


@pytest.fixture
def drawn(monkeypatch):
    """The figures that would be written, laid out."""
    found = []
    monkeypatch.setattr(figures, "_save", lambda figure, _: found.append(figure))
    yield found
    for figure in found:
        plt.close(figure)


def draw(loss, drawn, log_time=False, turned=""):
    falling = 1 - loss if turned else loss
    stages = find_stages(falling, TIME, log_time=log_time)
    figures.draw_curve("x.png", stages, loss, TIME, "train/loss_$", log_time, "global_step", turned)
    figure = drawn[-1]
    figure.canvas.draw()
    return figure, figure.axes[0]


@pytest.mark.parametrize(
    ("loss", "scale"),
    [
        (WIDE, "log"),
        (WIDE + 1, "linear"),
        (WIDE - 0.02, "linear"),
        (np.append(WIDE[:-1], np.nan), "log"),
    ],
)
def test_a_positive_loss_over_a_decade_is_on_a_log_scale(drawn, loss, scale):
    ax = draw(loss, drawn)[1]
    assert (ax.get_yscale(), ax.get_xscale()) == (scale, "linear")


def test_log_time_has_a_logarithmic_axis(drawn):
    assert draw(WIDE, drawn, log_time=True)[1].get_xscale() == "log"


def test_labels_are_the_names_of_the_log(drawn):
    figure, ax = draw(WIDE, drawn)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("global_step", r"train/loss_\$")
    assert figure.get_size_inches()[0] == 6.5


def test_the_legend_is_outside_the_axes(drawn):
    figure, ax = draw(WIDE, drawn)
    (legend,) = figure.legends
    assert legend.get_window_extent().y0 >= ax.get_window_extent().y1
    assert legend.get_window_extent().x1 <= figure.bbox.x1
    assert {"plateau", "level", "drop"} <= {text.get_text() for text in legend.get_texts()}


def test_a_rising_curve_is_drawn_as_it_is(drawn):
    figure, ax = draw(1 - WIDE / 3 + 1e-3, drawn, turned="1 - acc")
    assert ax.get_yscale() == "linear"
    low, high = ax.get_ylim()
    assert low < 0.01
    assert high > 0.99
    assert not ax.yaxis_inverted()
    assert figure.legends[0].get_title().get_text() == "stages of 1 - acc"


def test_several_curves(drawn):
    curve = Curve(TIME, WIDE, "loss", "step", "CSV")
    other = Curve(TIME, WIDE, "loss", "epoch", "CSV")
    stages = find_stages(WIDE, TIME)
    curves = [("a long/path/of a log.csv", curve, stages), ("b", other, stages)]
    figures.draw_curves("x.png", curves)
    drawn[0].canvas.draw()
    ax, (legend,) = drawn[0].axes[0], drawn[0].legends
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_yscale()) == ("epoch or step", "loss", "log")
    assert [t.get_text() for t in legend.get_texts()] == ["a long/path/of a log.csv", "b", "drop"]
    assert legend.get_window_extent().y0 >= ax.get_window_extent().y1
