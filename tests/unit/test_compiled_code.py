"""Compiled code on disk: the same bits, whether it was compiled here or loaded, and no harm from what is on disk."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from saddlescope.storage import compiled_code
from saddlescope.storage.compiled_code import EVERYTHING, FOLDER, environment_of_compiled_code

TESTS = Path(__file__).parents[1]


def numbers(**environment):
    """What tests/compiled_numbers.py prints in a process of our own: bits by name, requests, hits, and errors."""
    names = {FOLDER, *EVERYTHING, "XDG_CACHE_HOME", "SADDLESCOPE_CACHE"}
    plain = {name: value for name, value in os.environ.items() if name not in names}
    plain["PYTHONPATH"] = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, TESTS / "compiled_numbers.py"],
        env=plain | environment,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    *lines, last = done.stdout.splitlines()
    requests, hits = map(int, last.split())
    return lines, requests, hits, done.stderr


def test_loaded_code_gives_the_bits_of_compiled_code(tmp_path):
    """No folder; a folder that two processes fill at once; the full one; one with damaged entries."""
    with ThreadPoolExecutor(2) as both:
        first, second = both.map(lambda _: numbers(XDG_CACHE_HOME=str(tmp_path)), range(2))
    fresh, requests, hits, errors = numbers(**{FOLDER: ""})
    assert len(set(fresh)) == 7
    assert (hits, errors) == (0, "")
    assert first[0] == second[0] == fresh
    entries = sorted(tmp_path.glob("saddlescope/jax/*/*"))
    assert len(entries) > 30
    loaded, requests, hits, errors = numbers(XDG_CACHE_HOME=str(tmp_path))
    assert loaded == fresh
    assert requests == hits + 1  # the solver of gradient flow calls back into Python: JAX does not store such code
    assert hits > 30
    assert errors == first[3] == second[3] == ""
    assert sorted(tmp_path.glob("saddlescope/jax/*/*")) == entries

    spoiled = entries[::5]
    for i, path in enumerate(spoiled):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2] if i % 2 else b"nonsense")
    damaged, requests, hits, errors = numbers(XDG_CACHE_HOME=str(tmp_path))
    assert damaged == fresh
    assert requests == hits + 1 + len(spoiled)
    assert errors == ""


@pytest.fixture
def home(monkeypatch, tmp_path):
    for name in (FOLDER, *EVERYTHING, "XDG_CACHE_HOME", "SADDLESCOPE_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_the_folder_is_in_the_users_cache(home, monkeypatch):
    given = environment_of_compiled_code()
    folder = Path(given[FOLDER])
    assert folder.parent == home / ".cache" / "saddlescope" / "jax"
    assert folder.stat().st_mode & 0o077 == 0  # JAX runs what is in it
    assert given == environment_of_compiled_code()
    for name, parts in (("XDG_CACHE_HOME", ("saddlescope", "jax")), ("SADDLESCOPE_CACHE", ("jax",))):
        monkeypatch.setenv(name, str(home / name))
        assert Path(environment_of_compiled_code()[FOLDER]).parent == home.joinpath(name, *parts)


def test_other_processors_flags_and_versions_have_other_folders(home, monkeypatch, tmp_path):
    """A home that two machines share must not hand the code of one to the other."""
    folders = [environment_of_compiled_code(flags)[FOLDER] for flags in ("", "--xla_cpu_max_isa=AVX2")]
    real = compiled_code._processor()
    assert b"flags" in real or not Path("/proc/cpuinfo").exists() or b"Features" in real
    monkeypatch.setattr(compiled_code, "_processor", lambda: real.replace(b"avx512f", b"") + b" other")
    folders.append(environment_of_compiled_code("")[FOLDER])
    monkeypatch.setattr(compiled_code, "_processor", lambda: real)
    assert environment_of_compiled_code("")[FOLDER] == folders[0]
    other = tmp_path / "site" / "jaxlib"
    other.mkdir(parents=True)
    (other / "__init__.py").touch()
    (other / "version.py").write_text("_version = '99'\n")
    monkeypatch.delitem(sys.modules, "jaxlib", raising=False)
    monkeypatch.syspath_prepend(other.parent)
    folders.append(environment_of_compiled_code("")[FOLDER])
    assert len(set(folders)) == 4


@pytest.mark.parametrize("given", ["", "/somewhere/else"])
def test_the_users_own_folder_stays(home, monkeypatch, given):
    monkeypatch.setenv(FOLDER, given)
    assert environment_of_compiled_code() == {}
    assert not list(home.iterdir())


def test_without_a_place_to_write_there_is_none(home, monkeypatch, capfd):
    for place in ("/dev/null", str(home / "missing")):
        monkeypatch.setenv("HOME", place)
        assert environment_of_compiled_code() == {}
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(os, "access", lambda *_: False)  # a home that is read-only: root may write anywhere
    assert environment_of_compiled_code() == {}
    assert capfd.readouterr() == ("", "")


def test_old_entries_and_folders_are_removed(home, monkeypatch):
    monkeypatch.setattr(compiled_code, "MOST_ENTRIES", 6)
    folder = Path(environment_of_compiled_code()[FOLDER])
    for age in range(9):
        (folder / f"entry-{age}").touch()
        os.utime(folder / f"entry-{age}", (1000 - age, 1000 - age))
    environment_of_compiled_code()
    assert sorted(p.name for p in folder.iterdir()) == ["entry-0", "entry-1", "entry-2"]
    for age in range(5):
        other = folder.parent / f"old-{age}"
        other.mkdir()
        os.utime(other, (1000 - age, 1000 - age))
    new = Path(environment_of_compiled_code("other flags")[FOLDER])
    assert {p.name for p in folder.parent.iterdir()} == {folder.name, new.name, "old-0", "old-1"}
