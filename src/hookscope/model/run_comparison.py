"""Compares two runs of one event, and repeated runs. Pure functions."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import compress, pairwise
from typing import Any, Literal

from hookscope.model.failure import outcome_text
from hookscope.model.payload import json_equal
from hookscope.model.run import FileChange, Result, Run, SandboxResult
from hookscope.values import dataclass

REPLAY_MARK = "replayed"  # in a replayed event: the original run and its time
MOST_DIFFERENCES = 200  # differences per context

CallKey = tuple[str, str, int]  # hook, key, occurrence


@dataclass(frozen=True, slots=True)
class RunDifference:
    """One difference between two runs. A missing value is None."""

    kind: Literal["handler", "order", "message", "context", "result", "verdict", "file"]
    subject: str  # the handler, the path in the context, …
    before: Any = None
    after: Any = None


def run_differences(before: Run, after: Run) -> tuple[RunDifference, ...]:
    """Return the differences of two runs: handlers and their outcomes, order, messages, context,
    merged answer, verdict, and files if both ran in a sandbox. Times are not compared.
    """
    return (
        *_handler_differences(before, after),
        *_message_differences(before.messages, after.messages),
        *_value_differences("context", before.context, after.context),
        *_value_differences("result", before.ending.answer or {}, after.ending.answer or {}),
        *_verdict_difference(before.ending.verdict, after.ending.verdict),
        *_file_differences(before.guarded, after.guarded),
    )


def _handler_differences(before: Run, after: Run) -> Iterator[RunDifference]:
    old, new = results_by_call(before), results_by_call(after)
    for call, result in new.items():
        past = old.get(call)
        if past is None or _outcome(past) != _outcome(result):
            yield RunDifference("handler", call[0], past and _outcome(past), _outcome(result))
    yield from (RunDifference("handler", call[0], _outcome(old[call])) for call in old if call not in new)
    both = ([call for call in old if call in new], [call for call in new if call in old])
    if both[0] != both[1]:
        was, now = ([name for name, _, _ in calls] for calls in both)
        yield RunDifference("order", "order of calls", was, now)


def results_by_call(run: Run) -> Mapping[CallKey, Result]:
    """Return the results by hook, key and occurrence of that pair, in order."""
    seen: Counter[tuple[str, str]] = Counter()
    calls: dict[CallKey, Result] = {}
    for result in run.results:
        pair = (result.call.name, result.call.key)
        calls[(*pair, seen[pair])] = result
        seen[pair] += 1
    return calls


def _outcome(result: Result) -> str:
    return outcome_text(result.status, result.error)


def _message_differences(before: Sequence[str], after: Sequence[str]) -> Iterator[RunDifference]:
    for change, start, end, first, last in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if change != "equal":
            yield from (RunDifference("message", "message", before=text) for text in before[start:end])
            yield from (RunDifference("message", "message", after=text) for text in after[first:last])


def _value_differences(
    kind: Literal["context", "result"], before: Any, after: Any
) -> Iterator[RunDifference]:
    found = _differing_values(before, after, "")
    for number, (path, was, now) in enumerate(found):
        if number == MOST_DIFFERENCES:
            return
        if path != REPLAY_MARK and not path.startswith(f"{REPLAY_MARK}."):
            yield RunDifference(kind, path, was, now)


def _differing_values(before: Any, after: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in dict.fromkeys((*before, *after)):
            inner = f"{path}.{name}" if path else str(name)
            yield from _differing_values(before.get(name), after.get(name), inner)
    elif isinstance(before, list | tuple) and isinstance(after, list | tuple):
        for index in range(max(len(before), len(after))):
            was, now = (items[index] if index < len(items) else None for items in (before, after))
            yield from _differing_values(was, now, f"{path}[{index}]")
    elif not json_equal(before, after):
        yield path, before, after


def _verdict_difference(before: str, after: str) -> Iterator[RunDifference]:
    if before != after:
        yield RunDifference("verdict", "verdict", before or None, after or None)


def _file_differences(before: SandboxResult | None, after: SandboxResult | None) -> Iterator[RunDifference]:
    if before is None or after is None:
        return
    old, new = (
        {str(one.path): {"kind": one.kind, "bytes": one.after, "diff": one.diff} for one in result.changes}
        for result in (before, after)
    )
    for path in dict.fromkeys((*old, *new)):
        if old.get(path) != new.get(path):
            yield RunDifference("file", path, old.get(path), new.get(path))


class RepeatOutcome(StrEnum):
    """The outcome of repeating an event."""

    NOTHING = "did nothing new"
    SAME = "does the same"
    GROWS = "grows"  # more or longer in every run
    OTHER = "does something else"
    ONCE = "ran once"  # nothing to compare with


@dataclass(frozen=True, slots=True)
class HookRepetition:
    """One handler in all runs. Tuples have one item per run."""

    hook: str
    key: str
    outcome: RepeatOutcome
    statuses: tuple[str, ...]  # "": it did not run
    took: tuple[float, ...]  # seconds
    messages: tuple[int, ...]  # pushed
    characters: tuple[int, ...]  # of what it pushed
    changes: tuple[int, ...]  # of the event, without messages
    same_messages: tuple[str, ...] = ()  # texts pushed in every run
    same_changes: tuple[str, ...] = ()  # JSON pointers changed in every run


@dataclass(frozen=True, slots=True)
class FileRepetition:
    """One file that differs from its original. `sizes`: bytes after each run; None: no file."""

    path: str
    outcome: RepeatOutcome
    sizes: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Repetition:
    """The comparison of repeated runs of one event, in order."""

    times: int  # runs
    hooks: tuple[HookRepetition, ...]
    files: tuple[FileRepetition, ...] | None  # None: not checked
    sandbox: SandboxResult | None = None  # of the last run


def summarize_repetition(runs: Sequence[Run]) -> Repetition:
    """Return the comparison of repeated runs of one event.

    Files are compared if all runs used the same copies. Cancelled runs are incomplete and not compared.
    """
    completed = [not run.cancelled for run in runs]
    completed = completed if any(completed) else [True for _ in runs]
    sandboxes = [run.guarded for run in runs]
    changes = [sandbox.changes for sandbox in sandboxes if sandbox]
    files = None if not runs or None in sandboxes else tuple(_file_repetitions(changes, completed))
    single_handler = len({call for run in runs for call in results_by_call(run)}) == 1
    file_outcomes = (
        [file.outcome for file in files or ()] if single_handler else []
    )  # else their author is unknown
    guarded = runs[-1].guarded if runs else None
    return Repetition(len(runs), tuple(_hook_repetitions(runs, completed, file_outcomes)), files, guarded)


def _hook_repetitions(
    runs: Sequence[Run], completed: Sequence[bool], files: Sequence[RepeatOutcome]
) -> Iterator[HookRepetition]:
    by_run = [results_by_call(run) for run in runs]
    for call in dict.fromkeys(call for calls in by_run for call in calls):
        results = [calls.get(call) for calls in by_run]
        yield _hook_repetition(call, results, completed, files, answers=runs[0].event.kind == "plugin")


def _hook_repetition(
    call: CallKey,
    results: Sequence[Result | None],
    completed: Sequence[bool],
    files: Sequence[RepeatOutcome],
    *,
    answers: bool,
) -> HookRepetition:
    pushed = [result.messages if result else () for result in results]
    changes = [_patch_changes(result) for result in results]
    return HookRepetition(
        hook=call[0],
        key=call[1],
        outcome=_worst_outcome([_repeat_outcome([*compress(results, completed)], answers=answers), *files]),
        statuses=tuple(result.status if result else "" for result in results),
        took=tuple(result.took if result else 0.0 for result in results),
        messages=tuple(map(len, pushed)),
        characters=tuple(sum(map(len, texts)) for texts in pushed),
        changes=tuple(map(len, changes)),
        same_messages=_in_every_run([*compress(pushed, completed)]),
        same_changes=_in_every_run([*compress(changes, completed)]),
    )


def _patch_changes(result: Result | None) -> Mapping[str, str]:
    """Return JSON pointer → change as text; pushed messages are not changes."""
    patch = result.patch if result else ()
    operations = (one for one in patch if not str(one["path"]).startswith("/messages"))
    return {str(one["path"]): json_text([one["op"], one.get("value")]) for one in operations}


def _repeat_outcome(results: Sequence[Result | None], *, answers: bool) -> RepeatOutcome:
    """Return the outcome by messages, changes and, if `answers`, by what the handler returned."""
    effects = [_call_effect(result, answers=answers) for result in results]
    first, *later = effects
    if not later:
        return RepeatOutcome.ONCE
    if first[0] == "ok" and all(one == ("ok", *_NO_EFFECT[1:]) for one in later):
        return RepeatOutcome.NOTHING
    if all(one == first for one in later):
        return RepeatOutcome.SAME
    if len({one[0] for one in effects}) == 1 and any(
        map(_rises, zip(*(one[1:] for one in effects), strict=True))
    ):
        return RepeatOutcome.GROWS
    return RepeatOutcome.OTHER


CallEffect = tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]
_NO_EFFECT: CallEffect = ("", (), (), ())


def _call_effect(result: Result | None, *, answers: bool) -> CallEffect:
    """Return a call's ending, messages, changes and answer."""
    if result is None:
        return _NO_EFFECT
    error = result.error
    ending = result.status if error is None else f"{result.status}: {error.type}: {error.message}"
    answer = (json_text(result.returned),) if answers and result.returned is not None else ()
    changes = tuple(f"{path} {what}" for path, what in _patch_changes(result).items())
    return ending, result.messages, changes, answer


