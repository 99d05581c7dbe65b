"""Docs are made or tested by code."""

import contextlib
import io
import itertools
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from statistics import median

import pytest
from benchmark_tables import TABLES, speed
from changed_words import changed_table, changes, words_counted
from paper_pages import PAGES, between, table

from saddlescope.papers.valleys._protocol import Name
from saddlescope.report.ledger import ledger, tallies
from saddlescope.report.paper import read_paper
from saddlescope.report.record import recorded
from saddlescope.sweeps.progress import duration
from saddlescope.workflows.find import experiment_keys, find_experiment
from saddlescope.workflows.sweep_file import read_sweep

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
EXPERIMENTS = (ROOT / "docs" / "experiments.md").read_text()
RANDOM_FEATURES = (ROOT / "docs" / "random_features.md").read_text()
COMMANDS = (
    "",
    "list",
    "run",
    "judge",
    "show",
    "train",
    "stages",
    "escape",
    "meanfield",
    "explain",
    "data",
    "sweep",
    "collect",
    "ls",
    "verify",
)


def cli_reference():
    """docs/cli.md as it should be: the help of every command."""
    parts = ["# Command line"]
    for command in COMMANDS:
        words = [sys.executable, "-m", "saddlescope", *command.split(), "--help"]
        wide = os.environ | {"COLUMNS": "100", "NO_COLOR": "1"}
        text = subprocess.run(words, capture_output=True, text=True, check=True, env=wide).stdout
        parts.append(f"## saddlescope {command}".rstrip() + f"\n\n```text\n{text.strip()}\n```")
    return "\n\n".join(parts) + "\n"


def test_cli_reference_is_the_help():
    assert (ROOT / "docs" / "cli.md").read_text() == cli_reference(), "run `python tests/test_docs.py`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.paper)
def test_the_verdicts_on_a_paper_are_counted(page):
    assert between(EXPERIMENTS, page.paper) == page.summary(), "run `python tests/test_docs.py`"


def test_ledger_and_its_tallies_are_the_record():
    found = between((ROOT / "docs" / "ledger.md").read_text(), "ledger")
    assert found == ledger(experiment_keys()), "run `python tests/test_docs.py`"
    assert between(EXPERIMENTS, "tallies") == tallies(titles()), "run `python tests/test_docs.py`"


def test_every_word_that_changed_is_listed_with_its_reason():
    text = (ROOT / "docs" / "verdict_changes.md").read_text()
    assert between(text, "changed") == changed_table(), "run `python tests/test_docs.py`"
    assert between(text, "counted") == words_counted(), "run `python tests/test_docs.py`"
    assert not [f"{c.key}: {c.sentence}" for c in changes() if not c.why], "say why in docs/word_reasons.toml"


def titles():
    return {key: find_experiment(key).title for key in experiment_keys()}


def test_the_stored_sentences_of_papers_are_those_of_the_docs():
    words = [sys.executable, ROOT / "tools" / "sentences.py", "--check"]
    found = subprocess.run(words, capture_output=True, text=True)
    assert found.returncode == 0, f"{found.stdout}{found.stderr}: run `python tools/sentences.py`"
    for page in PAGES:
        stored = read_paper(page.paper).sentences
        assert list(stored) == list(page.sentences())
        assert all(s.text and s.where for s in stored.values())


def test_every_paper_is_described():
    for folder in (ROOT / "src" / "saddlescope" / "papers").glob("*/__init__.py"):
        paper = read_paper(folder.parent.name)
        assert paper, f"{folder.parent.name} has no paper.json"
        assert paper.title
        assert all(paper.authors)


SWEEPS, PAPER = ROOT / "benchmarks" / "sweeps.json", ROOT / "benchmarks" / "paper_sweeps.json"
SCALING = ROOT / "docs" / "scaling.md"


