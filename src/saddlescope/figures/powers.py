"""Labels of logarithmic axes as plain text, 10⁻²: to set formulas takes as long as to draw the rest of a panel."""

import re
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterSciNotation

RAISED = str.maketrans("-−0123456789.", "⁻⁻⁰¹²³⁴⁵⁶⁷⁸⁹·")


class PlainPowers(LogFormatterSciNotation):
    """As matplotlib's own, without formulas."""

    def __call__(self, x, pos=None):
        text = super().__call__(x, pos).replace(r"\times", " × ").replace("{-", "{−")
        text = re.sub(r"^\$\\mathdefault\{(.*)\}\$$", r"\1", text)
        return re.sub(r"\^\{([^}]*)\}", lambda power: power[1].translate(RAISED), text)


def label_plainly(figure: Figure) -> None:
    """Give all logarithmic axes of a figure such labels, where they have matplotlib's own."""
    for axis in (axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)):
        for ticks in (axis.major, axis.minor):
            if type(ticks.formatter) is LogFormatterSciNotation:
                old: Any = ticks.formatter
                new = PlainPowers(old._base, old.labelOnlyBase, old.minor_thresholds, old._linthresh)
                new.set_axis(axis)
                ticks.formatter = new
