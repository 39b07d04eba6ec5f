"""What went wrong in a handler: as a value, and as JSON."""

from typing import Any, Literal

from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a traceback."""

    file: str
    line: int
    function: str
    source: str = ""
    column: int = 0  # from 1; 0: not known


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong in a handler."""

    type: str  # KeyError, SyntaxError, Timeout, Crashed, …
    message: str
    frames: tuple[Frame, ...] = ()  # outermost first; the last 40 at most
    phase: Literal["spawn", "load", "run"] = "run"
    plain: str | None = None  # the thrown thing's own text, where `message` says it in other words
    chain: tuple[str, ...] = ()  # bare messages, of the error and then of its causes; empty: not known

    @property
    def own_text(self) -> str:
        """What the thrown thing says of itself, and nothing beside it: what hosts log."""
        return self.message if self.plain is None else self.plain


def ending_of(status: str, failure: Failure | None) -> str:
    """How a handler ended, and what a failure said: `error: KeyError: 'user'`, `timeout: did not answer`."""
    return status if failure is None else f"{status}: {said_by(status, failure.type)}{failure.message}"


def said_by(status: str, kind: str) -> str:
    """What stands before an error's message, behind a status: its type, where that is not the same word."""
    return "" if kind.lower() == status else f"{kind}: "


def failure_document(failure: Failure | None) -> dict[str, Any] | None:
    """`{"type", "message", "phase", "frames": [{"file", "line", "column", "function", "source"}]}`."""
    if failure is None:
        return None
    return {
        "type": failure.type,
        "message": failure.message,
        "phase": failure.phase,
        "frames": [
            {
                "file": frame.file,
                "line": frame.line,
                "column": frame.column,
                "function": frame.function,
                "source": frame.source,
            }
            for frame in failure.frames
        ],
    }
