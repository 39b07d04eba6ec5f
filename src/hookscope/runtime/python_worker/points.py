"""A line at which handlers stop, or say something, when its condition holds and it was met often enough."""

from __future__ import annotations

import operator
from types import CodeType, FrameType
from typing import Any, Callable, Dict, List, Optional  # noqa: UP035  (3.9)

TYPED = "<debugger>"
LOGGED = 4096  # characters of what one line says at once
_COUNTS: Dict[str, Callable[[int, int], Any]] = {  # noqa: UP006
    "==": operator.eq,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "%": lambda met, every: every > 0 and met % every == 0,
}


class Point:
    """As the host asks for it, see protocol.py: the number of a line, or that with what it wants."""

    def __init__(self, asked: Any) -> None:
        self.asked = asked if isinstance(asked, dict) else {"line": asked}
        self.line: int = self.asked["line"]
        self.wrong = ""  # why it cannot be had; else empty
        self._condition = self._compiled(self.asked.get("condition"))
        self._hits = self.asked.get("hits")
        parts: List[str] = self.asked.get("log") or []  # noqa: UP006  texts, an expression between each two
        self._log = [self._compiled(text) if place % 2 else text for place, text in enumerate(parts)]
        self._met = 0  # so often, its condition has held

    def stops(self, frame: FrameType, in_short: Any, say: Callable[[Any], Any]) -> Optional[str]:  # noqa: UP045
        """None where it does not; else what there is to say of its condition. `say` takes what it logs."""
        note = ""
        if self._condition is not None:
            try:
                if not _value(self._condition, frame):
                    return None
            except BaseException as error:
                note = f"its condition `{self.asked['condition']}` raises {in_short(error)}"
        self._met += 1
        if self._hits and not _COUNTS[self._hits[0]](self._met, self._hits[1]):
            return None
        if not self._log:
            return note
        said = "".join(one if isinstance(one, str) else _said(one, frame, in_short) for one in self._log)
        text = f"{said[:LOGGED]}{f' ({note})' if note else ''}"
        say({"file": frame.f_code.co_filename, "line": frame.f_lineno, "text": text})
        return None

    def _compiled(self, text: Any) -> Any:
        """None where there is none, or it is no expression."""
        if not text:
            return None
        try:
            return compile(text.strip(), TYPED, "eval", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            self.wrong = f"`{text}` is no expression of Python: {getattr(error, 'msg', error)}"
        return None


def _value(code: CodeType, frame: FrameType) -> Any:
    """All its names in one space: what stands in a generator expression sees the function's, too."""
    return eval(code, {**frame.f_globals, **frame.f_locals})


def _said(code: CodeType, frame: FrameType, in_short: Any) -> str:
    try:
        return str.__str__(str(_value(code, frame)))
    except BaseException as error:
        return f"<{in_short(error)}>"
