"""The lines of files at which handlers stop: those that were asked for, and where code stands for them."""

from __future__ import annotations

import dis
import os
from types import CodeType
from typing import Any, Dict, Iterator, List, Set, Tuple  # noqa: UP035  (3.9)

Bound = List[Tuple[int, int]]  # noqa: UP006  the line that was asked for, and the one it stops at; 0: none

LARGEST = 1024 * 1024  # bytes of a file that is looked at


class Lines:
    """Of all files. Told by the listening thread, read by the handlers': each change is one new value."""

    def __init__(self) -> None:
        self._asked: Dict[str, Dict[int, int]] = {}  # noqa: UP006  file → asked → where it stops
        self._names: Dict[str, str] = {}  # noqa: UP006  as code has it → the real path

    def __bool__(self) -> bool:
        return bool(self._asked)

    def put(self, file: str, lines: Any) -> Bound:
        """Stop at these lines of a file and at no others of it."""
        code = sorted(_lines_of(file)) if lines else []
        bound = [(line, _nearest(line, code)) for line in lines]
        found = {line: at for line, at in bound if at}
        name = self._name(file)
        others = {known: kept for known, kept in self._asked.items() if known != name}
        self._asked = {**others, name: found} if found else others
        return bound

    def toggle(self, file: str, line: int) -> str:
        """Stop at this line too, or no longer; a sentence of what it does."""
        before = self._asked.get(self._name(file), {})
        gone = [asked for asked, at in before.items() if line in (asked, at)]
        if gone:
            self.put(file, [asked for asked in before if asked not in gone])
            return f"no longer stops at {os.path.basename(file)}:{line}"
        at = dict(self.put(file, [*before, line]))[line]
        where = f"{os.path.basename(file)}:{at or line}"
        return f"stops at {where} too" if at else f"cannot stop at {where}: there is no such line"

    def of(self, file: str) -> Set[int]:  # noqa: UP006
        """Where it stops in that file."""
        return set(self._asked.get(self._name(file), {}).values())

    def _name(self, file: str) -> str:
        if file not in self._names:
            self._names[file] = os.path.realpath(file)
        return self._names[file]


def _nearest(line: int, code: List[int]) -> int:  # noqa: UP006
    """The first one from there on; 0 where none is."""
    return next((known for known in code if known >= line), 0)


def _lines_of(file: str) -> Set[int]:  # noqa: UP006
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
