"""A worker as its slot sees it: the program, what it printed or reported late, and why it was lost."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from hookscope.model.failure import Failure
from hookscope.model.regular_file import FILE_LIMIT_HINT, is_file_limit
from hookscope.model.text import error_reason
from hookscope.runtime.python_worker.protocol import Message
from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class WorkerProgram:
    """A worker program. It gets two more arguments: the descriptors that it reads from and writes to."""

    argv: tuple[str, ...]
    env: Mapping[str, str]  # all of it, without the worker's mark (orphan_processes.py)
    cwd: Path
    hint: str = ""  # the next step for people, if it cannot be started
    control: bool = False  # it gets a third descriptor, which its own thread reads while a handler runs
    bell: bool = False  # it gets a fourth, to ring when the host must read at once
    is_sandboxed: bool = False  # something in front of it turns a death by signal n into status 128+n
    filter: bytes = b""  # of system calls, for bwrap, which `argv` begins with

    def start_failure(self, error: Exception) -> Failure:
        """Why it could not be started, and what to do."""
        name, why = self.argv[0], error_reason(error)
        if not os.path.isdir(self.cwd):
            text = f"{name} cannot run in {self.cwd}: there is no such folder."
        else:
            then = FILE_LIMIT_HINT if is_file_limit(error) else self.hint
            text = f"{name} cannot be started: {why}. {then}".rstrip()
        return Failure("NotStarted", text, phase="spawn")


@dataclass(frozen=True, slots=True)
class PrintedOutput:
    """What was printed since somebody last asked."""

    stdout: str = ""
    stderr: str = ""
    notes: tuple[str, ...] = ()


NOTHING_PRINTED = PrintedOutput()


@dataclass(frozen=True, slots=True)
class LateEvent:
    """Of a handler that had already answered: an error that nobody caught, or a sentence."""

    hook: str  # the hook's name; empty where it is not known
    error: object  # as the worker describes it
    text: str = ""  # in place of an error


@dataclass(frozen=True, slots=True)
class LateHandler:
    """A handler that a module has registered since it was loaded."""

    name: str  # of the content that declares it
    declaration: object  # as one of the protocol's `declares`


class WorkerLost(Exception):
    """The worker is gone, or cannot be trusted any further: end it."""

    def __init__(self, text: str, *, died: bool = False, by_host: bool = False) -> None:
        super().__init__(text)
        self.text = text
        self.died = died  # by itself, and not because it spoke nonsense
        self.by_host = by_host  # somebody here has ended it meanwhile: nobody is to blame


class WorkerNotStarted(Exception):
    """There is no worker, and trying again at once would not help."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class WorkerHandle(Protocol):
    """A worker as its slot uses it. See worker_process.WorkerProcess."""

    mark: str
    fence: str
    pid: int
    started_at: float
    shares_clock: bool

    @property
    def is_alive(self) -> bool: ...
    @property
    def has_late_events(self) -> bool: ...
    async def start(self) -> None: ...
    def listening(self, *, outputs: bool = True) -> AbstractContextManager[None]: ...
    def read_outputs(self) -> None: ...
    def keep_reading(self, news: Callable[[], None]) -> None: ...
    async def send_message(self, message: Message) -> None: ...
    def send_available(self, frame: bytes) -> bytes | memoryview: ...
    async def send_frame(self, frame: bytes | memoryview) -> None: ...
    async def send_urgent(self, message: Message) -> None: ...
    async def receive(self) -> Message: ...
    async def receive_each(self, take: Callable[[Message], bool], waits: Callable[[], object]) -> None: ...
    def read_available(self) -> bool: ...
    def stop_receiving(self) -> None: ...
    def take_received(self) -> Message | None: ...
    def signal(self, number: int) -> None: ...
    def take_output(self, *, of_one: bool = False) -> PrintedOutput: ...
    def take_late_events(self) -> tuple[LateEvent, ...]: ...
    @property
    def late_handlers(self) -> Sequence[LateHandler]: ...
    async def end(self) -> None: ...
