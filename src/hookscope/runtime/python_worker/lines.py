"""The lines of files at which handlers stop: those that were asked for, and where code stands for them."""

from __future__ import annotations

import dis
import os
from types import CodeType
from typing import Any, Dict, Iterator, List, Tuple  # noqa: UP035  (3.9)

Bound = List[Tuple[int, int]]  # noqa: UP006  the line that was asked for, and the one it stops at; 0: none
Points = List[Any]  # noqa: UP006  see points.py

LARGEST = 1024 * 1024  # bytes of a file that is looked at


class Lines:
    """Of all files. Told by the listening thread, read by the handlers': each change is one new value."""

    def __init__(self, point: Any) -> None:
        """`point` makes one of what is asked for."""
        self._point = point
        self._points: Dict[str, Dict[int, Points]] = {}  # noqa: UP006  file → where it stops → for which
        self._names: Dict[str, str] = {}  # noqa: UP006  as code has it → the real path

    def __bool__(self) -> bool:
        return bool(self._points)

    def put(self, file: str, wanted: Any) -> dict[str, Any]:
        """Stop at these lines of a file and at no others of it. What the host is told of them."""
        code = sorted(_lines_of(file)) if wanted else []
        name = self._name(file)
        before = [point for points in self._points.get(name, {}).values() for point in points]
        points = [self._kept(asked, before) for asked in wanted]
        found: Dict[int, Points] = {}  # noqa: UP006
        bound: Bound = []
        for point in points:
            at = 0 if point.wrong else _nearest(point.line, code)
            bound.append((point.line, at))
            if at:
                found.setdefault(at, []).append(point)
        others = {known: kept for known, kept in self._points.items() if known != name}
        self._points = {**others, name: found} if found else others
        wrong = [(point.line, point.wrong) for point in points if point.wrong]
        return {"file": file, "lines": bound, "wrong": wrong}

    def _kept(self, asked: Any, before: Points) -> Any:
        """One that was there already goes on counting."""
        made = self._point(asked)
        return next((point for point in before if point.asked == made.asked), made)

    def toggle(self, file: str, line: int, condition: str = "") -> str:
        """Stop at this line too, or no longer; with a condition: where that holds. Says what it does."""
        where = os.path.basename(file)
        before = self.at(file)
        rest = [one.asked for at, points in before.items() for one in points if line not in (at, one.line)]
        if len(rest) < sum(map(len, before.values())) and not condition:
            self.put(file, rest)
            return f"no longer stops at {where}:{line}"
        asked = self._point({"line": line, "condition": condition} if condition else line)
        if asked.wrong:
            return f"cannot stop at {where}:{line}: {asked.wrong}"
        at = dict(self.put(file, [*rest, asked.asked])["lines"])[line]
        if not at:
            return f"cannot stop at {where}:{line}: there is no such line"
        return f"stops at {where}:{at} {f'where {condition}' if condition else 'too'}"

    def at(self, file: str) -> Dict[int, Points]:  # noqa: UP006
        """Where it stops in that file, and for which."""
        return self._points.get(self._name(file), {})

    def _name(self, file: str) -> str:
        if file not in self._names:
            self._names[file] = os.path.realpath(file)
        return self._names[file]


def _nearest(line: int, code: List[int]) -> int:  # noqa: UP006
    """The first one from there on; 0 where none is."""
    return next((known for known in code if known >= line), 0)


def _lines_of(file: str) -> set[int]:
    """Those at which code begins to run. Empty for a file that is no Python, or cannot be read."""
    try:
        if not file.endswith(".py") or os.path.getsize(file) > LARGEST:
            return set()
        with open(file, "rb") as stream:
            whole = compile(stream.read(), file, "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    headers = set()
    lines = set()
    for code in _codes(whole):
        own = {line for _, line in dis.findlinestarts(code) if line}
        if code is not whole and len(own) > 1:  # its header runs where it is defined, and not in a call
            headers.add(code.co_firstlineno)
            own.discard(code.co_firstlineno)
        lines |= own
    return lines - headers


def _codes(code: CodeType) -> Iterator[CodeType]:
    waiting = [code]
    while waiting:
        known = waiting.pop()
        yield known
        waiting += [one for one in known.co_consts if isinstance(one, CodeType)]