def overhead():
    """What a sweep adds, from the stored benchmark."""
    stored = json.loads(SWEEPS.read_text())
    show = lambda values: f"{median(values):.2g} ({min(values):.2g} to {max(values):.2g})"  # noqa: E731
    return table(
        ("what", "median (range of rounds)"),
        ("storing and scheduling add, ms of CPU time per run of 5 ms", show(stored["added_ms"])),
        ("the scheduler process spends, ms of CPU time per run", show(stored["conducting_ms"])),
        ("fixed CPU seconds of a sweep with two workers", show(stored["fixed_cpu_seconds"])),
        ("a sweep of 8 tiny runs on two workers, CPU seconds of all processes", show(stored["start_cpu_seconds"])),
        ("two workers over one, wall time of a compute-bound sweep", show(stored["two_workers"])),
        ("collecting 2,000 runs of 1,000 steps and 12 observables, s", f"{stored['collect_seconds']:.1f}"),
        *((f"peak memory of collecting {n} of them, MB", mb) for n, mb in stored["collect_peak_mb"].items()),
        *((f"peak memory of the scheduler process with {n} runs, MB", mb) for n, mb in stored["sweep_peak_mb"].items()),
    )


def costs():
    rows = [("rank", "settings measured", "CPU seconds per run", "longest", "epochs per run")]
    for rank, c in json.loads(PAPER.read_text()).items():
        mean = f"{c['mean_seconds']:.2f} ± {c['standard_error']:.2f}"
        part = f"{c['measured']} of {c['settings']}"
        rows.append((rank, part, mean, f"{c['largest']:.1f}", f"{c['mean_epochs']:.0f}"))
    return table(*rows)


def paper():
    """Wall times by the model, for 1, 16 and 1,000 cores."""
    stored, kinds = json.loads(SWEEPS.read_text()), list(json.loads(PAPER.read_text()).values())
    added, conducting = (median(stored[key]) / 1e3 for key in ("added_ms", "conducting_ms"))
    fixed = median(stored["fixed_cpu_seconds"])  # at most: command, server and workers start one after the other
    sweeps = {
        "ranks 5, 10 and 20: 2,250 runs": (2250, sum(c["mean_seconds"] for c in kinds) / 3, kinds),
        "10⁶ runs like those of rank 5": (10**6, kinds[0]["mean_seconds"], kinds[:1]),
    }
    rows = [("sweep", "1 core", "16 cores", "1,000 cores")]
    for name, (runs, mean, some) in sweeps.items():
        longest = max(c["largest"] for c in some)
        walls = [fixed + max(runs * (mean + added) / cores, runs * conducting, longest) for cores in (1, 16, 1000)]
        rows.append((name, *map(duration, walls)))
    return table(*rows)


def paper_blocks(page):
    return {"verdicts": page.verdicts, "gallery": page.gallery}


MADE = {
    "docs/random_features.md": {"speed": speed},
    "docs/benchmarks.md": TABLES,
    "docs/experiments.md": {"tallies": lambda: tallies(titles())} | {p.paper: p.summary for p in PAGES},
    **{f"docs/{page.paper}.md": paper_blocks(page) for page in PAGES},
    "docs/ledger.md": {"ledger": lambda: ledger(experiment_keys())},
    "docs/verdict_changes.md": {"changed": changed_table, "counted": words_counted},
    "docs/scaling.md": {"overhead": overhead, "costs": costs, "paper": paper},
}


@pytest.mark.parametrize("name", ["overhead", "costs", "paper"])
def test_scaling_is_made_from_stored_benchmarks(name):
    made = MADE["docs/scaling.md"][name]()
    assert between(SCALING.read_text(), name) == made, "run `python tests/test_docs.py`"


def test_the_example_sweeps_are_what_they_say():
    rank5 = read_sweep(ROOT / "examples" / "valleys_rank5.toml")
    assert len(rank5.points) == 750
    names = {str(Name.of(rank5.job(p).setting)) for p in rank5.points}
    assert len(names) == 750
    assert {"f5_N1280_bs4_L3", "f4_N1024_bs1_L2", "f1_N16_bs16_L2"} <= names
    assert len(read_sweep(ROOT / "examples" / "escape.toml").names) == 18


