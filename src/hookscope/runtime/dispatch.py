"""Dispatch a plan: call the groups of handlers on their executors and fold the results."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any, Protocol, TypeAlias, TypeGuard

from hookscope.model.executor import Executor, ExecutorOf
from hookscope.model.hook import LogLine
from hookscope.model.run import (
    CallGroup,
    Ending,
    Event,
    Fold,
    Next,
    OnStep,
    Plan,
    Policy,
    Registration,
    Result,
    Step,
    not_recorded_message,
)
from hookscope.model.text import nearest_word, one_line
from hookscope.runtime.python_worker.safe_values import safe_text

ItemNeeds: TypeAlias = Mapping[str, Mapping[str, str]]  # see EventType.needs
NO_NEEDS: ItemNeeds = {}

RETURN_VALUE = "what it returned"
RETURN_IGNORED = f"{RETURN_VALUE} is ignored: a hook of a HOOK.md folder answers through `event.messages`"
GENERATOR_RETURNS = ("<generator>", "<async_generator>")
OBSERVER_RETURN_IGNORED = (
    f"{RETURN_VALUE} is ignored: a hook of a stream observes, and its return value cannot stop anything"
)
GENERATOR_NOT_RUN = (
    "it returned a generator, which its host does not run: if the handler itself contains `yield`, "
    "none of its body ran. Remove `yield`"
)
NON_TEXT_NOTE = re.compile(
    r"messages\[(\d+)\]\S* (?!was cut|holds half)"
)  # a note on a message that is not text


class IgnoredChangesPolicy(Protocol):
    """A policy that knows which changes to an event its host ignores."""

    def ignored_change_notes(self, result: Result) -> tuple[str, ...]:
        """Return a sentence for each ignored change."""
        ...


def with_ignored_notes(
    result: Result, event: Event, needs: ItemNeeds = NO_NEEDS, policy: Policy | None = None
) -> Result:
    """Return the result with notes on ignored changes, without notes on converting an ignored value."""
    if result.returned is None and not result.patch and not result.messages:  # most handlers
        return result
    notes = ignored_notes(result, event)
    if result.patch:
        ignored_changes = policy.ignored_change_notes(result) if _knows_ignored_changes(policy) else ()
        notes = (*notes, *unusable_item_notes(result, needs), *ignored_changes)
    notes = (*notes, *_non_text_notes(result, event))
    if not notes:
        return result
    kept = (note for note in result.notes if RETURN_IGNORED not in notes or not note.startswith(RETURN_VALUE))
    return replace(result, notes=(*kept, *notes))


def _knows_ignored_changes(policy: Policy | None) -> TypeGuard[IgnoredChangesPolicy]:
    return hasattr(policy, "ignored_change_notes")  # `isinstance` with a protocol takes twenty times as long


def ignored_notes(result: Result, event: Event) -> tuple[str, ...]:
    """Return a sentence for each ignored change."""
    if event.kind == "stream" and result.error is None and result.returned is not None:
        return (OBSERVER_RETURN_IGNORED,)
    if event.kind != "folder" or result.error is not None:
        return ()
    notes: list[str] = []
    if result.returned in GENERATOR_RETURNS:
        notes.append(GENERATOR_NOT_RUN)
    elif result.returned is not None:
        notes.append(RETURN_IGNORED)
    put = [step.get("value") for step in result.patch if step.get("path") == "/messages"]
    if put and not isinstance(put[-1], list):
        kind = "a text" if isinstance(put[-1], str) else "another value"
        notes.append(
            f"it put {kind} in place of the list `event.messages`: the host delivers none of it, and later "
            "handlers cannot push; append to the list instead"
        )
    return tuple(notes)


def _non_text_notes(result: Result, event: Event) -> Iterator[str]:
    """Yield a sentence about pushed messages that are not text, if there are any."""
    if event.kind != "folder":
        return
    kinds = [_json_kind(value) for value in _pushed_values(result) if not isinstance(value, str)]
    if not kinds and not result.notes:
        return
    named = {found[1] for note in result.notes if (found := NON_TEXT_NOTE.match(note))}
    count = max(len(kinds), len(named))
    if count:
        what = ", ".join(dict.fromkeys(kinds)) or "an object"
        several = f"{count:,} messages that are" if count > 1 else "a message that is"
        yield f"it pushed {several} not text ({what}): hosts join messages as text, so push strings"


def _pushed_values(result: Result) -> Iterator[Any]:
    """Yield the messages that the handler added or replaced."""
    for step in result.patch:
        path, value = str(step.get("path")), step.get("value")
        if step.get("op") == "remove":
            continue
        if path == "/messages" and isinstance(value, list):
            yield from value
        elif path.startswith("/messages/"):
            yield "" if path.count("/") > 2 else value


def _json_kind(value: object) -> str:
    """Return the type of a JSON value with its article, such as `a number`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    return "a list" if isinstance(value, list) else "an object"


