"""A handler that stands: where, why, and what there is to see of it. Read from what its worker tells."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.runtime.python_worker.protocol import Message

Why: TypeAlias = Literal["begin", "breakpoint", "line", "step", "pause", "error"]
WHYS: tuple[str, ...] = get_args(Why)


@dataclass(frozen=True, slots=True)
class StackFrame:
    """A call that has not ended: where it stands, in its author's file."""

    file: str
    line: int  # from 1
    function: str


@dataclass(frozen=True, slots=True)
class Member:
    """A variable, or what a value holds, under its name or number."""

    name: str
    text: str  # short
    holds: bool  # are there members in it


@dataclass(frozen=True, slots=True)
class Stop:
    """A handler that stands, and what there is to see of it.

    Texts are as the handler's process tells them: foreign text, which may hold anything.
    """

    why: Why  # its first line, a breakpoint() or `debugger`, a line that was named, a step, an error, a wish
    who: str  # the hook; empty: its module is being loaded
    frames: tuple[StackFrame, ...]  # of its author's code, outermost first; never empty
    at: int  # the chosen one of them
    lines: tuple[tuple[int, str], ...]  # of its file, with their numbers; empty where it cannot be read
    variables: tuple[tuple[str, str], ...]  # of the chosen frame: names and short texts
    named: tuple[int, ...] = ()  # lines of its file at which it stops, since somebody has named them
    error: str | None = None  # that has left the handler, or was thrown: "KeyError: 'user'"
    said: str | None = None  # the answer to the last word, where that has one
    members: tuple[Member, ...] | None = None  # that the last word asked for
    failed: bool = False  # `said` is an error
    printed: tuple[str, str] = ("", "")  # so far, to standard output and error
    number: int = 0  # of the stops of its run; as long as it stands there it is the same
    note: str | None = None  # what there is to say of the condition of its line: that it raises

    @property
    def frame(self) -> StackFrame:
        """The chosen one."""
        return self.frames[self.at]


@dataclass(frozen=True, slots=True)
class Bound:
    """Where handlers stop in a file for the lines that were named: the line, or 0 where there is none."""

    file: str
    lines: tuple[tuple[int, int], ...]  # named, and where it stops
    wrong: tuple[tuple[int, str], ...] = ()  # named, and why it cannot be had as it is wanted


@dataclass(frozen=True, slots=True)
class Logged:
    """What a line was to say came by. Its text is foreign, which may hold anything."""

    who: str  # the hook; empty: its module is being loaded
    file: str
    line: int
    text: str


def stop_of(
    told: object, original: Callable[[str], str], number: int, printed: tuple[str, str]
) -> Stop | None:
    """None where a worker tells what is none: it cannot be answered."""
    if not isinstance(told, dict):
        return None
    try:
        return _read(told, original, number, printed)
    except (IndexError, KeyError, TypeError, ValueError):
        return None


def bound_of(told: object, original: Callable[[str], str]) -> Bound | None:
    """None where a worker tells something else."""
    try:
        assert isinstance(told, dict)
        lines = tuple((int(named), int(at)) for named, at in told["lines"])
        wrong = tuple((int(named), original(str(why))) for named, why in told.get("wrong", ()))
        return Bound(original(str(told["file"])), lines, wrong)
    except (AssertionError, KeyError, TypeError, ValueError):
        return None


def logged_of(told: object, original: Callable[[str], str]) -> Logged | None:
    """None where a worker tells something else."""
    try:
        assert isinstance(told, dict)
        file, text = original(str(told["file"])), original(str(told["text"]))
        return Logged(str(told["who"]), file, int(told["line"]), text)
    except (AssertionError, KeyError, TypeError, ValueError):
        return None


def _read(told: Message, original: Callable[[str], str], number: int, printed: tuple[str, str]) -> Stop:
    def text(value: object) -> str:
        return original(str(value))

    frames = tuple(
        StackFrame(text(one["file"]), int(one["line"]), str(one["function"])) for one in told["frames"]
    )
    at = int(told["at"])
    error, said, members, note = (told.get(name) for name in ("error", "said", "members", "note"))
    if told["why"] not in WHYS or not 0 <= at < len(frames):
        raise ValueError("no stop")
    return Stop(
        told["why"],
        str(told["who"]),
        frames,
        at,
        tuple((int(number), str(line)) for number, line in told["lines"]),
        tuple((str(name), text(value)) for name, value in told["variables"]),
        tuple(int(number) for number in told["named"]),
        None if error is None else text(error),
        None if said is None else text(said),
        None
        if members is None
        else tuple(Member(str(name), text(value), bool(holds)) for name, value, holds in members),
        bool(told.get("failed")),
        printed,
        number,
        None if note is None else text(note),
    )
