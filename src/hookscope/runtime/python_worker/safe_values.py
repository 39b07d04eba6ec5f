"""Any exception and any value as plain JSON. Used by the worker and by the host.

A handler may raise anything and leave anything in an event: sets, open files, cycles, a hundred megabytes.
The results here can be packed into a frame, compared, stored and shown. Depth, items and bytes are limited.
"""

from __future__ import annotations

import os
import stat
import sys
import tokenize
from collections import deque
from collections.abc import Iterable, Iterator
from datetime import date
from itertools import islice
from json.encoder import encode_basestring_ascii
from math import isfinite
from types import AsyncGeneratorType, CodeType, FrameType, GeneratorType
from typing import Any

CodePosition = tuple[str, int, str, int]  # file, line, function, column

# Of an exception:
MAX_FRAMES = 40  # innermost ones: endless recursion has a thousand
ERROR_TEXT = 16 * 1024  # characters of a message
ERROR_LINE = 400  # characters of a source line or a name
ERROR_FILE = 4096  # characters of a path
MAX_WRAPPED = 64  # functions inside a handler that are searched
SOURCE_SIZE = 1024 * 1024  # bytes of a file whose lines are shown

# Of a value:
MAX_DEPTH = 64  # far below the interpreter's own limit, far above what people write
MAX_ITEMS = 200_000
VALUE_SIZE = 4 * 1024 * 1024  # bytes of JSON: an event and an answer together stay below the protocol's limit
# Each member of an event has its own limit, so that none takes the others' space. Together below 6 MiB.
CONTEXT_SIZE = 3 * 1024 * 1024
MESSAGES_SIZE = 2 * 1024 * 1024
MESSAGE_SIZE = 256 * 1024
MEMBER_SIZE = 64 * 1024  # type, action, session key and timestamp
MAX_MESSAGES = 20_000
LAST_MESSAGES = 1_000  # kept if there are more, with their share of MESSAGES_SIZE
LAST_MESSAGES_SIZE = 512 * 1024
MAX_NOTES = 12  # more are only counted
MAX_BITS = 4096  # of an int: CPython refuses to print much larger ones
VOWELS = tuple("aeiouAEIOU")

_LIBRARY = os.path.dirname(os.__file__)
_RUNTIME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_SELECTORS = os.path.join(_LIBRARY, "selectors.py")
_ASYNCIO = os.path.join(_LIBRARY, "asyncio", "")
# Code between us and the handler, which does not interest its author.
_MODEL = os.path.join(os.path.dirname(_RUNTIME), "model")
_FOR_AUTHORS = tuple(
    os.path.join(_MODEL, name) for name in ("authoring_api.py", "hook_event.py", "handler_arguments.py")
)
_OURS = (os.path.join(_RUNTIME, ""), *_FOR_AUTHORS, "<frozen importlib")
# For exceptions without a text.
_MESSAGES = {"MemoryError": "ran out of memory", "RecursionError": "recursed too deeply"}

# The real ones: a class, or a handler, may put anything in their place.
_name_of = type.__dict__["__name__"].__get__
_cause_of = BaseException.__dict__["__cause__"].__get__
_traceback_of = BaseException.__dict__["__traceback__"].__get__
_stat, _open_source = os.stat, tokenize.open


def _type_name(value: object, size: int = 80) -> str:
    """Return the true name of the type, whatever its metaclass returns."""
    return str(_name_of(type(value)))[:size]


# Exceptions


def safe_text(value: object) -> str:
    """Return `str(value)`, else `repr(value)`, else its type. Never raises; cut to ERROR_TEXT characters."""
    for read in (str, repr):
        try:
            text = str.__str__(read(value))
        except BaseException:  # a hostile __str__ may raise anything, SystemExit too
            continue
        if len(text) <= ERROR_TEXT:
            return text
        return f"{text[:ERROR_TEXT]}… ({len(text) - ERROR_TEXT:,} characters omitted)"
    return f"<{_type_name(value, ERROR_LINE)} whose text cannot be read>"


