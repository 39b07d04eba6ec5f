"""One event fired several times: what each handler, and each file, did again. Pure.

A handler that does the same twice is told apart from one that sees that its work is done, and from one that
does more every time: what it pushes to the user, or keeps in a file, grows for as long as its host runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import compress, pairwise

from hookscope.core.copies import FileChange, Guarded
from hookscope.core.differences import Call, calls_of
from hookscope.core.runs import Result, Run
from hookscope.values import dataclass


class Again(StrEnum):
    """What came of doing it once more."""

    NOTHING = "did nothing new"
    SAME = "does the same again"
    GROWS = "grows"  # in every run more, or longer, than in the run before
    OTHER = "does something else"
    ONCE = "ran once"  # the rest was not fired: there is nothing to compare


@dataclass(frozen=True, slots=True)
class HookAgain:
    """One handler in all runs. Tuples have an entry for each run."""

    hook: str
    key: str
    again: Again
    statuses: tuple[str, ...]  # empty text: it did not run
    took: tuple[float, ...]  # seconds
    messages: tuple[int, ...]  # pushed
    characters: tuple[int, ...]  # of what it pushed
    changes: tuple[int, ...]  # of the event, messages aside
    same_messages: tuple[str, ...] = ()  # texts that came in every run
    same_changes: tuple[str, ...] = ()  # JSON pointers that it changed in every run


@dataclass(frozen=True, slots=True)
class FileAgain:
    """One file that differs from its original. `sizes`: in bytes, after each run; None: there was none."""

    path: str
    again: Again
    sizes: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Repetition:
    """All that can be told of runs of one event, in order of running."""

    times: int  # runs
    hooks: tuple[HookAgain, ...]
    files: tuple[FileAgain, ...] | None  # None: nobody looked
    guarded: Guarded | None = None  # of the last run, on copies


def repetition(runs: Sequence[Run]) -> Repetition:
    """What these runs of one event did again. Files are known where all ran on the same copies.

    A run that somebody cancelled has not come to its end, so that it tells nothing of what is done again.
    """
    whole = [not run.cancelled for run in runs]
    whole = whole if any(whole) else [True for _ in runs]
    sides = [run.guarded for run in runs]
    changes = [side.changes for side in sides if side]
    files = None if not runs or None in sides else tuple(_files(changes, whole))
    alone = len({call for run in runs for call in calls_of(run)}) == 1
    of_files = [file.again for file in files or ()] if alone else []  # else nobody knows whose they are
    guarded = runs[-1].guarded if runs else None
    return Repetition(len(runs), tuple(_hooks(runs, whole, of_files)), files, guarded)


def _hooks(runs: Sequence[Run], whole: Sequence[bool], files: Sequence[Again]) -> Iterator[HookAgain]:
    by_run = [calls_of(run) for run in runs]
    for call in dict.fromkeys(call for calls in by_run for call in calls):
        results = [calls.get(call) for calls in by_run]
        yield _hook(call, results, whole, files, answers=runs[0].event.kind == "plugin")


def _hook(
    call: Call,
    results: Sequence[Result | None],
    whole: Sequence[bool],
    files: Sequence[Again],
    *,
    answers: bool,
) -> HookAgain:
    pushed = [result.messages if result else () for result in results]
    changes = [_changes(result) for result in results]
    return HookAgain(
        hook=call[0],
        key=call[1],
        again=_worst([_again([*compress(results, whole)], answers=answers), *files]),
        statuses=tuple(result.status if result else "" for result in results),
        took=tuple(result.took if result else 0.0 for result in results),
        messages=tuple(map(len, pushed)),
        characters=tuple(sum(map(len, texts)) for texts in pushed),
        changes=tuple(map(len, changes)),
        same_messages=_in_all([*compress(pushed, whole)]),
        same_changes=_in_all([*compress(changes, whole)]),
    )


def _changes(result: Result | None) -> Mapping[str, str]:
    """JSON pointer → what it did there, as text; what it pushed is no change of its own."""
    patch = result.patch if result else ()
    operations = (one for one in patch if not str(one["path"]).startswith("/messages"))
    return {str(one["path"]): _text([one["op"], one.get("value")]) for one in operations}


def _again(results: Sequence[Result | None], *, answers: bool) -> Again:
    """By what it pushed, changed and answered; answers count where its host adds them up."""
    done = [_done(result, answers=answers) for result in results]
    first, *later = done
    if not later:
        return Again.ONCE
    if first[0] == "ok" and all(one == ("ok", *_NONE[1:]) for one in later):
        return Again.NOTHING
    if all(one == first for one in later):
        return Again.SAME
    if len({one[0] for one in done}) == 1 and any(map(_rises, zip(*(one[1:] for one in done), strict=True))):
        return Again.GROWS
    return Again.OTHER


Done = tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]
_NONE: Done = ("", (), (), ())


def _done(result: Result | None, *, answers: bool) -> Done:
    """How it ended, what it pushed, what it changed, what it answered."""
    if result is None:
        return _NONE
    error = result.error
    ended = result.status if error is None else f"{result.status}: {error.type}: {error.message}"
    answer = (_text(result.returned),) if answers and result.returned is not None else ()
    changes = tuple(f"{path} {what}" for path, what in _changes(result).items())
    return ended, result.messages, changes, answer


def _rises(series: Sequence[tuple[str, ...]]) -> bool:
    """Are there more texts in every run; or longer ones, and not just by a digit more in a second run."""
    if all(len(before) < len(after) for before, after in pairwise(series)):
        return True
    texts = ["\n".join(one) for one in series]
    longer = all(len(before) < len(after) for before, after in pairwise(texts))
    return longer and (len(texts) > 2 or texts[0] in texts[1])


def _in_all(series: Sequence[Sequence[str] | Mapping[str, str]]) -> tuple[str, ...]:
    """What is in every run, in the order of the first."""
    first, *later = series
    return tuple(dict.fromkeys(one for one in first if all(one in other for other in later)))


def _files(changes: Sequence[Sequence[FileChange]], whole: Sequence[bool]) -> Iterator[FileAgain]:
    """Changes are those since the originals were copied, after each run."""
    after = [{str(one.path): one for one in listed} for listed in changes]
    for path in sorted({path for listed in after for path in listed}):
        states = [listed.get(path) for listed in after]
        sizes = tuple(state.after if state else None for state in states)
        states = [*compress(states, whole)]
        known = [state.after or 0 if state else 0 for state in states]
        if all(_state(state) == _state(states[0]) for state in states):
            again = Again.NOTHING
        elif all(before < later for before, later in pairwise(known)):
            again = Again.GROWS
        else:
            again = Again.OTHER
        yield FileAgain(path, again, sizes)


def _state(change: FileChange | None) -> object:
    return change and (change.kind, change.after, change.diff, change.digest)


def _worst(verdicts: Sequence[Again]) -> Again:
    order = (Again.GROWS, Again.OTHER, Again.ONCE, Again.SAME, Again.NOTHING)
    return min(verdicts, key=order.index)


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
