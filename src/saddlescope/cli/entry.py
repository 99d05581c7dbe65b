"""The entry point. It imports little, so that it hears Ctrl-C before libraries are imported."""

import os
import sys

from saddlescope.cli.stop import SENTENCE, STATUS, leave, stoppable


def main():
    """Run what was typed. Bad input is one sentence on standard error and exit status 2."""
    _speak_utf8()
    _set_environment()
    with stoppable() as stop:
        ended = stop.guard(_outcome, sys.argv[1:] or ["--help"])
        if ended is None or stop.asked:
            leave(ended[0] if ended and ended[1] == STATUS else SENTENCE)
    sentence, status = ended
    if sentence:
        print(f"saddlescope: {sentence}", file=sys.stderr)
    sys.exit(status)


def _outcome(words):
    from saddlescope.cli.commands import outcome

    return outcome(words)


def _speak_utf8():
    """ASCII lacks letters that we print. A printed line is shown at once, also in a pipe."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace", line_buffering=True)


def _set_environment():
    """One thread gives a sum one order; then precision and figures. What is set already stays."""
    from saddlescope import ONE_THREAD

    for name, value in (ONE_THREAD | {"JAX_ENABLE_X64": "1", "MPLBACKEND": "Agg"}).items():
        os.environ.setdefault(name, value)
