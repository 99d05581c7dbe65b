"""Results to and from disk: a folder with everything one run of an experiment made.

    results.nc      measured and predicted, as two groups; opens with plain xarray
    verdicts.json   the claims with their verdicts, and where they come from
    runs.csv        one row per run, with its stages
    runs.txt        what `show` says of the runs: how many are not finite, the stages of the first
    figure.png, figure.pdf, caption.txt, index.html
    manifest.json   the SHA-256 of each, written last: a folder without it is not finished
    runs/, plans/, failed/ …   the runs behind it, one file each (see sweeps/folder.py)

Results need no runs beside them: a folder without runs/ is read, judged and shown as well.
Every file appears complete or not at all. Loading executes nothing and trusts nothing: a file that does not match its
checksum is refused by name. A listing looks into many folders: what takes time to import is imported inside functions.
"""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saddlescope.errors import InvalidInput, require
from saddlescope.numerics import provenance

if TYPE_CHECKING:
    from saddlescope.claims import Verdict
    from saddlescope.results import Results
    from saddlescope.storage.netcdf import Raw

RESULTS, VERDICTS, RUNS, MANIFEST = "results.nc", "verdicts.json", "runs.txt", "manifest.json"
GROWING = ("journal.jsonl", "locks")  # of the runs beside the result; a later sweep adds to them


def save_results(path: str | Path, results: "Results", **about: Any) -> "dict[str, Raw]":
    """One NetCDF file with the groups `measured` and `predicted`; `about` becomes attributes of the file.

    Returns what `read_groups` would read from it.
    """
    from saddlescope.serialization.part import storable
    from saddlescope.storage.netcdf import Raw, plain_attrs
    from saddlescope.storage.netcdf_writer import Group, netcdf_file

    settings = results.measured["setting"].values.ravel() if "setting" in results.measured else ()
    for text in settings:
        require(storable(str(text)), "A setting with a lambda runs but cannot be stored: name the function.")
    groups = {"measured": Raw.of(results.measured), "predicted": Raw.of(results.predicted)}
    with netcdf_file(path, provenance() | about) as file:
        for name, part in groups.items():
            group = Group(file, name, part.sizes, attrs=part.attrs)
            group.put(part.columns)
            group.seal()
    return {"": Raw({}, {}, plain_attrs(provenance() | about))} | groups


def load_results(path: str | Path) -> "Results":
    """Results from a file or its folder, checked against the folder's manifest where there is one."""
    return load_with_facts(path)[0]


def load_with_facts(path: str | Path) -> "tuple[Results, dict]":
    """The same, with what is stored about them: key, title, versions, commit, times."""
    from saddlescope.results import Results
    from saddlescope.storage.netcdf import as_datasets

    path, groups = read_groups(path)
    found = as_datasets(_complete(groups, path), path)
    return Results(found["measured"], found["predicted"]), groups[""].facts


def load_arrays(path: str | Path) -> "tuple[Raw, dict]":
    """What was measured as plain arrays, without xarray, which takes half a second to import; and the same facts."""
    path, groups = read_groups(path)
    return _complete(groups, path)["measured"], groups[""].facts


def read_groups(path) -> "tuple[Path, dict[str, Raw]]":
    """The groups of a checked file."""
    from saddlescope.storage.netcdf import read_netcdf

    path = results_file(path)
    check_file(path)
    return path, read_netcdf(path, ours=True)


def _complete(groups, path):
    for name in ("measured", "predicted"):
        complete = name in groups and "run" in groups[name].sizes
        require(complete, f"{path} is not a complete result (no group {name!r}): run the experiment again.")
    return groups


def folder_of(out, key, scale) -> Path:
    """Where an experiment is kept. Full and quick runs have different folders, so that neither overwrites the other."""
    return Path(out) / (key if scale == "full" else f"{key}.{scale}")


def make_folder(folder):
    """Make a folder for results, or say why it cannot be made."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InvalidInput(
            f"Results go to a folder, but {folder} lies at or below a file; give another `--out`."
        ) from None
    except OSError as error:
        raise InvalidInput(f"The folder {folder} cannot be made ({error.strerror}); give another `--out`.") from None


def is_sealed(folder) -> bool:
    """Whether a result is finished."""
    return (Path(folder) / MANIFEST).is_file()


def refuse_unfinished(folder):
    """Refuse a folder whose last command was stopped."""
    require(
        is_sealed(folder),
        f"{folder} is not a finished result (it has no {MANIFEST}): `saddlescope judge {folder}` finishes one that has "
        f"a {RESULTS}; else run the experiment again.",
    )


def results_file(path) -> Path:
    """The results.nc of a folder, or the file itself."""
    path = Path(path)
    path = path / RESULTS if path.is_dir() else path
    require(path.is_file(), f"There is no file {path}: give a results.nc, or the folder that `run` wrote.")
    return path


def save_verdicts(path, verdicts, **about):
    """Write verdicts as JSON, with what made them; `about` goes before it, where runs were made by another version."""
    from saddlescope.storage.files import write_bytes

    record = provenance() | about | {"claims": [asdict(v) for v in verdicts]}
    write_bytes(path, json.dumps(record, indent=1, ensure_ascii=False).encode())


def load_verdicts(path) -> "tuple[tuple[Verdict, ...], dict]":
    """The verdicts and what is said about them."""
    from saddlescope.claims import Verdict

    check_file(Path(path))
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
        verdicts = tuple(map(Verdict.from_json, record.pop("claims")))
        require(all(isinstance(v.holds, bool) for v in verdicts), "a verdict is neither true nor false")
        return verdicts, record
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInput(f"{path} does not hold verdicts ({error}): run the experiment again.") from None


def seal(folder):
    """Write the checksums of all files of a result: it is finished."""
    from saddlescope.storage.files import write_bytes

    files = sorted(f for f in Path(folder).iterdir() if f.is_file() and f.name[0] != ".")
    sums = {f.name: _sha256(f) for f in files if f.name not in (MANIFEST, *GROWING)}
    write_bytes(Path(folder) / MANIFEST, json.dumps(sums, indent=1).encode())


def unseal(folder):
    """Mark a folder as unfinished, before it is written again."""
    (Path(folder) / MANIFEST).unlink(missing_ok=True)


def damaged_files(folder) -> list[str]:
    """A sentence for every file of a finished result that is not as it was written; none where there is no result."""
    found = []
    for name in _manifest(Path(folder)) if is_sealed(folder) else ():
        path = Path(folder) / Path(name).name  # a manifest must not lead out of its folder
        try:
            check_file(path)
        except FileNotFoundError:
            found.append(f"{path} is gone: `saddlescope judge {folder}` writes it again.")
        except InvalidInput as error:
            found.append(str(error))
    return found


def check_file(path: Path):
    """Refuse a file that is not the one its folder's manifest names."""
    if not is_sealed(path.parent):
        return
    expected = _manifest(path.parent).get(path.name)
    require(
        expected in (None, _sha256(path)),
        f"{path} is damaged: its bytes are not those that were written (checksum differs). Run the experiment again.",
    )


def _manifest(folder: Path) -> dict:
    manifest = folder / MANIFEST
    try:
        found = json.loads(manifest.read_text(encoding="utf-8"))
        require(isinstance(found, dict), "not a table of checksums")
    except (ValueError, RecursionError):
        raise InvalidInput(f"{manifest} is damaged, so nothing in its folder can be trusted: run again.") from None
    return found


def _sha256(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
