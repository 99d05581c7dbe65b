"""Figures are drawn without a screen, and importing them chooses no backend for the user."""

import os
import subprocess
import sys
from io import BytesIO

import matplotlib.pyplot as plt
import numpy as np
import pytest

from saddlescope.figures import save_figure, style
from saddlescope.figures.powers import label_plainly

HEADLESS = """
import sys
from pathlib import Path

import numpy as np

import saddlescope.figures
from saddlescope.figures import panels, save_figure, style
from saddlescope.figures.curve import draw_curve
from saddlescope.stages import find_stages

chosen = [name for name in sys.modules if name.startswith("matplotlib.backends.backend_")]
assert not chosen, f"an import chose a backend: {chosen}"
loss = np.repeat([2.0, 1.0, 0.2], 100)
draw_curve(Path(sys.argv[1]) / "curve.png", find_stages(loss), loss, None, "loss")
with style():
    figure, cells = panels(1, 1)
    figure.add_subplot(cells[0]).plot(loss)
    save_figure(figure, sys.argv[1])
"""


def test_figures_are_drawn_without_a_screen_or_a_chosen_backend(tmp_path):
    screen = ("MPLBACKEND", "DISPLAY", "WAYLAND_DISPLAY")
    env = {name: value for name, value in os.environ.items() if name not in screen}
    command = [sys.executable, "-W", "error", "-c", HEADLESS, str(tmp_path)]
    made = subprocess.run(command, env=env, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    assert {p.name for p in tmp_path.iterdir()} == {"curve.png", "figure.png", "figure.pdf"}
    assert all(p.stat().st_size > 1000 for p in tmp_path.iterdir())


def test_a_saved_figure_has_the_pixels_of_savefig(tmp_path):
    before = plt.get_fignums()

    def drawn():
        figure, axes = plt.subplots(2, 2, figsize=(6, 4))
        axes[0, 0].semilogy(np.geomspace(1, 1e-6, 50), label="loss")
        axes[0, 0].set(title="a title", xlabel="epoch", ylabel="a label")
        axes[1, 1].plot(np.linspace(-1000, 1000, 9))
        figure.suptitle("all of it")
        return figure

    with style():
        usual, png = drawn(), BytesIO()
        label_plainly(usual)
        usual.savefig(png)
        plt.close(usual)
        save_figure(drawn(), tmp_path)
    png.seek(0)
    np.testing.assert_array_equal(plt.imread(tmp_path / "figure.png"), plt.imread(png))
    assert plt.get_fignums() == before, "a saved figure is closed"


@pytest.mark.parametrize(
    ("scale", "limits", "expected"),
    [
        ("log", (1e-3, 1e2), ["10⁻³", "10⁻²", "10⁻¹", "10⁰", "10¹", "10²"]),
        ("log", (0.15, 0.45), ["2 × 10⁻¹", "3 × 10⁻¹", "4 × 10⁻¹"]),
        ("symlog", (-200, 200), ["−10²", "−10¹", "−10⁰", "0", "10⁰", "10¹", "10²"]),
    ],
)
def test_powers_of_ten_are_plain_text(scale, limits, expected):
    figure, ax = plt.subplots()
    ax.set(xscale=scale, xlim=limits)
    label_plainly(figure)
    figure.canvas.draw()
    shown = [tick.get_text() for minor in (False, True) for tick in ax.get_xticklabels(minor=minor)]
    plt.close(figure)
    assert set(expected) <= set(shown)
    assert not any("$" in text for text in shown)
