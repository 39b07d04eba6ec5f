"""What a handler is made to do on purpose, to see what its host makes of it."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from hookscope.values import dataclass

FaultName: TypeAlias = Literal["exception", "hang", "slow", "junk", "exit"]
FAULTS: tuple[FaultName, ...] = get_args(FaultName)
SLOW, HANGS = 1.0, 2.0  # seconds: later, and until a hang is ended where nobody says otherwise
MOST_SECONDS, MOST_STATUS = 3600.0, 255


class NoBreakage(ValueError):
    """A text that names no fault, or one with an amount that it has not."""


@dataclass(frozen=True, slots=True)
class Breakage:
    """A fault in a handler's place. `amount`: seconds for `slow`, the status for `exit`, else 0."""

    fault: FaultName
    amount: float = 0.0

    @property
    def text(self) -> str:
        """As it is written: `hang`, `slow:2`, `exit:3`."""
        return f"{self.fault}:{self.amount:g}" if self.fault in ("slow", "exit") else self.fault

    @property
    def limit(self) -> float | None:
        """Seconds after which it is ended where the user sets no limit; None: as any handler."""
        return HANGS if self.fault == "hang" else None


def breakage_of(text: str) -> Breakage:
    """What `exception`, `hang`, `slow[:SECONDS]`, `junk` or `exit[:STATUS]` stand for. Raises NoBreakage."""
    name, colon, amount = text.partition(":")
    fault = next((fault for fault in FAULTS if fault == name), None)
    match fault:
        case None:
            raise NoBreakage(f"{name!r} is no fault; there are {', '.join(FAULTS)}")
        case "slow":
            return Breakage(fault, _seconds(amount) if colon else SLOW)
        case "exit":
            return Breakage(fault, _status(amount) if colon else 1)
        case _ if colon:
            raise NoBreakage(f"{fault} takes no amount")
        case _:
            return Breakage(fault)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= MOST_SECONDS:
        raise NoBreakage(f"slow wants seconds, more than 0 and at most {MOST_SECONDS:g}, and has {text!r}")
    return seconds


def _status(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= MOST_STATUS):
        raise NoBreakage(f"exit wants a status from 0 to {MOST_STATUS}, and has {text!r}")
    return int(text)
