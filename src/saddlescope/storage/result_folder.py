"""Results to and from disk: a folder with everything one run of an experiment made.

    results.nc      measured and predicted, as two groups; opens with plain xarray
    verdicts.json   the claims with their verdicts, and where they come from
    figure.png, figure.pdf, index.html
    manifest.json   the SHA-256 of each, written last: a folder without it is not finished

Every file appears whole or not at all. Loading executes nothing and trusts nothing: a file that does not match its
checksum is refused by name.
"""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

import xarray as xr

from saddlescope.claims import Verdict
from saddlescope.errors import InvalidInput, require
from saddlescope.results import Results
from saddlescope.storage.files import write_bytes
from saddlescope.storage.netcdf import Group, netcdf_file, read_netcdf
from saddlescope.storage.provenance import provenance

RESULTS, VERDICTS, MANIFEST = "results.nc", "verdicts.json", "manifest.json"


def save_results(path, results: Results, **about):
    """One NetCDF file with the groups `measured` and `predicted`; `about` becomes attributes of the file."""
    from saddlescope.serialization.to_json import storable  # brings JAX, which readers do without

    for text in results.measured.get("setting", xr.DataArray([])).values.ravel():
        require(storable(str(text)), "A setting with a lambda runs but cannot be stored: name the function.")
    with netcdf_file(path, provenance() | about) as file:
        for name, part in (("measured", results.measured), ("predicted", results.predicted)):
            coords = {str(c) for c in part.coords} - {str(d) for d in part.dims}
            group = Group(file, name, dict(part.sizes), coords, part.attrs)
            group.put({str(k): (v.dims, v.values) for k, v in part.variables.items()})
            group.seal()


def load_results(path) -> Results:
    """Results from a file or its folder, checked against the folder's manifest where there is one."""
    path, groups = read(path)
    for name in ("measured", "predicted"):
        whole = name in groups and "run" in groups[name].sizes
        require(whole, f"{path} is not a whole result of ours (no group {name!r}): run the experiment again.")
    return Results(groups["measured"], groups["predicted"])


def attributes(path) -> dict:
    """Key, title, versions, commit, times of a stored result."""
    return dict(read(path)[1][""].attrs)


def read(path):
    """The groups of a checked file."""
    path = results_file(path)
    check(path)
    return path, read_netcdf(path, ours=True)


def folder_of(out, key, scale) -> Path:
    """Where a run of an experiment is kept: full runs and quick ones do not overwrite each other."""
    return Path(out) / (key if scale == "full" else f"{key}.{scale}")


def make_folder(folder):
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InvalidInput(
            f"Results go to a folder, but {folder} lies at or below a file; give another `--out`."
        ) from None
    except OSError as error:
        raise InvalidInput(f"The folder {folder} cannot be made ({error.strerror}); give another `--out`.") from None


def is_sealed(folder) -> bool:
    return (Path(folder) / MANIFEST).is_file()


def refuse_unfinished(folder):
    require(
        is_sealed(folder),
        f"{folder} is not a finished result (it has no {MANIFEST}): `saddlescope judge {folder}` finishes one that has "
        f"a {RESULTS}; else run the experiment again.",
    )


def results_file(path) -> Path:
    path = Path(path)
    path = path / RESULTS if path.is_dir() else path
    require(path.is_file(), f"There is no file {path}: give a results.nc, or the folder that `run` wrote.")
    return path


def save_verdicts(path, verdicts, **about):
    record = about | provenance() | {"claims": [asdict(v) for v in verdicts]}
    write_bytes(path, json.dumps(record, indent=1, ensure_ascii=False).encode())


def load_verdicts(path) -> tuple[tuple[Verdict, ...], dict]:
    """The verdicts and what is said about them."""
    check(Path(path))
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
        verdicts = tuple(map(Verdict.from_json, record.pop("claims")))
        require(all(isinstance(v.holds, bool) for v in verdicts), "a verdict is neither true nor false")
        return verdicts, record
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInput(f"{path} does not hold verdicts of ours ({error}): run the experiment again.") from None


def seal(folder):
    """Write the checksums of all files of a folder: it is finished."""
    files = sorted(f for f in Path(folder).iterdir() if f.is_file() and f.name != MANIFEST and f.name[0] != ".")
    write_bytes(Path(folder) / MANIFEST, json.dumps({f.name: sha256(f) for f in files}, indent=1).encode())


def unseal(folder):
    """Before a folder is written again: until it is sealed anew, it is unfinished."""
    (Path(folder) / MANIFEST).unlink(missing_ok=True)


def check(path):
    """Refuse a file that is not the one its folder's manifest names."""
    manifest = path.parent / MANIFEST
    if not manifest.is_file():
        return
    try:
        expected = json.loads(manifest.read_text(encoding="utf-8")).get(path.name)
    except (ValueError, AttributeError, RecursionError):
        raise InvalidInput(f"{manifest} is damaged, so nothing in its folder can be trusted: run again.") from None
    require(
        expected in (None, sha256(path)),
        f"{path} is damaged: its bytes are not those that were written (checksum differs). Run the experiment again.",
    )


def sha256(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