def describe_exception(error: BaseException, target: object = None) -> dict[str, Any]:
    """Return {"type", "message", "frames"}: outermost frame first, without our own frames. Never raises.

    Args:
        error: the exception.
        target: the called handler. Its first line is the frame of an error that has no frames of its own.
    """
    try:
        message, frames = _message(error), _frames(error) or _first_line(target)
        if issubclass(type(error), SyntaxError):
            message, frames = _syntax_error(error, message, frames)
    except BaseException:  # a hostile class, or no memory left
        message, frames = _text_or_type(error), []
    return {"type": _type_name(error, ERROR_LINE), "message": message, "frames": frames[-MAX_FRAMES:]}


class NeverRan(TypeError):
    """The handler is a generator function, and the host does not iterate over the returned generator."""


def generator_error(returned: object, target: object) -> NeverRan | None:
    """Return an error if `target` is a generator function and none of its body ran; else None."""
    if type(returned) is GeneratorType:
        code, frame, kind = returned.gi_code, returned.gi_frame, "a generator"
    elif type(returned) is AsyncGeneratorType:
        code, frame, kind = returned.ag_code, returned.ag_frame, "an async generator"
    else:
        return None
    has_begun = frame is None or getattr(returned, "gi_suspended", False)  # a value was requested
    if has_begun or code not in _codes_of(target):
        return None
    return NeverRan(
        f"`{code.co_name}` contains `yield`: the call only made {kind}, and none of its body ran. "
        "Remove `yield`"
    )


def _codes_of(target: object) -> set[CodeType]:
    """Return the code of a handler and of the functions that it wraps."""
    found: set[CodeType] = set()
    waiting = [target]
    for _ in range(MAX_WRAPPED):
        if not waiting:
            break
        function = waiting.pop()
        code = getattr(function, "__code__", None)
        if type(code) is CodeType:
            found.add(code)
        names = ("adapts", "__wrapped__", "__func__", "func")
        waiting += [inner for name in names if (inner := getattr(function, name, None)) is not None]
        if code is None and not isinstance(function, type):
            waiting += [inner for inner in [vars(type(function)).get("__call__")] if inner is not None]
        for cell in getattr(function, "__closure__", None) or ():
            try:
                waiting.append(cell.cell_contents)
            except ValueError:  # not set yet
                continue
    return found


def not_found_notes(error: BaseException | None) -> tuple[str, ...]:
    """Return where a missing module or file was searched, and what helps. Never raises."""
    try:
        if type(error) is FileNotFoundError:
            return _file_notes(error)
        name = error.name if type(error) is ModuleNotFoundError else None
    except BaseException:
        name = None
    if type(name) is not str:
        return ()
    where = (
        f"{name[:ERROR_LINE]} is neither beside the handler nor installed for {sys.executable}, which ran it"
    )
    return (f"{where}: install it there, or name another Python with `python:` in .hookscope/config.yaml",)


def _file_notes(error: FileNotFoundError) -> tuple[str, ...]:
    """Handle a relative path that would be valid in the folder of the code that uses it."""
    name, step = error.filename, _traceback_of(error)
    if type(name) is not str or os.path.isabs(name):
        return ()
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        if os.path.exists(os.path.join(os.path.dirname(file), name)):
            shown = name[:ERROR_LINE]
            where = f"{shown} is beside {os.path.basename(file)}, but was searched in {os.getcwd()}"
            return (f"{where}; use `Path(__file__).parent / {shown!r}`",)
        step = step.tb_next
    return ()


def _text_or_type(error: BaseException) -> str:
    """Return the text, or words for the type if there is none. Never empty."""
    text = safe_text(error)
    if text.strip():
        return text
    name = _type_name(error, ERROR_LINE)
    return _MESSAGES.get(name, name)


def _message(error: BaseException) -> str:
    cause = _cause_of(error)
    if cause is None:
        return _text_or_type(error)
    text = safe_text(cause)
    kind = _type_name(cause, ERROR_LINE)
    return f"{_text_or_type(error)} (caused by {kind}{': ' if text.strip() else ''}{text})"


