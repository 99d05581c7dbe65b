"""Which way imports point, as data. A new arrow fails here: adding one is a decision made in view."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "saddlescope"

FLOOR = {"provenance", "refusal", "numerics", "identity", "atomic", "packed", "progress"}  # what anything may stand on
ARROWS = {
    "refusal": set(),
    "provenance": set(),
    "numerics": {"provenance"},
    "atomic": set(),
    "progress": set(),
    "packed": {"refusal", "atomic"},
    "identity": {"numerics", "refusal"},
    "datasets": {"refusal", "atomic"},
    "tasks": FLOOR | {"datasets"},
    "nets": FLOOR | {"tasks"},
    "optimisers": FLOOR,
    "setting": FLOOR | {"tasks", "nets", "optimisers"},
    "named": {"refusal", "setting", "tasks", "nets", "optimisers"},
    "outcomes": set(),
    "observables": FLOOR | {"setting", "tasks", "nets"},
    "theory": FLOOR | {"setting", "tasks", "nets", "optimisers"},
    "stages": {"refusal"},
    "curves": {"refusal", "packed", "netcdf"},
    "results": {"refusal"},
    "intervals": set(),
    "tables": {"results"},
    "shard": {"refusal", "packed", "results"},
    "netcdf": {"refusal", "atomic", "netcdf_child", "packed", "results"},
    "netcdf_child": {"refusal", "packed"},
    "training": FLOOR | {"observables", "setting", "tasks", "nets", "optimisers"},
    "sweeps": FLOOR | {"nets", "setting", "observables", "training", "results", "shard", "netcdf"},
    "claims": {"refusal", "observables", "stages", "results", "intervals"},
    "experiment": {
        "refusal", "claims", "observables", "progress", "results", "setting", "sweeps", "tables", "theory", "training",
    },
    "store": {"refusal", "provenance", "atomic", "identity", "claims", "results", "netcdf"},
    "written": FLOOR | {"setting", "tasks", "nets", "optimisers", "observables"},
    "sweep_file": {"refusal", "experiment", "named", "setting", "sweeps", "training", "written"},
    "explanation": {"nets", "observables", "optimisers", "refusal", "results", "setting", "stages", "tables", "theory"},
    "figures": {"claims", "results", "store"},
    "papers": {
        "claims", "datasets", "experiment", "explanation", "figures", "intervals", "named", "nets", "observables",
        "optimisers", "outcomes", "refusal", "results", "setting", "stages", "sweeps", "tables", "tasks", "theory",
        "training",
    },
    "probe": {"stages", "observables"},
    "report": {
        "refusal", "store", "claims", "experiment", "figures", "results", "sweeps", "named", "outcomes", "observables",
        "tables", "training", "progress", "provenance", "sweep_file",
    },
    "cli": {
        "refusal", "report", "experiment", "explanation", "figures", "stages", "curves", "store", "named", "sweeps",
        "datasets",
    },
}  # fmt: skip


def arrows():
    for path in sorted(SOURCE.rglob("*.py")):
        home = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if home in ("__init__", "__main__"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "saddlescope":
                _, _, rest = node.module.partition(".")
                targets = [rest.split(".")[0]] if rest else [a.name for a in node.names if a.name in ARROWS]
            elif isinstance(node, ast.Import):
                targets = [a.name.split(".")[1] for a in node.names if a.name.startswith("saddlescope.")]
            else:
                continue
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
