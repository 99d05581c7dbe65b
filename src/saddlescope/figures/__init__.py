"""Figures: the style, panels that several figures share, and movies."""

from saddlescope.figures.movie import save_movie, weights_movie
from saddlescope.figures.panels import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    first_theory,
    learned_panel,
    loss_and_weights,
    loss_panel,
    panels,
    save_figure,
    style,
    thinned,
    time_label,
    weights_panels,
)

__all__ = [
    "BLACK",
    "BLUE",
    "GREEN",
    "ORANGE",
    "PURPLE",
    "RED",
    "SKY",
    "first_theory",
    "learned_panel",
    "loss_and_weights",
    "loss_panel",
    "panels",
    "save_figure",
    "save_movie",
    "style",
    "thinned",
    "time_label",
    "weights_movie",
    "weights_panels",
]
