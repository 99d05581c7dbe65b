"""How a command begins and ends: from the words that were typed to a sentence and an exit status.

This file imports little, so that Ctrl-C is caught before the commands and their libraries are imported. Ctrl-C or
SIGTERM ends a command within seconds, with one sentence. The handler asks the loop of `train` to stop; where nothing
loops, it raises KeyboardInterrupt, or ends the process if a module is being imported. Such an exception can be lost: a
callback of XLA or a `__del__` swallows it, and long work in C does not see it. So a thread raises it again where it was
swallowed, and ends the process after `PATIENCE`, whatever the main thread does. No result is lost by that: files are
written whole or not at all, and a run resumes from its last checkpoint.
"""

import _thread
import atexit
import contextlib
import os
import signal
import sys
import threading

from saddlescope.errors import InvalidInput
from saddlescope.numerics import set_environment
from saddlescope.progress import LOOPING, STOP, raise_if_stopped
from saddlescope.storage.compiled_code import keep_compiled_code
from saddlescope.sweeps.late_collection import collect_late, leave_garbage
from saddlescope.sweeps.late_dask import import_dask_late

PATIENCE = 3.5  # seconds from the signal to the end of the process
STATUS = 130
SENTENCE = "stopped; what is finished is kept, and the same command resumes from there."
SIGNALS = (signal.SIGINT, signal.SIGTERM)
LEAVING = threading.Lock()  # held by the one thread that speaks the last sentence
ACCESS = "check that it is there, and may be read and written"
SMALLER = "use a smaller width, depth or number of samples"


def main():
    """Run the command that was typed. Bad input is one sentence on standard error and exit status 2."""
    collect_late()
    _speak_utf8()
    set_environment()
    keep_compiled_code()
    import_dask_late()
    with stoppable() as stop:
        ended = stop.guard(_outcome, sys.argv[1:] or ["--help"])
        if ended is None or stop.asked:
            leave(ended[0] if ended and ended[1] == STATUS else SENTENCE)
    assert ended is not None  # `leave` ends the process
    sentence, status = ended
    if sentence:
        print(f"saddlescope: {sentence}", file=sys.stderr)
    leave_garbage()
    sys.exit(status)


def _speak_utf8():
    """Titles and verdicts have letters that ASCII has not; a line is shown when it is printed, also in a pipe."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace", line_buffering=True)


def _outcome(words) -> tuple[str, int]:
    """The sentence for standard error, or "", and the status. Bad input is never a traceback."""
    import typer

    # In the order of `--help`.
    from saddlescope.cli import experiments, train, stages, escape, meanfield, sweeps, data  # isort: skip  # noqa: F401
    from saddlescope.cli.app import Ending, app

    try:
        status = app(words, standalone_mode=False, prog_name="saddlescope") or 0
        return SENTENCE if status == STATUS else "", status
    except Ending as ending:
        return ending.sentence, ending.status
    except typer.TyperException as error:
        return f"{error.format_message().rstrip('.')}; `{_help(error)}` shows what can be given.", 2
    except InvalidInput as error:
        return str(error), 2
    except OSError as error:
        where = f" at {error.filename}" if error.filename else ""
        return f"{error.strerror or error}{where}: {ACCESS}.", 2
    except MemoryError as error:
        return f"this does not fit into memory ({error}); {SMALLER}.", 2


def _help(error) -> str:
    """The command whose own help describes what was typed wrongly."""
    context = getattr(error, "ctx", None)
    return f"{context.command_path if context else 'saddlescope'} --help"


# ---- Ctrl-C ----


class Stop:
    """The stop of one command: `asked` says whether a signal came."""

    def __init__(self):
        self.asked = self.swallowed = False
        self.armed = False  # an exception raised now is caught
        self.over = threading.Event()

    def guard(self, call, *args):
        """What the call gives; None where a signal ended it, whatever became of the exception."""
        try:
            self.armed = True
            raise_if_stopped()
            value = call(*args)
            self.armed = False
        except BaseException:
            self.armed = False
            if not self.asked:
                raise
            return None
        return value

    def handle(self, _, frame):
        """In the main thread, between two lines of Python. A second signal adds nothing."""
        if self.asked and not self.swallowed:
            return
        self.asked, self.swallowed = True, False
        STOP.set()
        if self.armed and not LOOPING.is_set():
            if _importing(frame):
                leave(SENTENCE)
            raise KeyboardInterrupt

    def note_swallowed(self, unraisable):
        """Python's hook for an exception that nobody can catch. It must not raise itself."""
        if self.asked and issubclass(unraisable.exc_type, KeyboardInterrupt):
            self.swallowed = True
        elif not self.asked:
            sys.__unraisablehook__(unraisable)

    def watch(self, pipe):
        """In its own thread: wait for a signal, then for the end of the command, but not long."""
        while (said := os.read(pipe, 1)) and said[0] not in SIGNALS:
            pass
        if not said:
            return  # the command is over
        for _ in range(round(PATIENCE / 0.1)):
            if self.over.wait(0.1):
                return
            if self.swallowed:
                _thread.interrupt_main(signal.SIGTERM)
        leave(SENTENCE)


def _importing(frame) -> bool:
    """Whether a module is being imported. Its C++ code may abort the process if an exception passes through it."""
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


@contextlib.contextmanager
def stoppable():
    """While the block lasts, signals are handled; after it, they end the process at once."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    atexit.register(_ignore)  # first in, so it runs last: then only C libraries end
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    hook, sys.unraisablehook = sys.unraisablehook, stop.note_swallowed
    watcher = threading.Thread(target=stop.watch, args=(reading,), daemon=True)
    watcher.start()
    fd = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    # `nohup` and `&` make a command ignore signals; then so do we.
    heard = [s for s in SIGNALS if signal.getsignal(s) is not signal.SIG_IGN]
    for s in heard:
        signal.signal(s, stop.handle)
    try:
        yield stop
    finally:
        for s in heard:
            signal.signal(s, lambda *_: leave(SENTENCE))  # nothing is left to do but to end
        if stop.asked:
            leave(SENTENCE)
        stop.over.set()
        signal.set_wakeup_fd(fd)
        os.close(writing)
        watcher.join()
        os.close(reading)
        sys.unraisablehook = hook


def _ignore():
    """Once Python's handlers are gone, a signal would kill a process that has done its work."""
    for s in SIGNALS:
        signal.signal(s, signal.SIG_IGN)


def leave(sentence):
    """Say it and end this process at once, from any thread: JAX's own end may crash."""
    if not LEAVING.acquire(blocking=False):
        threading.Event().wait()  # the other thread ends us both
    processes = sys.modules.get("multiprocessing")
    with contextlib.suppress(Exception):
        for child in processes.active_children() if processes else ():
            child.kill()
    # A bar was drawn on a terminal: clear its line and show the cursor.
    shown = "\r\x1b[K\x1b[?25h" if os.isatty(2) else ""
    with contextlib.suppress(OSError):
        os.write(2, f"{shown}saddlescope: {sentence}\n".encode())
    os._exit(STATUS)
