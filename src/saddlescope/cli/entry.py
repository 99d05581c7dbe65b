"""The entry point. It imports little, so that it hears Ctrl-C before the commands and their libraries are imported."""

import sys

from saddlescope.cli.stop import SENTENCE, STATUS, leave, stoppable
from saddlescope.numerics import set_environment


def main():
    """Run the command that was typed. Bad input is one sentence on standard error and exit status 2."""
    _speak_utf8()
    set_environment()
    with stoppable() as stop:
        ended = stop.guard(_outcome, sys.argv[1:] or ["--help"])
        if ended is None or stop.asked:
            leave(ended[0] if ended and ended[1] == STATUS else SENTENCE)
    assert ended is not None  # `leave` ends the process
    sentence, status = ended
    if sentence:
        print(f"saddlescope: {sentence}", file=sys.stderr)
    sys.exit(status)


def _outcome(words):
    from saddlescope.cli.commands import outcome

    return outcome(words)


def _speak_utf8():
    """Titles and verdicts have letters that ASCII has not; a line is shown when it is printed, also in a pipe."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace", line_buffering=True)
