"""What several unit tests need."""

import signal
import sys

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
