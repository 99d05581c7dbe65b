"""A result folder as `run` writes it, made without training; and the outline of a page."""

import struct
import zlib
from html.parser import HTMLParser

import numpy as np
import xarray as xr

from saddlescope.claims import Count, Verdict
from saddlescope.results import Results
from saddlescope.storage import result_folder as store
from saddlescope.tables import WAYS, Table

ABOUT = {
    "key": "simplicity.fig4",
    "title": "Growth of units",
    "where": "Fig. 4",
    "scale": "part of full: 6 of 70 runs",
    "grid": "full",
    "runs": 6,
    "caption": "Loss of `sin` nets over time.",
    "notes": "A note.\n\n- one\n- two",
    "command": "saddlescope run simplicity.fig4 --axis seed=0,1",
    "date": "2026-03-04 05:06 UTC",
    "processor": "Some CPU 3000",
    "cpu_seconds": 12.34,
    "wall_seconds": 5.6,
    "trains": True,
}
VERDICTS = (
    Verdict("It holds.", "S24 · Fig. 4", True, "6 of 6", 6, 0),
    Verdict("It does not.", "S1–S2 · Theorem 1", False, "0 of 6", 6, 1, "a reason"),
    Verdict("In part.", "ours", False, "3 of 6", 6, 0, partly=True),
    Verdict("Who knows.", "Fig. 4", False, "1 of 1", 1, 0, unclear=True, counts=(Count(1, 1, 0.8),)),
)
TABLE = Table("by_lr", "Drops by rate", ("lr", "drops | all"), ((0.1, "2 | 3"), (0.01, None)))


def png(width, height, dots=6299):
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    size = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + size + chunk(b"pHYs", struct.pack(">IIB", dots, dots, 1))


def stored(folder, about=ABOUT, verdicts=VERDICTS, table=TABLE, setting='{"lr": 0.1}'):
    """A result folder as `run` writes it: two rates with three seeds, but no engine was needed."""
    folder.mkdir(parents=True, exist_ok=True)
    coords = {"lr": ("run", np.repeat([0.1, 0.01], 3)), "seed": ("run", np.tile(range(3), 2))}
    columns = {"setting": ("run", [setting] * 6)} if setting else {"gap": ("run", np.zeros(6))}
    results = Results(xr.Dataset(columns, coords), xr.Dataset(coords=coords))
    store.save_results(folder / store.RESULTS, results, **about)
    store.save_verdicts(folder / store.VERDICTS, verdicts, **about, untested=2)
    for kind, write in WAYS.items():
        (folder / f"table_{table.name}.{kind}").write_text(write(table), encoding="utf-8")
    (folder / "figure.png").write_bytes(png(1600, 800))
    (folder / "figure.pdf").write_bytes(b"%PDF")
    store.seal(folder)
    return folder


class Outline(HTMLParser):
    """Elements that are opened, all attributes, and whether each is closed."""

    VOID = ("meta", "img", "br", "link", "hr")

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.open = [], [], []
        self.feed(text)
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.open += [] if tag in self.VOID else [tag]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
