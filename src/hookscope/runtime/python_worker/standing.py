"""Where a handler stands that is debugged: what is seen of its stack, and what is asked of it there."""

from __future__ import annotations

import ctypes
import io
import pprint
import reprlib
import sys
from contextlib import redirect_stdout, suppress
from itertools import islice
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any, Callable, List, Optional, Tuple  # noqa: UP035  (3.9)

Place = Tuple[FrameType, int]  # noqa: UP006  where it stands, and in which line
Stack = List[Place]  # noqa: UP006  outermost first
Members = List[Tuple[str, Any]]  # noqa: UP006  names, and what they stand for

AROUND = 15  # lines shown above and below the present one
VARIABLES = 60
MEMBERS = 200  # of one value
VARIABLE = 300  # characters of the text of one
ANSWER = 16 * 1024  # characters of what was asked for
WIDTH = 100  # columns that a value is laid out for
TYPED = "<debugger>"

# What has nothing in it that is worth a look.
_PLAIN = (
    *(str, bytes, int, float, complex, type(None), type),
    *(ModuleType, FunctionType, BuiltinFunctionType, MethodType),
)
_PERSISTS = sys.version_info >= (3, 13)  # there `f_locals` writes through


class Standing:
    """A stack that somebody looks at, and the frame of it that they have chosen."""

    def __init__(self, stack: Stack, faults: Any) -> None:
        self._stack, self._faults = stack, faults
        self._at = len(stack) - 1
        self._known: dict[int, Any] = {}  # the variables of each frame: to ask anew would forget what was set

    @property
    def file(self) -> str:
        """Of the chosen frame."""
        return self._stack[self._at][0].f_code.co_filename

    def turn_to(self, at: Any) -> None:
        """Choose another frame, by its place from the outermost."""
        if isinstance(at, int):
            self._at = min(max(at, 0), len(self._stack) - 1)

    def state(self) -> dict[str, Any]:
        """As the protocol's `stop` has it."""
        frame, line = self._stack[self._at]
        lines = self._faults.lines_of(frame.f_code.co_filename)
        first = max(line - AROUND, 1)
        return {
            "frames": self._faults.frames_at(
                [(known.f_code.co_filename, number, known.f_code.co_name, 0) for known, number in self._stack]
            ),
            "at": self._at,
            "lines": [[first + n, text[:400]] for n, text in enumerate(lines[first - 1 : line + AROUND])],
            "variables": _texts_of(self._variables(frame)),
        }

    def answer(self, text: str) -> tuple[str, bool]:
        """What an expression is, or what a statement prints; what it fails with, and True."""
        frame, _ = self._stack[self._at]
        names, known = frame.f_globals, self._variables(frame)
        printed = io.StringIO()
        said, failed = "", False
        try:
            with redirect_stdout(printed):
                code = _compiled(text, "eval")
                if code is not None:
                    said = _laid_out(eval(code, names, known))
                else:
                    exec(compile(text, TYPED, "exec"), names, known)
        except BaseException as error:
            said, failed = in_short(error) or "", True
        if not _PERSISTS:
            with suppress(AttributeError):
                ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
        return (printed.getvalue() + said)[:ANSWER], failed

    def members(self, path: Any) -> list[list[Any]]:
        """[name, text, has it members of its own] of what a value holds: of the variable that is the first
        number of the path, of the member of it that is the second, and so on; of the frame without any."""
        known = _named(self._variables(self._stack[self._at][0]))
        try:
            for number in path:
                known = _members_of(known[number][1])
        except BaseException:  # it has changed meanwhile, or a hostile class says no
            return []
        return [
            [str(name)[:80], _read(_SHORT.repr, value)[:VARIABLE], _has_members(value)]
            for name, value in known
        ]

    def _variables(self, frame: FrameType) -> Any:
        return self._known.setdefault(id(frame), frame.f_locals)


def _compiled(text: str, mode: str) -> Optional[CodeType]:  # noqa: UP045  (3.9)
    """None where it is no expression."""
    try:
        return compile(text, TYPED, mode)
    except SyntaxError:
        return None


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = VARIABLE
_SHORT.maxdict = _SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxset = 12
_SHORT.maxlevel = 4


def _texts_of(variables: Any) -> list[list[str]]:
    """[name, text] of each."""
    return [[str(name)[:80], _read(_SHORT.repr, value)[:VARIABLE]] for name, value in _named(variables)]


def _named(variables: Any) -> Members:
    """Those that are no matter of the interpreter's."""
    return [one for one in list(variables.items()) if not str(one[0]).startswith("__")][:VARIABLES]


def _members_of(value: Any) -> Members:
    """What it holds, as its own class has it. Raises what a hostile class raises."""
    if isinstance(value, dict):
        return [(_read(_SHORT.repr, name), held) for name, held in islice(dict.items(value), MEMBERS)]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [(str(number), held) for number, held in enumerate(islice(value, MEMBERS))]
    if isinstance(value, _PLAIN):
        return []
    names: dict[str, None] = {}
    for known in type(value).__mro__:
        slots = vars(known).get("__slots__", ())
        names |= dict.fromkeys((slots,) if isinstance(slots, str) else slots)
    held = getattr(value, "__dict__", None)
    names |= dict.fromkeys(held if isinstance(held, dict) else ())
    shown = [str(name) for name in names if not str(name).startswith("__")]
    return [(name, getattr(value, name, None)) for name in shown[:MEMBERS]]


def _has_members(value: Any) -> bool:
    try:
        return bool(_members_of(value))
    except BaseException:
        return False


def _laid_out(value: Any) -> str:
    return _read(lambda one: pprint.pformat(one, width=WIDTH, sort_dicts=False), value)


def _read(read: Callable[[Any], str], value: Any) -> str:
    try:
        return str.__str__(read(value))
    except BaseException as error:  # a hostile class may raise anything
        return f"<{type(value).__name__}, whose text cannot be read: {type(error).__name__}>"


def in_short(error: BaseException | None) -> Optional[str]:  # noqa: UP045  (3.9)
    """`KeyError: 'user'`; None where there is none. Never raises."""
    if error is None:
        return None
    text = _read(str, error)
    return f"{type(error).__name__}: {text}"[:ANSWER] if text else type(error).__name__
