"""What several tests need, and how all of them run."""

import ctypes
import gc
import signal
import sys
from pathlib import Path

import pytest

from saddlescope import cli, numerics
from saddlescope.storage.compiled_code import keep_compiled_code

numerics.set_environment()  # before JAX is imported: tests compute in double precision, as the command line does
keep_compiled_code()

if sys.platform == "linux":
    from saddlescope.sweeps import fork_server

    def _without_the_name_of_the_test(environment=fork_server.environment_of_workers):
        return {name: value for name, value in environment().items() if name != "PYTEST_CURRENT_TEST"}

    # pytest sets that variable anew for every test, and a worker with a new environment needs a new server.
    fork_server.environment_of_workers = _without_the_name_of_the_test


# Files that take long come first. A process that has done its tests takes others from the end of another's list: a long
# test there would leave it waiting.
LONG = (
    "claims/test_quick.py",
    "sweeps/test_chaos.py",
    "sweeps/test_cluster.py",
    "claims/test_processors.py",
    "unit/test_fused_processes.py",
    "unit/test_side_effects.py",
    "theory/test_escape_certificates.py",
    "sweeps/test_sweep_cli.py",
    "sweeps/test_sweep.py",
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    places = {Path(__file__).parent / name: i for i, name in enumerate(LONG)}
    items.sort(key=lambda item: places.get(item.path, len(LONG)))


MUCH = 1200 << 20  # bytes of a process


@pytest.fixture(autouse=True, scope="module")
def forget_compiled_code():
    """Each compiled function holds some 2 MB: without this, a process that runs every file grows to 5 GB."""
    yield
    if "jax" in sys.modules and _resident() > MUCH:
        sys.modules["jax"].clear_caches()
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)


def _resident():
    """Bytes of memory of this process; 0 where there is no Linux to tell."""
    if sys.platform != "linux":
        return 0
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.fixture
def saddlescope(capsys, monkeypatch, tmp_path):
    """Run the command in this process, in an empty folder; gives status, output and errors."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["saddlescope", *map(str, words)])
        before = {s: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)}
        try:
            with pytest.raises(SystemExit) as ended:
                cli.main()
        finally:
            for s, handler in before.items():
                signal.signal(s, handler)
        printed = capsys.readouterr()
        return ended.value.code or 0, printed.out, printed.err

    return call


@pytest.fixture
def hears_ctrl_c():
    """Programs started here hear Ctrl-C, also where the tests run as a background job, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
