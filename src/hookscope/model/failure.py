"""Failures of handlers, and the faults that can be injected into one."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

from hookscope.values import dataclass


class Refusal(Exception):
    """A user's mistake or impossible request. `problem` and `next_step` are a sentence each.

    `code` is the exit code of the command: 1 for a negative answer, 2 for wrong use.
    """

    def __init__(self, problem: str, next_step: str = "", *, code: int = 1) -> None:
        super().__init__(f"{problem} {next_step}".strip())
        self.problem = problem
        self.next_step = next_step
        self.code = code


class Outdated(Refusal):
    """The file has changed since the change was computed; computing it again may succeed."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a stack trace."""

    file: str
    line: int
    function: str
    source: str = ""
    column: int = 0  # from 1; 0: unknown


@dataclass(frozen=True, slots=True)
class Failure:
    """The failure of a handler."""

    type: str  # KeyError, SyntaxError, Timeout, Crashed, …
    message: str
    frames: tuple[Frame, ...] = ()  # outermost first; the last 40 at most
    phase: Literal["spawn", "load", "run"] = "run"
    plain: str | None = None  # the thrown value's own text, if `message` differs
    chain: tuple[str, ...] = ()  # messages of the error and its causes; empty: unknown

    @property
    def own_text(self) -> str:
        """The thrown value's own text, which hosts log."""
        return self.message if self.plain is None else self.plain


def outcome_text(status: str, failure: Failure | None) -> str:
    """Return the outcome of a handler: `error: KeyError: 'user'`, `timeout: did not answer`."""
    return status if failure is None else f"{status}: {error_prefix(status, failure.type)}{failure.message}"


def error_prefix(status: str, kind: str) -> str:
    """Return the error type in front of its message, or "" if the status already expresses the type."""
    return "" if kind.lower() == status else f"{kind}: "


def failure_document(failure: Failure | None) -> dict[str, Any] | None:
    """Return a failure as JSON values.

    `{"type", "message", "phase", "frames": [{"file", "line", "column", "function", "source"}]}`.
    """
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


FaultName: TypeAlias = Literal["exception", "hang", "slow", "junk", "exit"]
FAULTS: tuple[FaultName, ...] = get_args(FaultName)
SLOW_SECONDS, HANG_SECONDS = 1.0, 2.0  # seconds: default delay; default limit of a hang
MOST_SECONDS, MOST_STATUS = 3600.0, 255


class InvalidFault(ValueError):
    """A text that names no fault, or an amount that the fault does not take."""


@dataclass(frozen=True, slots=True)
class InjectedFault:
    """A fault that replaces a handler. `amount`: seconds for `slow`, status for `exit`, else 0."""

    fault: FaultName
    amount: float = 0.0

    @property
    def text(self) -> str:
        """The fault as it is written: `hang`, `slow:2`, `exit:3`."""
        return f"{self.fault}:{self.amount:g}" if self.fault in ("slow", "exit") else self.fault

    @property
    def limit(self) -> float | None:
        """Seconds until a hang is ended if the user sets no limit; None for other faults."""
        return HANG_SECONDS if self.fault == "hang" else None


def parse_fault(text: str) -> InjectedFault:
    """Parse `exception`, `hang`, `slow[:SECONDS]`, `junk` or `exit[:STATUS]`. Raises InvalidFault."""
    name, colon, amount = text.partition(":")
    fault = next((fault for fault in FAULTS if fault == name), None)
    match fault:
        case None:
            raise InvalidFault(f"{name!r} is not a fault; the faults are {', '.join(FAULTS)}")
        case "slow":
            return InjectedFault(fault, _fault_seconds(amount) if colon else SLOW_SECONDS)
        case "exit":
            return InjectedFault(fault, _fault_status(amount) if colon else 1)
        case _ if colon:
            raise InvalidFault(f"{fault} takes no amount")
        case _:
            return InjectedFault(fault)


def _fault_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= MOST_SECONDS:
        raise InvalidFault(f"slow must be seconds, more than 0 and at most {MOST_SECONDS:g}, not {text!r}")
    return seconds


def _fault_status(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= MOST_STATUS):
        raise InvalidFault(f"exit must be a status from 0 to {MOST_STATUS}, not {text!r}")
    return int(text)
