"""What several unit tests need."""

import sys

import pytest

from saddlescope import cli


@pytest.fixture
def saddlescope(capsys, monkeypatch, tmp_path):
    """Run the command in this process, in an empty folder; gives status, output and errors."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["saddlescope", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = capsys.readouterr()
        return ended.value.code or 0, printed.out, printed.err

    return call
