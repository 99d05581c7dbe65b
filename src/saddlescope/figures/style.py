"""The style of all figures, and how one is written."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from saddlescope.storage.files import write_bytes

# Okabe and Ito's colours, told apart by colour-blind readers.
BLACK, ORANGE, SKY, GREEN, BLUE, RED, PURPLE = (
    "#000000", "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7",
)  # fmt: skip
STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "legend.framealpha": 0.9,
    "legend.edgecolor": "none",
    "figure.constrained_layout.use": True,
    "axes.prop_cycle": matplotlib.cycler(color=[BLUE, ORANGE, GREEN, RED, SKY, PURPLE]),
    "pdf.fonttype": 42,
    "savefig.dpi": 160,
}


@contextmanager
def style() -> Iterator[None]:
    """Draw in the style of the laboratory: `with style(): …`; the user's own style comes back."""
    with plt.rc_context(STYLE):
        yield


def save_figure(figure: Figure, folder: str | Path) -> None:
    """Write figure.png and figure.pdf into a folder, each whole or not at all; close the figure."""
    for kind, metadata in (("png", {}), ("pdf", {"CreationDate": None})):
        data = BytesIO()
        figure.savefig(data, format=kind, metadata=metadata)
        figure.set_layout_engine("none")  # laid out once
        write_bytes(Path(folder) / f"figure.{kind}", data.getvalue())
    plt.close(figure)
