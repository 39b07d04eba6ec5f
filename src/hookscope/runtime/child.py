"""One process in a group of its own, and the thread that owns it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path

from hookscope.values import dataclass

GLANCE = 0.001  # seconds in which a process that has closed all it had open has mostly ended
POLL = 0.01  # seconds between looks, where the system cannot wait for an end without reaping it


@dataclass(frozen=True, slots=True)
class Command:
    """What to start. The process gets exactly this environment, and `fds` beside 0, 1 and 2."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    stdout: int
    stderr: int
    fds: tuple[int, ...] = ()


class Child:
    """A process in its own session and group, spawned, awaited and reaped by one thread.

    What leaves the group survives: a process that calls setsid or setpgid is not ours to find, and is
    not killed with the others.

    The parent-death signal follows the spawning thread, so that thread stays until the reap.
    Neither future can be cancelled; both are set from that thread.
    """

    def __init__(self, command: Command) -> None:
        self.spawned: Future[int] = Future()  # → pid; an exception where it cannot be started
        self.ended: Future[int] = Future()  # → exit code, negative for a signal; never set if not spawned
        self.spawned.set_running_or_notify_cancel()  # an awaiter that is cancelled must not cancel them
        self.ended.set_running_or_notify_cancel()
        self._lock = threading.Lock()
        self._pid: int | None = None  # ours to signal only while set: after the reap it is somebody else's
        name = f"owner of {command.argv[0]}"
        threading.Thread(target=self._own, args=(command,), name=name, daemon=True).start()

    async def code(self, seconds: float) -> int:
        """The exit code, once it has ended. Raises TimeoutError where that takes longer than so many seconds.

        Who asks mostly has seen it die: the end comes sooner than a turn of the loop would tell of it.
        """
        with suppress(TimeoutError):
            return self.ended.result(min(GLANCE, seconds))
        return await asyncio.wait_for(asyncio.wrap_future(self.ended), seconds)

    def kill(self) -> None:
        """SIGKILL the whole group. Safe at any time, from any thread, any number of times."""
        with self._lock:
            if self._pid is not None:
                with suppress(ProcessLookupError, PermissionError):  # macOS: EPERM for the dead
                    os.killpg(self._pid, signal.SIGKILL)

    def signal(self, number: int) -> None:
        """Send the process itself a signal, if it has not been reaped."""
        with self._lock:
            if self._pid is not None:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(self._pid, number)

    def _own(self, command: Command) -> None:
        try:
            process = _spawn(command)
        except Exception as error:  # whatever it is, somebody waits for it
            self.spawned.set_exception(error)
            return
        self._pid = process.pid
        self.spawned.set_result(process.pid)
        self.ended.set_result(self._await(process))

    def _await(self, process: subprocess.Popen[bytes]) -> int:
        if hasattr(os, "waitid"):
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # dead, but its number is still taken
            self.kill()  # what it left behind in its group
            with self._lock:
                self._pid = None
                return process.wait()
        return self._poll(process)

    def _poll(self, process: subprocess.Popen[bytes]) -> int:
        """For macOS before Python 3.13, which has no waitid: the group is killed just after the reap."""
        while True:
            with self._lock:
                code = process.poll()
                if code is not None:
                    self._pid = None
                    with suppress(ProcessLookupError, PermissionError):
                        os.killpg(process.pid, signal.SIGKILL)
                    return code
            time.sleep(POLL)


def _spawn(command: Command) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command.argv,
        stdin=subprocess.DEVNULL,
        stdout=command.stdout,
        stderr=command.stderr,
        pass_fds=command.fds,
        cwd=command.cwd,
        env=dict(command.env),
        start_new_session=True,
    )


def in_words(code: int) -> str:
    """How a process ended: "exited with status 1", "was killed by signal 11 (SIGSEGV)"."""
    if code >= 0:
        return f"exited with status {code}"
    try:
        name = f" ({signal.Signals(-code).name})"
    except ValueError:  # a real-time signal has no name
        name = ""
    return f"was killed by signal {-code}{name}"
