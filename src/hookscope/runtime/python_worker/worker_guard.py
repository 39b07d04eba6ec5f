"""Ends all workers and escaped processes when the program that started them is gone. Linux only.

A program killed with SIGKILL cannot clean up. So the first worker starts a guard: a process that waits until
a pipe is closed, as the system does however the program ends, and then kills all processes with the program's
mark (orphan_processes.py). This file contains both sides. It needs no other file when run as a program:

    python -I -S worker_guard.py MARK     waits on standard input
"""

import os
import signal
import sys
from contextlib import suppress

MARK_NAME = b"HOOKSCOPE_WORKER="
KILL_ROUNDS = 20  # of killing: a killed process may just have started another one

_started_in = 0  # the pid of the process that has a guard; its forks have none


def start_guard(mark: str) -> None:
    """Start the guard of this process, once. If that fails, workers still end by themselves."""
    global _started_in
    if _started_in == os.getpid() or sys.platform != "linux" or not sys.executable:
        return
    _started_in = os.getpid()
    try:
        theirs, _ = os.pipe()  # no child inherits our end, which stays open until this process ends
    except OSError:  # no more files may be opened now: the next worker tries again
        _started_in = 0
        return
    argv = [sys.executable, "-I", "-S", os.path.abspath(__file__), mark]
    actions = [(os.POSIX_SPAWN_DUP2, theirs, 0)]
    with suppress(OSError):
        os.posix_spawn(sys.executable, argv, {}, file_actions=actions)
    os.close(theirs)


def main(mark: str) -> None:
    """Wait for the end of the program, then kill the processes that it has left running."""
    os.setsid()  # so that a signal to the program's group does not end its guard
    while os.read(0, 1):
        pass
    for _ in range(KILL_ROUNDS):
        left = _marked_pids(MARK_NAME + mark.encode())
        for pid in left:
            with suppress(OSError):  # gone meanwhile
                os.kill(pid, signal.SIGKILL)
        if not left:
            return


def _marked_pids(mark: bytes) -> list[int]:
    found = []
    for name in os.listdir("/proc"):
        with suppress(OSError):
            if name.isdecimal() and mark in _read_file(f"/proc/{name}/environ"):
                found.append(int(name))
    return found


def _read_file(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


if __name__ == "__main__":
    main(sys.argv[1])