def unusable_item_notes(result: Result, needs: ItemNeeds) -> Iterator[str]:
    """Yield a sentence for each item that the handler added to a list but the host cannot use."""
    for step in result.patch if needs else ():
        _, context, name, *rest = (*str(step.get("path")).split("/"), "", "")
        if context != "context" or name not in needs or step.get("op") == "remove":
            continue
        value = step.get("value")
        put: Any = value if isinstance(value, list) else [value]
        for item in (one for one in put if isinstance(one, Mapping) and (rest[0] == "" or not rest[1])):
            yield from _missing_member_notes(item, name, needs[name])


def _missing_member_notes(item: Mapping[str, Any], name: str, needed: Mapping[str, str]) -> Iterator[str]:
    shown_name = one_line(str(item.get("name", "an item")), 60)
    for member, outcome in needed.items():
        if not isinstance(item.get(member), str) or not item[member].strip():
            match = nearest_word(member.lower(), [str(key).lower() for key in item if key not in needed])
            written = next((str(key) for key in item if match and str(key).lower() == match), "")
            instead = f"; it has {one_line(written, 60)} instead" if written else ""
            yield f"{shown_name} in context.{name} has no {member}{instead}: {outcome}"


RecordEvent: TypeAlias = Callable[[], Awaitable[object]]
ExecutorCalls: TypeAlias = tuple[Executor, tuple[Registration, ...]]


async def dispatch(
    plan: Plan,
    executor_of: ExecutorOf,
    step: OnStep,
    record: RecordEvent | None = None,
    on_fold: Callable[[Fold], object] | None = None,
) -> Ending:
    """Run a plan. Never raises for what a handler did; only a cancel is raised.

    Results are folded in plan order, in whatever order they arrive; `step` receives them as they arrive.

    Args:
        record: makes the event durable. Awaited exactly once, before the first group that requires it, and
            also if no group does. If it raises, a stream's event stops; other events continue, and the
            ending's log reports that they were not recorded.
        on_fold: receives each new Fold, including the first, so that the state survives a cancel.
    """
    policy = plan.policy
    fold = policy.start(plan.event)
    keep = on_fold if on_fold is not None else _ignore
    keep(fold)
    log: tuple[LogLine, ...] = ()
    then = Next.GO
    for group in plan.groups:
        if group.after_record or then is not Next.GO:
            continue
        fold, then = await _run_group(group, policy, fold, executor_of, step, keep)
    if record is not None:
        log = await _record_event(record)
    if then is Next.GO and not (log and plan.event.kind == "stream"):
        for group in plan.groups:
            if group.after_record and then is Next.GO:
                fold, then = await _run_group(group, policy, fold, executor_of, step, keep)
    ending = policy.finish(fold)
    return replace(ending, log=(*log, *ending.log)) if log else ending


def _ignore(_: object) -> None:
    pass


async def _record_event(record: RecordEvent) -> tuple[LogLine, ...]:
    """Return no lines if the event was recorded, else a line with the reason."""
    try:
        await record()
    except Exception as error:  # a recorder may raise anything, and a full disk must not stop a command hook
        return (LogLine("warn", not_recorded_message(safe_text(error))),)
    return ()