def test_the_table_of_speed_is_the_stored_benchmark():
    assert between(RANDOM_FEATURES, "speed") == speed(), "run `python tests/test_docs.py`"


@pytest.mark.parametrize("name", TABLES)
def test_the_page_of_benchmarks_is_made_from_what_is_stored(name):
    assert between((ROOT / "docs" / "benchmarks.md").read_text(), name) == TABLES[name](), (
        "run `python tests/test_docs.py`"
    )


EXAMPLES = ["README.md", *(f"docs/{name}.md" for name in ("stages", "concepts", "random_features", "units", "limit"))]


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_prints_what_it_says(name):
    code, shown = re.search(r"```python\n(.*?)```\n+```text\n(.*?)```", (ROOT / name).read_text(), re.DOTALL).groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, name, "exec"), {})
    assert printed.getvalue().rstrip() == shown.rstrip()


each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.paper)


@each_page
def test_every_sentence_of_a_paper_is_checked_or_says_why_not(page):
    listed = page.sentences()
    numbers = [int(number[1:]) for number in listed]
    assert numbers == sorted(set(numbers))
    assert numbers[0] == 1
    for number, sentence in listed.items():
        assert sentence.names or "not tested, because" in sentence.check, number
        for name in sentence.names if sentence.tested else []:
            assert number in page.claimed(f"{page.paper}.{name}"), f"{number} is not among the claims of {name}"


@each_page
def test_every_claim_that_names_a_sentence_is_listed(page):
    listed = page.sentences()
    for key in page.keys:
        for number in page.claimed(key):
            assert listed[number].tested, f"{number} is said not to be tested"
            assert key.split(".")[1] in listed[number].names, f"{key} checks {number}; the list does not say so"


@each_page
@pytest.mark.parametrize("name", ["verdicts", "gallery"])
def test_a_paper_s_page_is_made_from_the_record(page, name):
    assert between(page.file.read_text(), name) == getattr(page, name)(), "run `python tests/test_docs.py`"


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{p.name}" for p in sorted((ROOT / "docs").glob("*.md")))])
def test_rows_of_tables_have_as_many_cells_as_their_head(page):
    lines, cells = (ROOT / page).read_text().splitlines(), lambda row: len(re.findall(r"(?<!\\)\|", row))
    for above, line in itertools.pairwise(lines):
        if above.startswith("|") and line.startswith("|"):
            assert cells(line) == cells(above), f"a stray | in: {line[:120]}"


def test_the_terminal_session_of_the_readme_is_the_record():
    verdicts, _ = recorded("simplicity.fig1d", "full")
    shown = re.findall(r"^  (holds: .*)$", README, re.MULTILINE)
    assert shown == [str(v) for v in verdicts]


def test_the_readme_stays_short():
    assert len(README.splitlines()) <= 120


def test_versions_agree():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text()
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text()


def test_pyproject_stays_short():
    assert len((ROOT / "pyproject.toml").read_text().splitlines()) < 100


def test_links_in_the_readme_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert target.startswith("http") or (ROOT / target).exists(), target


def test_every_experiment_is_in_the_changelog():
    text = (ROOT / "CHANGELOG.md").read_text()
    assert not [key for key in experiment_keys() if key not in text]


if __name__ == "__main__":  # write what is made by code
    (ROOT / "docs" / "cli.md").write_text(cli_reference())
    for file, blocks in MADE.items():
        text = (ROOT / file).read_text()
        for name, make in blocks.items():
            start, end = f"<!-- {name} -->\n", f"\n<!-- /{name} -->"
            assert start + end[1:] not in text, f"the {name} block of {file} needs an empty line to be found"
            head, _, rest = text.partition(start)
            text = head + start + make() + end + rest.partition(end)[2]
        (ROOT / file).write_text(text)
