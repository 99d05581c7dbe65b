"""Which way imports point, as data. A new arrow fails here: adding one is a decision made in view."""

import ast
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "saddlescope"

ARROWS = {
    "checks": {"claims", "errors", "results", "stages", "statistics"},
    "claims": {"errors", "statistics"},
    "cli": {
        "errors",
        "explanations",
        "figures",
        "meanfield",
        "numerics",
        "progress",
        "report",
        "serialization",
        "stages",
        "storage",
        "sweeps",
        "tasks",
        "workflows",
    },
    "engines": {"errors", "numerics", "losses", "nets", "optimisers", "serialization"},
    "errors": set(),
    "experiment": {
        "claims",
        "errors",
        "numerics",
        "observables",
        "results",
        "setting",
        "sweeps",
        "tables",
        "training",
    },
    "explanations": {
        "errors",
        "nets",
        "numerics",
        "observables",
        "results",
        "setting",
        "stages",
        "tables",
        "tasks",
        "theory",
    },
    "figures": {"results", "stages", "storage"},
    "initials": {"errors", "nets", "serialization"},
    "losses": {"errors", "nets", "serialization", "tasks"},
    "meanfield": {"errors", "figures", "nets", "numerics", "serialization", "tasks", "theory"},
    "nets": {"errors", "serialization", "tasks"},
    "numerics": set(),
    "observables": {"errors", "initials", "losses", "nets", "serialization", "tasks"},
    "optimisers": {"errors", "serialization"},
    "papers": {
        "checks",
        "claims",
        "errors",
        "experiment",
        "explanations",
        "figures",
        "initials",
        "losses",
        "meanfield",
        "nets",
        "observables",
        "optimisers",
        "setting",
        "stages",
        "statistics",
        "sweeps",
        "tables",
        "tasks",
        "theory",
        "training",
    },
    "probe": set(),
    "progress": set(),
    "report": {"claims", "errors", "numerics", "progress", "results", "storage", "sweeps", "tables"},
    "results": {"errors", "setting", "stages"},
    "serialization": {"errors"},
    "setting": {
        "engines",
        "errors",
        "initials",
        "losses",
        "nets",
        "numerics",
        "optimisers",
        "serialization",
        "tasks",
    },
    "stages": {"errors", "storage"},
    "statistics": set(),
    "storage": {"claims", "errors", "numerics", "results", "serialization"},
    "sweeps": {
        "engines",
        "errors",
        "initials",
        "losses",
        "nets",
        "numerics",
        "observables",
        "optimisers",
        "progress",
        "results",
        "serialization",
        "setting",
        "stages",
        "storage",
        "tables",
        "tasks",
        "training",
    },
    "tables": {"results", "stages"},
    "tasks": {"errors", "numerics", "progress", "serialization", "storage"},
    "theory": {
        "errors",
        "initials",
        "losses",
        "nets",
        "numerics",
        "optimisers",
        "results",
        "serialization",
        "setting",
        "stages",
        "tasks",
    },
    "training": {
        "engines",
        "errors",
        "initials",
        "nets",
        "numerics",
        "observables",
        "progress",
        "serialization",
        "setting",
        "storage",
        "tasks",
    },
    "workflows": {
        "claims",
        "errors",
        "experiment",
        "figures",
        "meanfield",
        "nets",
        "numerics",
        "report",
        "results",
        "serialization",
        "setting",
        "storage",
        "sweeps",
        "tables",
        "theory",
        "training",
    },
}


FORBIDDEN = {"training", "papers", "experiment", "setting", "engines", "theory", "workflows"}


class Imports(ast.NodeVisitor):
    """All imports that are made when a file runs; those for annotations alone are left out."""

    def __init__(self):
        self.found: list[tuple[str, list[str]]] = []

    def visit_If(self, node):
        if getattr(node.test, "id", "") != "TYPE_CHECKING":
            self.generic_visit(node)

    def visit_ImportFrom(self, node):
        self.found.append((node.module or "", [alias.name for alias in node.names]))

    def visit_Import(self, node):
        self.found += [(alias.name, []) for alias in node.names]


@cache
def imports(path):
    """Modules of ours that a file imports, each with the names it takes from there."""
    visitor = Imports()
    visitor.visit(ast.parse(path.read_text(encoding="utf-8")))
    return [(module, names) for module, names in visitor.found if module.split(".")[0] == "saddlescope"]


@cache
def arrows():
    """(file, its package, a package that it imports), for every file."""
    return tuple(_arrows())


def _arrows():
    for path in sorted(SOURCE.rglob("*.py")):
        home = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if home in ("__init__", "__main__"):
            continue
        for module, names in imports(path):
            _, _, rest = module.partition(".")
            targets = [rest.split(".")[0]] if rest else [name for name in names if name in ARROWS]
            yield from ((path, home, target) for target in targets if target != home)


def test_every_package_has_its_arrows_listed():
    homes = {p.stem for p in SOURCE.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()} - {
        "__init__",
        "__main__",
    }
    assert homes == set(ARROWS)


def test_no_import_points_another_way():
    wrong = [
        f"{path.relative_to(SOURCE)}: {home} → {target}"
        for path, home, target in arrows()
        if target not in ARROWS[home]
    ]
    assert not wrong, wrong


def test_every_permitted_arrow_is_used():
    used = {(home, target) for _, home, target in arrows()}
    idle = [
        f"{home} → {target}" for home, targets in ARROWS.items() for target in targets if (home, target) not in used
    ]
    assert not idle, idle


def test_papers_go_through_the_door():
    """They import no engine and no loop, nothing below the public names of `training`, and never `train` itself."""
    papers = sorted((SOURCE / "papers").rglob("*.py"))
    found = {path: imports(path) for path in papers}
    below = [
        f"{path.name}: {module}"
        for path, given in found.items()
        for module, names in given
        if module.startswith(("saddlescope.training.", "saddlescope.engines")) or "train" in names
    ]
    assert not below, below


def test_reports_only_read_what_is_stored():
    """They import neither training nor papers, not even through others, but for what other rooms import lazily."""
    wrong = [path.name for path, home, target in arrows() if home == "report" and target in FORBIDDEN]
    assert not wrong, wrong


def test_nine_modules_stand_at_the_top_level():
    loose = sorted(p.stem for p in SOURCE.glob("*.py") if not p.stem.startswith("__"))
    assert len(loose) <= 9, loose


def test_the_test_sees_imports():
    found = {(home, target) for _, home, target in arrows()}
    assert {("training", "observables"), ("cli", "report"), ("theory", "setting")} <= found


@pytest.mark.parametrize(("one", "other"), [("theory", "observables"), ("observables", "theory")])
def test_theory_and_observables_never_meet(one, other):
    """Not even through others: a prediction that shares code with its measurement agrees for the wrong reason."""
    reached, frontier = set(), {one}
    while frontier:
        reached |= frontier
        frontier = {t for _, home, t in arrows() if home in frontier} - reached
    assert other not in reached


def test_nothing_imports_papers():
    assert not [path for path, _, target in arrows() if target == "papers"]


def test_no_file_is_long():
    long = {str(p.relative_to(SOURCE)): n for p in SOURCE.rglob("*.py") if (n := len(p.read_text().splitlines())) > 300}
    assert not long, f"which two things live here? {long}"
