"""The pages that lead to results: an index by paper, and the sentences of each paper."""

import re

import pytest
from stored_results import ABOUT, Outline, stored

from saddlescope.report.index import index_pages, read_index
from saddlescope.report.paper import numbers_in, read_paper
from saddlescope.storage import result_folder as store


def test_the_index_lists_results_by_paper(tmp_path):
    stored(tmp_path / "simplicity.fig4")
    quick = {"key": "valleys.fig1", "scale": "quick"}
    stored(tmp_path / "valleys.fig1.quick", ABOUT | quick)
    stored(tmp_path / "mine", ABOUT | {"key": "mine"})
    stored(tmp_path / "unfinished")
    store.unseal(tmp_path / "unfinished")
    pages = index_pages(read_index(tmp_path))
    index = pages["index.html"]
    Outline(index)
    assert set(pages) == {"index.html", "simplicity.html", "valleys.html"}
    for name in ("simplicity.fig4", "valleys.fig1.quick", "mine"):
        assert f'<a href="{name}/index.html">{name}</a>' in index
    assert "unfinished" not in index
    assert "part of full: 6 of 70 runs · 2026" in index
    assert "quick · 6 runs · 2026" in index
    parts = re.split(r"<h2>(.*?)</h2>", index)[1:]
    assert [p.split()[0] for p in parts[::2]] == ["Other", "Saddle-to-saddle", "Low-rank"]
    assert 'title="4 claims; holds: 1, partly: 1, does not hold: 1, cannot tell: 1"' in parts[3]
    for mark in ("✓ 1", "◐ 1", "✗ 1", "? 1", "2 not tested"):
        assert f">{mark}</span>" in parts[3]


def test_a_paper_s_page_has_every_sentence_and_what_became_of_it(tmp_path):
    stored(tmp_path / "simplicity.fig4")
    text = index_pages(read_index(tmp_path))["simplicity.html"]
    Outline(text)
    rows = dict(re.findall(r'<tr id="(S\d+)">(.*?)</tr>', text, re.DOTALL))
    assert list(rows) == list(read_paper("simplicity").sentences)
    assert "✓ holds" in rows["S24"]
    assert 'href="simplicity.fig4/index.html"' in rows["S24"]
    assert "✗ does not hold" in rows["S1"]
    assert "✗ does not hold" in rows["S2"]
    assert "not tested by these results" in rows["S3"]


@pytest.mark.parametrize(
    ("where", "numbers"),
    [
        ("S24 · Fig. 4", ["S24"]),
        ("S1–S4 · Theorem 1", ["S1", "S2", "S3", "S4"]),
        ("V5, V7 · Sec. 3", ["V5", "V7"]),
        ("Fig. 4, App. C.10", []),
        ("ours", []),
        ("V47 · A.1, C1", ["V47"]),
    ],
)
def test_the_sentences_that_a_place_names(where, numbers):
    assert numbers_in(where) == numbers
