"""Pages: made from a stored folder alone, with all that a reader looks for, and text as text."""

import json
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from stored_results import ABOUT, VERDICTS, Outline, stored

from saddlescope.errors import InvalidInput
from saddlescope.report.index import index_page, index_pages, read_index
from saddlescope.report.page import page
from saddlescope.report.page_data import read_page_data
from saddlescope.report.paper import read_paper
from saddlescope.report.record import recorded
from saddlescope.results import Results
from saddlescope.storage import result_folder as store
from saddlescope.tables import Table

HOSTILE = '<script>alert("1")</script>\'&amp;$title'
ATTRIBUTES = {
    *("lang", "charset", "name", "content", "href", "src", "alt", "class", "title"),
    *("width", "height", "tabindex", "role", "aria-label"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return stored(tmp_path_factory.mktemp("results") / "simplicity.fig4")


@pytest.fixture(scope="module")
def text(folder):
    return page(read_page_data(folder))


NEEDED = {
    "title": "<h1>Growth of units</h1>",
    "key": "<code>simplicity.fig4</code>",
    "paper": "Saddle-to-saddle dynamics explains a simplicity bias",
    "authors": "Yedi Zhang, Andrew Saxe and Peter E. Latham",
    "where": "Fig. 4",
    "caption": "Loss of <code>sin</code> nets over time.",
    "notes": "<p>A note.</p><p>- one</p><p>- two</p>",
    "part of full": "part of full: 6 of 70 runs",
    "seeds": "3 seeds per setting",
    "figure at its own size": 'width="960" height="480"',
    "verdicts": "✗ does not hold",
    "meanings": '<dt class="mark cannot-tell">? cannot tell</dt><dd>these runs are too few',
    "reason": "<b>Why:</b> a reason",
    "not tested": "Not tested here: 2 of 6 claims.",
    "what would decide": "0 of 1 not finite; at this share 4 runs would decide.",
    "sentence behind S24": "A tanh or sine net becomes rank one early",
    "link of S24": '<a href="../simplicity.html#S24">S24</a>',
    "both sentences of a span": '<a href="../simplicity.html#S2">S2</a>',
    "table": "<th>drops | all</th></tr><tr><td>0.1</td><td>2 | 3</td>",
    "table's file": 'href="table_by_lr.tex"',
    "command": "saddlescope run simplicity.fig4 --axis seed=0,1",
    "date": "2026-03-04 05:06 UTC",
    "processor": "Some CPU 3000",
    "CPU time": "12.3 s",
    "versions": "numpy 2",
    "setting": "<summary>Setting of the first run, in full</summary>",
    "axes": "<dt>lr</dt><dd>0.1, 0.01</dd>",
    "way back": '<a href="../index.html">← all results</a>',
    "data": 'href="results.nc"',
}


@pytest.mark.parametrize("what", NEEDED)
def test_a_page_says_what_a_reader_looks_for(text, what):
    assert NEEDED[what] in text


def test_the_commit_is_on_the_page(folder, text):
    data = read_page_data(folder)
    _, about = store.load_verdicts(folder / store.VERDICTS)
    assert data.origin.commit == (about["git_commit"] or "")
    assert (data.origin.commit or "not stored") in text


def test_a_page_needs_no_script_and_nothing_from_elsewhere(text):
    outline = Outline(text)
    assert not {"script", "link", "iframe", "object"} & set(outline.tags)
    assert not [a for a in outline.attributes if a[1].startswith("on")]
    sources = [value for _, name, value in outline.attributes if name == "src"]
    assert sources == ["figure.png"]
    assert "@import" not in text
    assert "url(" not in text


def test_on_a_phone_the_figure_keeps_its_size_and_scrolls(text):
    phone = re.search(r"@media \(max-width: \d+px\) \{(.*?)\n\}", text, re.DOTALL)[1]
    assert re.search(r"\.figure img \{ max-width: none; min-width: \d+rem; \}", phone)
    assert re.search(r"\.wide \{ overflow-x: auto;", text)
    assert '<div class="wide figure"' in text


def test_a_page_is_made_without_jax_training_or_papers(folder, text):
    """In a fresh process that cannot import them."""
    code = """
import sys
from importlib.abc import MetaPathFinder
OURS = "training papers experiment engines sweeps setting nets tasks workflows figures".split()
FORBIDDEN = ["jax", "jaxlib", "equinox", "numba", "matplotlib", *(f"saddlescope.{n}" for n in OURS)]
class Forbid(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if any(name == f or name.startswith(f + ".") for f in FORBIDDEN):
            raise AssertionError(f"{name} was imported")
sys.meta_path.insert(0, Forbid())
from saddlescope.report.index import index_pages, read_index
from saddlescope.report.page import page
from saddlescope.report.page_data import read_page_data
sys.stdout.buffer.write(page(read_page_data(sys.argv[1])).encode())
assert set(index_pages(read_index(sys.argv[2]))) == {"index.html", "simplicity.html"}
"""
    words = [sys.executable, "-c", code, folder, folder.parent]
    made = subprocess.run(words, capture_output=True)
    assert made.returncode == 0, made.stderr.decode()
    assert made.stdout.decode() == text


@pytest.mark.parametrize("trains", [True, False, None])
def test_only_what_trains_nothing_says_so(tmp_path, trains):
    about = ABOUT | {"trains": trains}
    if trains is None:
        del about["trains"]
    made = page(read_page_data(stored(tmp_path / "r", about, setting="")))
    assert ("Nothing is trained here." in made) == (trains is False)


def test_hostile_text_stays_text(tmp_path):
    """Everything that a folder can say, from its name to its versions."""
    about = {k: HOSTILE if isinstance(v, str) else v for k, v in ABOUT.items()}
    names = ("sentence", "where", "evidence", "note")
    verdict = replace(VERDICTS[1], **dict.fromkeys(names, HOSTILE))
    table = Table("t", HOSTILE, (HOSTILE, "b"), ((HOSTILE, HOSTILE),))
    folder = stored(tmp_path / '"><script>x', about, (verdict,), table, json.dumps({"a": HOSTILE}))
    made = [page(read_page_data(folder)), *index_pages(read_index(tmp_path)).values()]
    assert len(made) == 2
    for text in made:
        outline = Outline(text)
        assert "script" not in outline.tags
        assert {name for _, name, _ in outline.attributes} <= ATTRIBUTES
        assert "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#x27;&amp;amp;$title" in text


def test_a_hostile_key_leads_to_no_file():
    for key in ("../../etc.x", "", "/.x", "a/b.c", "no_such_paper.fig1", "simplicity.../fig1"):
        assert recorded(key, "full") is None
        assert read_paper(key) is None or key.startswith("simplicity.")


@pytest.mark.parametrize(
    ("grid", "scale", "shown"),
    [
        ("quick", "quick", True),
        ("quick", "part of quick: 1 of 2 runs", True),
        ("", "quick", True),  # of an older version
        ("full", "full", False),
        ("full", "part of full: 1 of 80 runs", False),
    ],
)
def test_beside_a_quick_verdict_stands_the_word_of_the_full_record(tmp_path, grid, scale, shown):
    key = "simplicity.fig1b"
    known = recorded(key, "full")[0][0]
    ours = replace(VERDICTS[3], sentence=known.sentence)
    about = ABOUT | {"key": key, "grid": grid, "scale": scale}
    made = page(read_page_data(stored(tmp_path / "r", about, (ours, VERDICTS[1]))))
    assert known.word == "holds"
    expected = 'full record: <span class="mark holds">✓ holds</span>'
    assert made.count(expected) == made.count("full record:") == int(shown)
    assert ("<dt>full record</dt>" in made) == shown


@pytest.mark.parametrize("value", [None, 3, [1], {"a": 1}, True, "x"])
def test_facts_of_another_kind_are_left_out(tmp_path, value):
    about = dict.fromkeys([*ABOUT, "versions", "git_commit"], value)
    folder = stored(tmp_path / "r", about, verdicts=())
    assert "<h2>Settings</h2>" in page(read_page_data(folder))
    index_page(read_index(tmp_path))


def test_a_result_without_verdicts_figure_or_paper_has_a_page(tmp_path):
    folder = tmp_path / "mine"
    coords = {"seed": ("run", [7])}
    results = Results(xr.Dataset({"gap": ("run", [0.5])}, coords), xr.Dataset(coords=coords))
    store.save_results(folder / store.RESULTS, results, key="my.own", title="Mine", scale="train")
    made = page(read_page_data(folder))
    no_claim, no_command = "No claim is stored", "The command is not stored"
    for expected in ("<h1>Mine</h1>", "1 run · 1 seed ·", no_claim, no_command):
        assert expected in made
    assert "<img" not in made
    assert "<cite>" not in made


def test_a_damaged_folder_has_no_page(tmp_path):
    folder = stored(tmp_path / "r")
    (folder / store.VERDICTS).write_text("{}")
    with pytest.raises(InvalidInput, match=r"verdicts\.json is damaged"):
        read_page_data(folder)
    assert read_index(tmp_path) == []


def test_unequal_numbers_of_seeds_are_said(tmp_path):
    coords = {"lr": ("run", [0.1, 0.1, 0.01]), "seed": ("run", [0, 1, 0])}
    results = Results(xr.Dataset({"gap": ("run", np.zeros(3))}, coords), xr.Dataset(coords=coords))
    store.save_results(tmp_path / store.RESULTS, results, scale="full")
    assert "1 to 2 seeds per setting" in page(read_page_data(tmp_path))
