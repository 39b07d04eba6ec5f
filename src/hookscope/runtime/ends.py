"""The pipes between us and a worker, as they are before it is spawned: our ends and its own."""

from __future__ import annotations

import os

from hookscope.runtime.child import Command
from hookscope.runtime.escapes import MARK
from hookscope.runtime.peer import WorkerProgram


class Ends:
    """Ours belong to whoever asked for them. Its own are open here until it is spawned: `close_theirs`."""

    def __init__(self, program: WorkerProgram) -> None:
        """Raises OSError where they cannot be made; then none is open."""
        self._program = program
        self._made: list[int] = []
        try:
            self._make(program)
        except OSError:
            for end in self._made:
                os.close(end)
            raise

    def _pipe(self) -> tuple[int, int]:
        ends = os.pipe()
        self._made += ends
        return ends

    def _make(self, program: WorkerProgram) -> None:
        their_in, self.out = self._pipe()
        self.line, their_out = self._pipe()
        stdout, self._stdout = self._pipe()
        stderr, self._stderr = self._pipe()
        self.printed = stdout, stderr
        self._fds = [their_in, their_out]  # of the protocol, in the order of its arguments
        self.control = self.bell = -1
        if program.control:
            their_control, self.control = self._pipe()
            self._fds.append(their_control)
        if program.bell:
            self.bell, their_bell = self._pipe()
            self._fds.append(their_bell)
        self._theirs = [*self._fds, self._stdout, self._stderr]
        self._filter: int | None = None
        if program.filter:
            self._filter, into = os.pipe()
            self._theirs.append(self._filter)
            os.write(into, program.filter)  # far less than a pipe holds
            os.close(into)
        for ours in (self.out, self.control):
            if ours >= 0:
                os.set_blocking(ours, False)

    def command(self, mark: str) -> Command:
        """How the worker is started, with its ends and under that mark."""
        program = self._program
        argv, env = (*program.argv, *map(str, self._fds)), {**program.env, MARK: mark}
        fds = self._fds
        if self._filter is not None:
            argv, fds = (argv[0], "--seccomp", str(self._filter), *argv[1:]), [*fds, self._filter]
        return Command(argv, env, program.cwd, self._stdout, self._stderr, tuple(fds))

    def close_theirs(self) -> None:
        """Any number of times."""
        while self._theirs:
            os.close(self._theirs.pop())
