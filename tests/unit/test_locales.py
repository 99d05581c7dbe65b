"""Files and output are UTF-8 whatever the locale; help and errors of the command line."""

import os
import subprocess
import sys

import pytest

ASCII = {
    "ascii locale": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "ascii output": {"PYTHONIOENCODING": "ascii"},
}


COMMANDS = """
import sys
from saddlescope.cli import main
given = [(s, s.encoding, s.errors) for s in (sys.stdout, sys.stderr)]
for words in sys.argv[1:]:
    for stream, encoding, errors in given:  # each command finds the streams as a process of its own does
        stream.reconfigure(encoding=encoding, errors=errors)
    sys.argv[1:] = words.split()
    try:
        main()
    except SystemExit as end:
        assert not end.code, words
    sys.stdout.flush()
    sys.stdout.buffer.write(b"\\0")
"""


@pytest.mark.parametrize("name", ASCII)
def test_commands_read_and_say_utf8_in_any_locale(name, tmp_path):
    """One after the other in one process, which takes longer to start than most of them take."""
    (tmp_path / "log.csv").write_text("löss\n" + "3\n2\n1\n" * 9, encoding="utf-8")
    out, key = "saddlescope-results/simplicity.fig1d.quick", "simplicity.fig1d"
    words = [f"run {key} --quick --quiet", f"judge {out}", f"show {out}", f"show {key}", "stages log.csv", "list"]
    call = [sys.executable, "-c", COMMANDS, *words]
    done = subprocess.run(call, cwd=tmp_path, env=os.environ | ASCII[name], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    ran, judged, shown, described, stages, listed, end = done.stdout.decode("utf-8").split("\0")
    assert "–100 %" in ran
    assert "–100 %" in judged
    assert "–100 %" in shown
    assert "–" in described
    assert "löss of log.csv" in stages
    assert not listed.isascii()
    assert end == ""


BAD = {
    "no file": (["stages", ""], "There is no file"),
    "the root": (["stages", "/"], "holds no curve"),
    "too wide a span": (["stages", "wide.csv"], "'loss' of wide.csv spans more than 1e+306"),
    "nothing finite": (["stages", "nan.csv"], "'loss' of nan.csv holds no finite number"),
    "an option's value": (
        ["stages", "a.csv", "--smooth", "x"],
        "`saddlescope stages --help` shows",
    ),
    "an argument": (["train"], "`saddlescope train --help` shows"),
    "a command": (["nosuch"], "`saddlescope --help` shows"),
    "a name in two papers": (["run", "fig4"], "'simplicity.fig4' or 'valleys.fig4'"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_sentence(saddlescope, tmp_path, name):
    (tmp_path / "wide.csv").write_text("loss\n" + "1e308\n-1e308\n" * 20, encoding="utf-8")
    (tmp_path / "nan.csv").write_text("loss\n" + "nan\n" * 20, encoding="utf-8")
    words, sentence = BAD[name]
    status, out, err = saddlescope(*words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert sentence in err


@pytest.mark.parametrize("words", [(), ("run",), ("stages",), ("ls",)])
def test_short_and_long_help_are_the_same(saddlescope, words):
    assert saddlescope(*words, "-h") == saddlescope(*words, "--help")


def test_the_environment_is_set_by_the_command_line_alone(tmp_path):
    code = (
        "import os, sys; import saddlescope.cli; before = dict(os.environ)\n"
        "sys.argv[1:] = ['--version']\n"
        "try: saddlescope.cli.main()\n"
        "except SystemExit: pass\n"
        "new = sorted(set(os.environ) - set(before))\n"
        "print(new, os.environ['MPLBACKEND'], 'jax' in sys.modules)"
    )
    given = {k: v for k, v in os.environ.items() if k not in ("JAX_ENABLE_X64", "OMP_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=given | {"MPLBACKEND": "svg"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "JAX_ENABLE_X64" in done.stdout
    assert done.stdout.endswith(" svg False\n"), "what is set stays"
