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
    """A worker program. It gets two more arguments: the descriptors it reads from and writes to.

    `env` is its whole environment, but for the mark of its worker (escapes.py). `missing` is the next
    step for people, where it cannot be started. `control`: it gets a third descriptor, which a thread of
    its own reads, for what must reach it while a handler keeps its main thread; and so it notices at once
    that we are gone. `bell`: it gets a fourth, to ring when the line shall be read at once.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    missing: str = ""
    control: bool = False
    bell: bool = False
    walled: bool = False  # something in front of it turns a death by signal n into status 128+n
    filter: bytes = b""  # of system calls, for bwrap, which `argv` begins with

    def unspawned(self, error: Exception) -> Failure:
        """Why it could not be started, and what to do."""
        name, why = self.argv[0], error_reason(error)
        if not os.path.isdir(self.cwd):
            text = f"{name} cannot run in {self.cwd}: there is no such folder."
        else:
            then = FILE_LIMIT_HINT if is_file_limit(error) else self.missing
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

    who: str  # the hook's name; empty where it is not known
    error: object  # as the worker describes it
    text: str = ""  # in place of an error


@dataclass(frozen=True, slots=True)
class LateHandler:
    """A handler that a module has registered since it was loaded."""

    name: str  # of the content that declares it
    row: object  # as one of the protocol's `declares`


class WorkerLost(Exception):
    """The worker is gone, or cannot be trusted any further: end it."""

    def __init__(self, text: str, *, died: bool = False, ours: bool = False) -> None:
        super().__init__(text)
        self.text = text
        self.died = died  # by itself, and not because it spoke nonsense
        self.ours = ours  # somebody here has ended it meanwhile: nobody is to blame


class WorkerNotStarted(Exception):
    """There is no worker, and trying again at once would not help."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class WorkerHandle(Protocol):
    """A worker as a seat sees it. See `worker.Worker`."""

    mark: str
    fence: str
    pid: int
    born: float
    keeps_time: bool

    @property
    def alive(self) -> bool: ...
    @property
    def has_late(self) -> bool: ...
    async def start(self) -> None: ...
    def listening(self, *, outputs: bool = True) -> AbstractContextManager[None]: ...
    def hear_outputs(self) -> None: ...
    def attend(self, news: Callable[[], None]) -> None: ...
    async def tell(self, message: Message) -> None: ...
    def send_now(self, frame: bytes) -> bytes | memoryview: ...
    async def send(self, frame: bytes | memoryview) -> None: ...
    async def urge(self, message: Message) -> None: ...
    async def hear(self) -> Message: ...
    async def converse(self, take: Callable[[Message], bool], waits: Callable[[], object]) -> None: ...
    def look(self) -> bool: ...
    def interrupt(self) -> None: ...
    def heard(self) -> Message | None: ...
    def signal(self, number: int) -> None: ...
    def printed(self, *, of_one: bool = False) -> PrintedOutput: ...
    def late(self) -> tuple[LateEvent, ...]: ...
    @property
    def added(self) -> Sequence[LateHandler]: ...
    async def end(self) -> None: ...
