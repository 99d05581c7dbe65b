"""Docs are made or tested by code."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from saddlescope.experiment import keys
from saddlescope.report.record import ledger

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
COMMANDS = ("", "list", "run", "train", "show", "stages")
SPEED = ROOT / "benchmarks" / "engine.json"


def between(text, name):
    found = re.search(rf"<!-- {name} -->\n(.*?)\n<!-- /{name} -->", text, re.DOTALL)
    assert found, f"README.md has no <!-- {name} --> block"
    return found[1]


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


def test_readme_ledger_is_the_record():
    assert between(README, "ledger") == ledger(keys()), "run `python tests/test_docs.py`"


def speed():
    """The README's table of speed, from the stored benchmark."""
    stored = json.loads(SPEED.read_text())
    head = ("run", "rank", "PyTorch µs", "JAX µs", "fused µs", "fused over PyTorch", "of peak")
    rows = [head, ("---",) * len(head)]
    for c in stored["cases"].values():
        times = (f"{c['torch_us']:.0f}", f"{c['jax_us']:.0f}", f"{c['fused_us']:.1f}")
        rows.append((f"`{c['run']}`", c["rank"], *times, f"{c['torch_over_fused']:.0f} ×", f"{c['share_of_peak']:.0%}"))
    table = [f"| {' | '.join(map(str, row))} |" for row in rows]
    low, both, high = stored["two_cores"]
    two = f"Two runs on two cores over one: {both:.2f} (quartiles {low:.2f} to {high:.2f})."
    return "\n".join([*table, f"\n{two} Peak of the core: {stored['peak_gflops']:.0f} GFlop/s in single precision."])


def test_readme_speed_is_the_stored_benchmark():
    assert between(README, "speed") == speed(), "run `python tests/test_docs.py`"


@pytest.mark.parametrize("name", ["README.md", "docs/random_features.md"])
def test_example_prints_what_it_says(name):
    code, shown = re.search(r"```python\n(.*?)```\n+```text\n(.*?)```", (ROOT / name).read_text(), re.DOTALL).groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, name, "exec"), {})
    assert printed.getvalue().rstrip() == shown.rstrip()


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
    assert not [key for key in keys() if key not in text]


if __name__ == "__main__":  # write what is made by code
    (ROOT / "docs" / "cli.md").write_text(cli_reference())
    text = README
    for name, made in (("ledger", ledger(keys())), ("speed", speed())):
        start, end = f"<!-- {name} -->\n", f"\n<!-- /{name} -->"
        assert start + end[1:] not in text, f"the {name} block of README.md needs an empty line to be found"
        head, _, rest = text.partition(start)
        text = head + start + made + end + rest.partition(end)[2]
    (ROOT / "README.md").write_text(text)