async def _run_group(
    group: CallGroup,
    policy: Policy,
    fold: Fold,
    executor_of: ExecutorOf,
    step: OnStep,
    keep: Callable[[Fold], object],
) -> tuple[Fold, Next]:
    """Run the calls of a group. Return the last fold, and whether the event continues."""
    if group.concurrent:
        return _fold_results(
            policy, fold, await _run_concurrently(group, policy, fold, executor_of, step), keep
        )
    if not policy.batched:
        return await _run_sequentially(group, policy, fold, executor_of, step, keep)
    for executor, batch in _executor_calls(group, executor_of):
        results: dict[Registration, Result] = {}
        await executor.run(batch, policy.view(fold, batch[0]), _collecting(results, step))
        fold, then = _fold_results(policy, fold, _in_order(results, batch), keep)
        if then is not Next.GO:
            return fold, then
    return fold, Next.GO


def _executor_calls(group: CallGroup, executor_of: ExecutorOf) -> Iterable[ExecutorCalls]:
    """Return consecutive calls that have the same executor."""
    if len(group.calls) == 1:
        return ((executor_of(group.calls[0]), group.calls),)
    return _by_executor(group, executor_of)


def _by_executor(group: CallGroup, executor_of: ExecutorOf) -> Iterator[ExecutorCalls]:
    for _, pairs in groupby(
        ((executor_of(call), call) for call in group.calls), key=lambda pair: id(pair[0])
    ):
        executors, calls = zip(*pairs, strict=True)
        yield executors[0], calls


async def _run_sequentially(
    group: CallGroup,
    policy: Policy,
    fold: Fold,
    executor_of: ExecutorOf,
    step: OnStep,
    keep: Callable[[Fold], object],
) -> tuple[Fold, Next]:
    """Run each call alone, on a view of the event that includes the changes of earlier results."""
    then, results = Next.GO, dict[Registration, Result]()

    def views(calls: Sequence[Registration]) -> Iterator[Any]:
        nonlocal fold, then
        for call in calls:
            yield policy.view(fold, call)
            fold, then = _fold_results(policy, fold, [results[call]] if call in results else (), keep)
            if then is not Next.GO:
                return

    for executor, calls in _executor_calls(group, executor_of):
        await executor.run_one_by_one(calls, views(calls), _collecting(results, step))
        if then is not Next.GO:
            break
    return fold, then


def _fold_results(
    policy: Policy, fold: Fold, results: Sequence[Result], keep: Callable[[Fold], object]
) -> tuple[Fold, Next]:
    """Fold results in order, until one ends the event."""
    then = Next.GO
    for result in results:
        fold, then = policy.take(fold, result)
        keep(fold)
        if then is not Next.GO:
            break
    return fold, then


async def _run_concurrently(
    group: CallGroup, policy: Policy, fold: Fold, executor_of: ExecutorOf, step: OnStep
) -> list[Result]:
    """Run all calls at once, each on a view of the current fold. Return the results in plan order."""
    import asyncio  # slow to import, and only concurrent calls need it

    results: dict[Registration, Result] = {}
    arrived = _collecting(results, step)
    by_executor: dict[int, tuple[Executor, list[tuple[Registration, Any]]]] = {}
    for call in group.calls:
        executor = executor_of(call)
        by_executor.setdefault(id(executor), (executor, []))[1].append((call, policy.view(fold, call)))
    if len(by_executor) == 1:  # nearly always: no task group is needed
        ((executor, together),) = by_executor.values()
        await executor.run_together(together, arrived)
    else:
        async with asyncio.TaskGroup() as tasks:
            for executor, together in by_executor.values():
                tasks.create_task(executor.run_together(together, arrived))
    return _in_order(results, group.calls)


def _in_order(results: Mapping[Registration, Result], calls: Sequence[Registration]) -> list[Result]:
    return [results[call] for call in calls if call in results]


def _collecting(results: dict[Registration, Result], step: OnStep) -> OnStep:
    """Return a step function that also stores each result under its call.

    Registrations compare by identity, because a hook may be planned twice.
    """
    return partial(_collect, results, step)


def _collect(results: dict[Registration, Result], step: OnStep, news: Step) -> None:
    if isinstance(news, Result):
        results[news.call] = news
    step(news)
