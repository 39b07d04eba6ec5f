"""Errors of packs, and progress with cancellation. Nothing was written unless an error states it."""

from __future__ import annotations

import struct
from collections.abc import Callable

from hookscope.model.text import error_reason
from hookscope.values import dataclass

# The exceptions of archive readers for damaged or hostile archives, besides their own errors.
ARCHIVE_ERRORS: tuple[type[Exception], ...] = (
    EOFError,
    OSError,
    ValueError,
    ArithmeticError,
    LookupError,
    TypeError,
    AttributeError,
    RuntimeError,  # RecursionError, NotImplementedError
    MemoryError,
    struct.error,
)


class PackError(Exception):
    """The base class of all refusals: what is wrong, and the next step."""

    def __init__(self, problem: str, hint: str = "") -> None:
        super().__init__(problem, hint)  # both, so that a copy or a pickle can be made from `args`
        self.problem = problem
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.problem} {self.hint}".strip()


class PackCancelled(PackError):
    """The user cancelled the task."""

    def __init__(self, problem: str = "Cancelled; nothing was installed.", hint: str = "") -> None:
        super().__init__(problem, hint)


def pack_error_reason(error: Exception) -> str:
    """Return an error's reason as the end of a sentence, with the file that cannot be written."""
    if not isinstance(error, OSError):
        return str(error).rstrip(".")
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error_reason(error)}"


@dataclass(frozen=True, slots=True)
class Progress:
    """Callbacks of the caller, called from the working thread."""

    report: Callable[[str], object] = lambda step: None  # called with the current step, as part of a sentence
    is_cancelled: Callable[[], bool] = lambda: False

    def step(self, what: str) -> None:
        """Report the next step. Raises PackCancelled."""
        self.check()
        self.report(what)

    def check(self) -> None:
        """Raise PackCancelled if the user has cancelled."""
        if self.is_cancelled():
            raise PackCancelled()


NO_PROGRESS = Progress()
