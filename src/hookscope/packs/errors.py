"""Why a pack is not taken. Each error is a sentence for people; nothing was written unless it says so."""

import struct

from hookscope.core.text import why_of

# What readers of archives raise for damaged or hostile ones, beside errors of their own.
UNREADABLE: tuple[type[Exception], ...] = (
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
    """What every refusal of this room is: what is wrong, and the next step."""

    def __init__(self, what: str, then: str = "") -> None:
        super().__init__(what, then)  # both, so that a copy or a pickle can be made from `args`
        self.what = what
        self.then = then

    def __str__(self) -> str:
        return f"{self.what} {self.then}".strip()


class Cancelled(PackError):
    """Somebody stopped it."""

    def __init__(self, what: str = "It was stopped; nothing was installed.", then: str = "") -> None:
        super().__init__(what, then)


def reason_of(error: Exception) -> str:
    """Why something failed, as the end of a sentence; of a file that cannot be written with its name."""
    if not isinstance(error, OSError):
        return str(error).rstrip(".")
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{why_of(error)}"
