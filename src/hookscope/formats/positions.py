"""Key paths, spans and offsets in a text, and the one error that every reader raises."""

from __future__ import annotations

from typing import TypeAlias

from hookscope.values import dataclass

KeyPath: TypeAlias = tuple[str | int, ...]
"""The way to a value: the key in a mapping, the index from 0 in a list. `()` is the whole document."""


def path_steps(text: str) -> tuple[str, ...]:
    """Split a dotted path into its names: `a.b..c` has three steps."""
    return tuple(step for step in text.split(".") if step)


def dotted_path(path: KeyPath) -> str:
    """Return a path with dots: `hooks.extraDirs.0`."""
    return ".".join(map(str, path))


BYTE_ORDER_MARK = "\ufeff"

MAX_DEPTH = 64
"""The deepest nesting that a reader accepts: far more than real files need, and safe for the stack."""


@dataclass(frozen=True, slots=True)
class Span:
    """The position of a value: line and column from 1 for people, offsets from 0 for edits.

    Offsets count characters of the whole file as `text_of` returns it, so
    `text_of(source)[start:end]` is the value's text. Columns count characters too; a byte order
    mark has no column.
    """

    line: int
    column: int
    start: int
    end: int


class FormatError(ValueError):
    """A file that cannot be read, and the position of the error. Readers raise nothing else."""

    def __init__(self, problem: str, span: Span) -> None:
        super().__init__(problem, span)  # both in `args`, for copies and pickles
        self.problem = problem
        self.span = span

    def __str__(self) -> str:
        return f"line {self.span.line}, column {self.span.column}: {self.problem}"


def text_of(source: bytes) -> str:
    """Return the text that all offsets refer to: UTF-8, including a byte order mark.

    Nothing is dropped and no line ending changed, so `text_of(source).encode() == source`, and the
    bytes before an offset are `text_of(source)[:offset].encode()`.

    Raises:
        FormatError: the bytes are not UTF-8.
    """
    try:
        return source.decode()
    except UnicodeDecodeError as error:
        before = source[: error.start].decode()
        where = span_at(before, len(before), len(before))
        raise FormatError(f"byte 0x{source[error.start]:02X} is not UTF-8 text", where) from None


def span_at(text: str, start: int, end: int) -> Span:
    """Return the span of `text[start:end]`. Lines end with a line feed, as in editors."""
    line_start = text.rfind("\n", 0, start) + 1
    marks = text.startswith(BYTE_ORDER_MARK) and line_start == 0 and start > 0
    return Span(text.count("\n", 0, start) + 1, start - line_start + 1 - marks, start, end)