def _syntax_error(error: Any, message: str, frames: list[dict[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
    """Return the text and frames with the error's position, which is in the file that could not be parsed."""
    if not error.filename:
        return message, frames
    line = error.lineno if type(error.lineno) is int else 1
    source = error.text if type(error.text) is str else None
    text = safe_text(error.msg) if error.msg else message
    column = error.offset if type(error.offset) is int and error.offset > 0 else 0
    return text, [*frames, _frame(safe_text(error.filename), line, "", source, column)]


def _frames(error: BaseException) -> list[dict[str, Any]]:
    """Return the error's frames. Asyncio's frames are skipped only before the handler's first frame."""
    last: deque[CodePosition] = deque(maxlen=MAX_FRAMES)
    step = _traceback_of(error)
    while step is not None:
        code = step.tb_frame.f_code
        if not _is_ours(code.co_filename, is_first=not last):
            column = _column(code, step.tb_lasti)
            last.append((code.co_filename, step.tb_lineno or code.co_firstlineno, code.co_name, column))
        step = step.tb_next
    return frames_at(last)


def _is_ours(file: str, is_first: bool) -> bool:
    return file.startswith(_OURS) or (is_first and file.startswith(_ASYNCIO))


def frames_at(positions: Iterable[CodePosition]) -> list[dict[str, Any]]:
    """Return the positions as frames of the protocol."""
    positions = list(positions)
    lines = {file: source_lines(file) for file, *_ in positions}  # not cached: they may be edited
    return [
        _frame(file, line, name, _line_of(lines[file], line), column)
        for file, line, name, column in positions
    ]


def running_frames(frame: FrameType | None) -> list[dict[str, Any]]:
    """Return the stack of running code: outermost first, without our own frames. Never raises."""
    positions: list[CodePosition] = []
    try:
        while frame is not None:
            code = frame.f_code
            positions.append((code.co_filename, frame.f_lineno or code.co_firstlineno, code.co_name, 0))
            frame = frame.f_back
        positions.reverse()
        # Skip everything up to the call of the handler: it is Hookscope's code.
        begin = max((n for n, known in enumerate(positions) if _is_ours(known[0], is_first=True)), default=-1)
        return frames_at(positions[begin + 1 :][-MAX_FRAMES:])
    except BaseException:  # the code continues to run meanwhile
        return []


def is_in_event_loop(frame: FrameType) -> bool:
    """Return True if this code waits in the event loop, with nothing to do."""
    return frame.f_code.co_filename == _SELECTORS


def _column(code: CodeType, instruction: int) -> int:
    """Return the column, from 1; 0 if this Python does not know columns."""
    positions = getattr(code, "co_positions", None)  # 3.11
    if positions is None:
        return 0
    column = next(islice(positions(), instruction // 2, None), (None, None, None, None))[2]
    return 0 if column is None else int(column) + 1


def _first_line(target: object) -> list[dict[str, Any]]:
    """Return the first line of a function as a frame: for a call with arguments that it does not accept."""
    target = getattr(target, "adapts", target)  # our own wrapper, see model/handler_arguments.py
    called = vars(type(target)).get("__call__")  # of a callable object
    for found in (target, getattr(target, "__func__", None), called):
        code = getattr(found, "__code__", None)
        if type(code) is CodeType:
            return [_frame(code.co_filename, code.co_firstlineno, code.co_name, None)]
    return []


def _frame(file: str, line: int, function: str, source: str | None, column: int = 0) -> dict[str, Any]:
    text = _line_of(source_lines(file), line) if source is None else source
    return {
        "file": file[:ERROR_FILE],
        "line": line,
        "function": function[:ERROR_LINE],
        "source": text.strip()[:ERROR_LINE],
        "column": column,
    }


def source_lines(file: str) -> list[str]:
    """Return a file's lines; an empty list unless it is a regular file of limited size. Never raises."""
    try:
        status = _stat(file)
        # Code may name /dev/zero. A file of size 0 may be one of /proc, where reading may block forever.
        if not stat.S_ISREG(status.st_mode) or not 0 < status.st_size <= SOURCE_SIZE:
            return []
        with _open_source(file) as stream:
            return stream.read(SOURCE_SIZE).split("\n")
    except BaseException:  # gone, not text, or with an invalid encoding
        return []


def _line_of(lines: list[str], line: int) -> str:
    return lines[line - 1] if 0 < line <= len(lines) else ""


# Values


def to_plain(value: Any, name: str = "", size: int = VALUE_SIZE) -> tuple[Any, list[str]]:
    """Return a copy of JSON's types only, and a note for each change that was needed. Never raises.

    Args:
        value: may contain objects of the handler's own classes.
        name: the value's name in the notes.
        size: bytes of JSON that the copy may take.
    """
    cleaner = _Cleaner(size)
    copy = cleaner.clean(value, name, 0)
    return copy, cleaner.notes()


def event_to_plain(document: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Do the same as `to_plain` for an event's document. All its keys are kept."""
    copy: dict[str, Any] = {}
    notes: list[str] = []
    for name, value in document.items():
        if name == "messages" and issubclass(type(value), (list, tuple)):
            cleaner = _Cleaner(MESSAGES_SIZE)
            copy[name], more = cleaner.messages(value), cleaner.notes()
        else:
            copy[name], more = to_plain(value, name, CONTEXT_SIZE if name == "context" else MEMBER_SIZE)
        notes += more
    return copy, notes


class _Cleaner:
    """Makes one copy, and keeps track of the remaining space and of the notes."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._left = size
        self._items = MAX_ITEMS
        self._notes: list[str] = []
        self._more_notes = 0
        self._containers: set[int] = set()  # IDs of those around the current value, to detect cycles

    def notes(self) -> list[str]:
        more = [f"and {self._more_notes:,} more such changes"] if self._more_notes else []
        return self._notes + more

    def messages(self, value: Any) -> list[Any]:
        """Return the first and the last messages that fit, so that those pushed by later handlers are kept.

        A long message is truncated, to leave space for the others.
        """
        kind: Any = list if issubclass(type(value), list) else tuple
        self._containers.add(id(value))
        count = kind.__len__(value)
        item = kind.__getitem__
        most = count if count <= MAX_MESSAGES else MAX_MESSAGES - LAST_MESSAGES
        self._left -= LAST_MESSAGES_SIZE
        kept = [self._message(item(value, index), index) for index in self._while_room(range(most), 1)]
        self._left = max(self._left, 0) + LAST_MESSAGES_SIZE
        rest = range(count - 1, max(len(kept), count - LAST_MESSAGES) - 1, -1)
        last = [self._message(item(value, index), index) for index in self._while_room(rest, MESSAGE_SIZE)]
        if len(kept) + len(last) < count:
            also = f" and the last {len(last):,}" if last else ""
            self._note("messages", f"is cut short: of {count:,} the first {len(kept):,}{also} are kept")
        return kept + last[::-1]

    def _while_room(self, indices: Iterable[int], minimum: int) -> Iterator[int]:
        """Yield indices while `minimum` bytes are left: a message truncated later would look new."""
        for index in indices:
            if self._left < minimum:
                return
            yield index

    def _message(self, item: Any, index: int) -> Any:
        room = self._left
        self._left = min(room, MESSAGE_SIZE)
        rest = room - self._left
        cleaned = self.clean(item, f"messages[{index}]", 1)
        self._left += rest
        return cleaned

    def clean(self, value: Any, path: str, depth: int) -> Any:
        try:
            return self._clean(value, path, depth)
        except BaseException as error:  # a hostile class may raise anything at any access
            return self._placeholder(
                f"unreadable {_type_name(value)}", path, f"could not be read ({_type_name(error)})"
            )

    def _clean(self, value: Any, path: str, depth: int) -> Any:
        self._items -= 1
        if value is None or value is True or value is False:
            self._left -= 5
            return value
        if isinstance(value, str):
            return self._text(str.__str__(value), path)
        if isinstance(value, int):
            return self._number(int.__int__(value), path)
        if isinstance(value, float):
            return self._fraction(float.__float__(value), path)
        if isinstance(value, (dict, list, tuple, set, frozenset)):
            return self._container(value, path, depth)
        if isinstance(value, (date, os.PathLike)):
            text = value.isoformat() if isinstance(value, date) else os.fspath(value)
            self._note(path, f"is {type_with_article(value)}, shown as text")
            return self._text(str(text), path)
        if isinstance(value, (bytes, bytearray, memoryview)):
            return self._placeholder(
                f"{_type_name(value)}, {len(value):,} bytes", path, f"is {_type_name(value)}, not text"
            )
        return self._placeholder(
            _type_name(value), path, f"is {type_with_article(value)}, which JSON cannot hold"
        )

    def _text(self, text: str, path: str) -> str:
        room = max(self._left, 0)
        if len(text) > room:
            self._note(path, f"was cut: {len(text) - room:,} characters omitted")
            text = text[:room]
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            self._note(path, "holds half a character (a lone surrogate), shown as ?")
            text = text.encode("utf-8", "replace").decode("utf-8")
        cost = len(encode_basestring_ascii(text)) + 1
        if cost > self._left + 3:  # escapes take up to twelve bytes for one character
            self._note(path, "was cut: it is too long")
            text = text[: self._left // 12]
            cost = len(encode_basestring_ascii(text)) + 1
        self._left -= cost
        return text

    def _number(self, number: int, path: str) -> Any:
        if number.bit_length() > MAX_BITS:
            return self._placeholder(f"int of {number.bit_length():,} bits", path, "is too large a number")
        self._left -= number.bit_length() // 3 + 3
        return number

    def _fraction(self, number: float, path: str) -> Any:
        if not isfinite(number):
            return self._placeholder(f"float {number!r}", path, f"is {number!r}, which JSON cannot hold")
        self._left -= 25
        return number

    def _container(self, value: Any, path: str, depth: int) -> Any:
        if id(value) in self._containers:
            return self._placeholder(f"cycle: {_type_name(value)}", path, "holds itself")
        if depth >= MAX_DEPTH:
            return self._placeholder(
                f"{_type_name(value)}, too deep", path, f"is nested more than {MAX_DEPTH} deep"
            )
        self._containers.add(id(value))
        try:
            self._left -= 2
            if isinstance(value, dict):
                return self._members(value, path, depth)
            if isinstance(value, list):
                return self._elements(list(list.__iter__(value)), path, depth)
            if isinstance(value, tuple):
                return self._elements(list(tuple.__iter__(value)), path, depth)
            self._note(path, f"is {type_with_article(value)}, shown as a list")
            return sorted(self._elements(list(value), path, depth), key=repr)  # sets have no order
        finally:
            self._containers.discard(id(value))

    def _members(self, value: Any, path: str, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for key, item in list(dict.items(value)):
            if self._is_full(path):
                break
            name = self._key(key, path)
            members[name] = self.clean(item, f"{path}.{name}" if path else name, depth + 1)
        return members

    def _elements(self, value: list[Any], path: str, depth: int) -> list[Any]:
        elements: list[Any] = []
        for item in value:
            if self._is_full(path):
                break
            elements.append(self.clean(item, f"{path}[{len(elements)}]", depth + 1))
        return elements

    def _key(self, key: Any, path: str) -> str:
        if isinstance(key, str):
            return self._text(str.__str__(key), f"a name in {path}" if path else "a name")
        self._note(path, f"has {type_with_article(key)} as a key")
        if key is None or isinstance(key, (bool, int, float)):
            return self._text(repr(key), path)
        return self._text(f"<{_type_name(key)}>", path)

    def _is_full(self, path: str) -> bool:
        if self._left > 0 and self._items > 0:
            return False
        self._note(path, f"is cut short: more than {self._size:,} bytes or {MAX_ITEMS:,} items")
        return True

    def _placeholder(self, kind: str, path: str, what: str) -> str:
        self._note(path, what)
        self._left -= len(kind) + 4
        return f"<{kind}>"

    def _note(self, path: str, what: str) -> None:
        if len(self._notes) < MAX_NOTES:
            self._notes.append(f"{path[:200] or 'it'} {what}")
        else:
            self._more_notes += 1


def type_with_article(value: Any) -> str:
    """Return the type with its article: an object, a set."""
    kind = _type_name(value)
    return f"{'an' if kind.startswith(VOWELS) else 'a'} {kind}"