def _rises(series: Sequence[tuple[str, ...]]) -> bool:
    """Return whether each run adds texts or makes them longer.

    With two runs, a longer text counts only if it contains the earlier one.
    """
    if all(len(before) < len(after) for before, after in pairwise(series)):
        return True
    texts = ["\n".join(one) for one in series]
    longer = all(len(before) < len(after) for before, after in pairwise(texts))
    return longer and (len(texts) > 2 or texts[0] in texts[1])


def _in_every_run(series: Sequence[Sequence[str] | Mapping[str, str]]) -> tuple[str, ...]:
    """Return the items that occur in every run, in the order of the first."""
    first, *later = series
    return tuple(dict.fromkeys(one for one in first if all(one in other for other in later)))


def _file_repetitions(
    changes: Sequence[Sequence[FileChange]], completed: Sequence[bool]
) -> Iterator[FileRepetition]:
    """Yield the files that differ. Changes are relative to the originals, after each run."""
    after = [{str(one.path): one for one in listed} for listed in changes]
    for path in sorted({path for listed in after for path in listed}):
        states = [listed.get(path) for listed in after]
        sizes = tuple(state.after if state else None for state in states)
        states = [*compress(states, completed)]
        completed_sizes = [state.after or 0 if state else 0 for state in states]
        if all(_change_state(state) == _change_state(states[0]) for state in states):
            outcome = RepeatOutcome.NOTHING
        elif all(before < later for before, later in pairwise(completed_sizes)):
            outcome = RepeatOutcome.GROWS
        else:
            outcome = RepeatOutcome.OTHER
        yield FileRepetition(path, outcome, sizes)


def _change_state(change: FileChange | None) -> object:
    return change and (change.kind, change.after, change.diff, change.digest)


def _worst_outcome(outcomes: Sequence[RepeatOutcome]) -> RepeatOutcome:
    order = (
        RepeatOutcome.GROWS,
        RepeatOutcome.OTHER,
        RepeatOutcome.ONCE,
        RepeatOutcome.SAME,
        RepeatOutcome.NOTHING,
    )
    return min(outcomes, key=order.index)


def json_text(value: object) -> str:
    """Return a value as JSON with sorted keys, to be compared and shown."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
