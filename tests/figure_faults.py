"""What a journal would send back: figures too wide, letters too small, panels without a name, code in words."""

import re

from matplotlib.figure import Figure
from matplotlib.text import Text

from saddlescope.figures import WIDTH

LEAST = 6.0  # points
CODE = re.compile(r"[a-z]+_[a-z0-9]|[A-Za-z]\^|\\\w")  # outside of formulas


def faults(figure: Figure) -> list[str]:
    """A sentence for each."""
    figure.canvas.draw()
    return [*_size(figure), *_letters(figure), *_words(figure)]


def _size(figure):
    width = figure.get_figwidth()
    return [f"{width:g} inches wide, more than {WIDTH:g}"] if width > WIDTH + 1e-6 else []


def _letters(figure):
    """Axes that share a place (twins), hold a colour bar or are switched off are no panels of their own."""
    shown = {tuple(ax.get_position().bounds): ax for ax in figure.axes if ax.axison and ax.get_label() != "<colorbar>"}
    named = [ax for ax in figure.axes if any(text.get_gid() == "letter" for text in ax.texts)]
    return ["several panels, none with a letter"] if len(shown) > 1 and not named else []


def _words(figure):
    for text in figure.findobj(Text):
        words = text.get_text().strip()
        if not words or not text.get_visible():
            continue
        if text.get_fontsize() < LEAST:
            yield f"{words!r} has {text.get_fontsize():g} points, fewer than {LEAST:g}"
        if CODE.search(re.sub(r"\$[^$]*\$", "", words)):
            yield f"{words!r} is code"
