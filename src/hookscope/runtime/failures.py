"""Failures: exceptions of handlers, lost workers, exceeded limits, and the interpreter's stack dumps."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Literal

from hookscope.model.failure import Failure, Frame
from hookscope.model.run import Code
from hookscope.runtime.python_worker.safe_values import describe_exception
from hookscope.values import dataclass

QUARANTINE_FAULTS = 3  # faults within the window; then only a fire by hand runs the hook
FAULT_WINDOW = 300.0  # seconds


@dataclass(slots=True)
class FaultCounter:
    """Counts hangs, crashes and dirty workers of each hook, for all executors of a workbench.

    Faults belong to one content of a handler's file: a changed handler starts without faults.
    """

    clock: Callable[[], float] = time.monotonic
    _faults: dict[Path, list[float]] = field(default_factory=dict)
    _harmful_content: dict[Path, str] = field(default_factory=dict)  # content that caused the last fault
    _left_running: dict[Path, str] = field(default_factory=dict)  # content that left something running
    _lasting: dict[Path, str] = field(default_factory=dict)  # content whose work outlasted our wait

    def add_fault(self, code: Code, content: str) -> bool:
        """Count a fault. Return True if this one puts the hook into quarantine."""
        if self._harmful_content.get(code.path) != content:
            self._faults.pop(code.path, None)
        before = self.is_quarantined(code.path)
        self._harmful_content[code.path] = content
        self._faults[code.path] = [*self._recent(code.path), self.clock()]
        return self.is_quarantined(code.path) and not before

    def note_left_running(self, code: Code, content: str) -> None:
        """Note that a handler left a thread, a timer or a process running.

        That is not a fault, but it must not affect other handlers.
        """
        self._left_running[code.path] = content

    def note_lasting(self, code: Code, content: str) -> None:
        """Note that the handler's background work lasted longer than the executor waits."""
        self._lasting[code.path] = content

    def is_lasting(self, code: Code, content: str) -> bool:
        """Return whether the background work of this content is known to outlast the executor's wait."""
        return self._lasting.get(code.path) == content

    @property
    def is_empty(self) -> bool:
        """True if no handler has had a fault or left work running."""
        return not self._harmful_content and not self._left_running

    def needs_own_worker(self, code: Code, content: str) -> bool:
        """Return True if this content has caused faults or left work running: it gets its own worker."""
        if self.is_empty:
            return False
        return content in (self._harmful_content.get(code.path), self._left_running.get(code.path))

    def is_quarantined(self, path: Path) -> bool:
        """Return True if the handler at this path had three faults within five minutes."""
        return len(self._recent(path)) >= QUARANTINE_FAULTS

    def quarantined_paths(self) -> frozenset[Path]:
        """Return the paths of quarantined handlers."""
        return frozenset(path for path in tuple(self._faults) if self.is_quarantined(path))

    def lift_quarantine(self, path: Path) -> bool:
        """End a quarantine. Return False if there was none."""
        was_quarantined = self.is_quarantined(path)
        self._faults.pop(path, None)
        return was_quarantined

    def _recent(self, path: Path) -> list[float]:
        since = self.clock() - FAULT_WINDOW
        return [moment for moment in self._faults.get(path, ()) if moment > since]


Phase = Literal["spawn", "load", "run"]


class LoadFailed(Exception):
    """A handler's code could not be loaded; `failure` has the reason."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def failure_of(error: BaseException, phase: Phase = "run", target: object = None) -> Failure:
    """Return the failure for an exception of `target`, the called handler, if any. Never raises."""
    if type(error) is LoadFailed:  # isinstance would ask a hostile class for its `__class__`
        return error.failure
    return failure_from(describe_exception(error, target), phase)


def failure_from(document: Mapping[str, Any], phase: Phase) -> Failure:
    """Return the failure in a worker's document. Raises KeyError or TypeError if the document is invalid."""
    plain = document.get("plain")
    return Failure(
        str(document["type"]),
        str(document["message"]),
        frames_from(document["frames"]),
        phase,
        plain if isinstance(plain, str) else None,
        tuple(map(str, document.get("chain", ()))),
    )


def frames_from(documents: Iterable[Mapping[str, Any]]) -> tuple[Frame, ...]:
    """Return the frames in a worker's documents. Raises KeyError, TypeError, ValueError if one is invalid."""
    return tuple(
        Frame(
            str(frame["file"]),
            int(frame["line"]),
            str(frame["function"]),
            str(frame["source"]),
            int(frame.get("column", 0)),
        )
        for frame in documents
    )


def timeout_failure(
    seconds: float, phase: Phase, origin: str = "", frames: tuple[Frame, ...] = ()
) -> Failure:
    """Return the failure for an exceeded limit, with its origin and the handler's stack, if known."""
    what = {"spawn": "start", "load": "load", "run": "answer"}[phase]
    by = f" (the limit in {origin})" if origin else ""
    return Failure("Timeout", f"did not {what} within {seconds:g} s{by} and was stopped", frames, phase)


CANCELLED = Failure("Cancelled", "was stopped because the run was cancelled")
WORKER_ENDED = Failure("Cancelled", "was stopped because its worker was ended")


_RUNTIME_FOLDER = Path(__file__).parent
_MODEL_FOLDER = _RUNTIME_FOLDER.parent / "model"
_OWN_FILES = (
    str(_RUNTIME_FOLDER),
    str(_MODEL_FOLDER / "authoring_api.py"),
    str(_MODEL_FOLDER / "handler_arguments.py"),
)
_WORKER_FILE = str(_RUNTIME_FOLDER / "python_worker" / "worker.py")
_DUMP_START = r"(?m)^(?:Current thread|Thread) 0x[0-9a-f]+.*\(most recent call first\):$"
_DUMP_FRAME = r'(?m)^  File "(?P<file>.*)", line (?P<line>\d+) in (?P<function>.*)$'


def has_dump(text: str) -> bool:
    """Return True if the text contains a stack dump of the interpreter."""
    return re.search(_DUMP_START, text) is not None


def frames_in_dump(text: str) -> tuple[Frame, ...]:
    """Return the stack of the thread that ran a handler, outermost first, without our own frames.

    Prefers the thread that runs the worker, then the first thread that runs an author's code. Empty if there
    is no such thread.
    """
    parts = re.split(_DUMP_START, text)[1:]
    stacks = [[match.groupdict() for match in re.finditer(_DUMP_FRAME, part)] for part in parts]
    through_worker = [stack for stack in stacks if any(frame["file"] == _WORKER_FILE for frame in stack)]
    for stack in (*through_worker, *stacks):
        others = [frame for frame in stack if not frame["file"].startswith(_OWN_FILES)]
        if others:
            return tuple(
                Frame(frame["file"], int(frame["line"]), frame["function"]) for frame in reversed(others)
            )
    return ()
