"""Workers as forks of one process, the server, that has imported what they need. For Linux.

It is the fork server of `multiprocessing`, but one of our own: it has the environment of workers, and the user's
program may use the other one. It serves all pools of this process, and ends with it. A worker has the environment of
the moment at which it starts: where that has changed, a new server starts.

Names with an underscore are the library's own, the same from Python 3.11 to 3.14.
"""

import atexit
import contextlib
import io
import json
import os
import signal
import sys
import threading
from multiprocessing import reduction, spawn, util
from multiprocessing.context import ForkServerProcess, set_spawning_popen
from multiprocessing.forkserver import ForkServer, read_signed
from multiprocessing.popen_forkserver import Popen

from saddlescope.sweeps.start_worker import as_for_workers, environment_of_workers

PRELOAD = "saddlescope.sweeps.preload"
RESTORES = "SADDLESCOPE_RESTORES"  # a variable with those that the server alone needs, as workers are to see them


def fork_worker(target, args) -> ForkServerProcess:
    """A process that calls the target, forked from the server."""
    process = _ForkedProcess(target=target, args=args, daemon=True)
    try:
        process.start()
    except (EOFError, ConnectionError):
        _forget_server()
        raise OSError("the process that forks workers has ended") from None
    return process


class _ForkedProcess(ForkServerProcess):
    @staticmethod
    def _Popen(process_obj):
        return _ForkedPopen(process_obj)


class _ForkedPopen(Popen):
    def _launch(self, process_obj):
        """As the library does it, but at our server."""
        message = io.BytesIO()
        set_spawning_popen(self)  # descriptors in what is pickled go along
        try:
            for part in (spawn.get_preparation_data(process_obj.name), process_obj):
                reduction.dump(part, message)
        finally:
            set_spawning_popen(None)
        with _connecting:
            server = _current_server()
            self.sentinel, pipe = server.connect_to_new_process(self._fds)
        alive = os.dup(pipe)  # the worker sees it closed when this process is gone
        self.finalizer = util.Finalize(self, util.close_fds, (alive, self.sentinel))
        with open(pipe, "wb") as file:
            file.write(message.getbuffer())
        self.pid = read_signed(self.sentinel)  # once the server has imported everything
        server.used = True


class _Server(ForkServer):
    def __init__(self, environment: dict[str, str]):
        super().__init__()
        self.set_forkserver_preload([PRELOAD])
        self.environment, self.owner, self.used = environment, os.getpid(), False

    def ensure_running(self):
        # It must import the modules that we have: from our path, and not from the current folder.
        path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
        own = {"PYTHONPATH": path, "PYTHONSAFEPATH": "1"}
        restores = json.dumps({name: os.environ.get(name) for name in own})
        with as_for_workers(**own, **{RESTORES: restores}):
            super().ensure_running()

    def is_ours(self) -> bool:
        """Whether it was started, by this process and not by one that this one was forked from."""
        return self._forkserver_pid is not None and self.owner == os.getpid()

    def retire(self):
        """Let it end with the last of its workers."""
        if self._forkserver_alive_fd is not None and self.is_ours():
            os.close(self._forkserver_alive_fd)
            self._forkserver_alive_fd = None

    def has_ended(self, wait: bool = False) -> bool:
        try:
            return os.waitpid(self._forkserver_pid, 0 if wait else os.WNOHANG)[0] != 0
        except ChildProcessError:
            return True

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._forkserver_pid, signal.SIGKILL)


_connecting = threading.Lock()
_server: _Server | None = None
_retired: list[_Server] = []


def _current_server() -> _Server:
    global _server
    wanted = environment_of_workers()
    _retired[:] = [old for old in _retired if not old.has_ended()]
    if _server is None or _server.owner != os.getpid() or _server.environment != wanted:
        if _server is not None and _server.is_ours():
            _server.retire()
            _retired.append(_server)
        _server = _Server(wanted)
    return _server


def _forget_server():
    """It was killed, and may not be quite gone yet. The next worker has a new one."""
    global _server
    with _connecting:
        if _server is not None and _server.is_ours():
            _server.kill()
            _retired.append(_server)
        _server = None


def stop_unused_server():
    """End the server if it has not forked anything yet: whoever waits for it sees that."""
    if (server := _server) is not None and server.is_ours() and not server.used:
        server.kill()


@atexit.register
def _stop_all():
    """At the end the workers are gone, or about to be. Waiting has the system count the time of all with ours."""
    for server in (*_retired, *([_server] if _server is not None else [])):
        if server.is_ours():
            server.kill()
            server.has_ended(wait=True)
