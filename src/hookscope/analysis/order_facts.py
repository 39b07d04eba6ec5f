"""The facts of one run in one call order, comparable with those of another order."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Any

from hookscope.engine.planning import CallOrder
from hookscope.model.run import Registration, Result, Run
from hookscope.values import dataclass

REMOVED = "gone"  # a removed value; unlike other values no JSON
UNTOUCHED = ""
PARTLY_CHANGED = "part"  # part of a list was changed: the patch does not show the whole
NOT_RUN = "did not run: "
ENDED_OK = "ok"
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{4,}")  # address of an object: differs in every run


class FactKind(StrEnum):
    """What can differ between orders, most telling first."""

    ENDED = "ended"  # how a handler ended, and whether it ran
    SAID = "said"  # the messages that it pushed
    ANSWERED = "answered"  # what it returned and requested from its host
    VERDICT = "verdict"  # the verdict on the event, and its failure
    RESULT = "result"  # the merged answer
    PLACE = "place"  # a place of the event afterwards
    CHANGED = "changed"  # what a handler left at a place of the event
    MESSAGES = "messages"  # a place of the event afterwards, in whatever order
    CAUSED = "caused"  # the events that followed
    FILE = "file"  # content of a file, in a sandbox


FACT_KINDS = tuple(FactKind)


@dataclass(frozen=True, slots=True)
class FactSubject:
    """One thing that may depend on the call order."""

    kind: FactKind
    what: str = ""  # a JSON pointer into the event, or a file path
    call: int = -1  # the handler's position in registered order; -1: the whole event

    @property
    def rank(self) -> tuple[int, int, str]:
        """The sort key, most telling first."""
        return FACT_KINDS.index(self.kind), self.call, self.what


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The facts of a run: its number, its call order, and each value as text.

    `values` holds only places of the event that differ from `initial_values`. `written` holds the CHANGED
    subjects that the handler itself changed; the others it found changed and left as they were.
    """

    run: int
    order: CallOrder
    values: Mapping[FactSubject, str]
    written: frozenset[FactSubject] = frozenset()
    initial_values: Mapping[str, str] = field(default_factory=dict)

    def value(self, subject: FactSubject) -> str:
        """Return the value of a subject; UNTOUCHED if there is none."""
        known = self.values.get(subject)
        if known is None and subject.kind in (FactKind.PLACE, FactKind.CHANGED):
            return self.initial_values.get(subject.what, UNTOUCHED)
        return UNTOUCHED if known is None else known

    def writers(self, place: str) -> tuple[int, ...]:
        """Return the handlers that changed this place, in call order."""
        return tuple(
            call for call in self.order if FactSubject(FactKind.CHANGED, place, call) in self.written
        )


def run_facts(run: Run, calls: Sequence[Registration], order: CallOrder) -> RunFacts:
    """Return the facts of a run that made these calls of the registered plan in this order."""
    places = {call: place for place, call in enumerate(calls)}
    results = {places[result.call]: result for result in run.results if result.call in places}
    why = {item.name: item.reason for item in run.not_run}
    values: dict[FactSubject, str] = {}
    for call in order:
        values |= _of_handler(call, results.get(call), why.get(calls[call].name, ""))
    left_values, written = _changes(results, order)
    folder = run.event.kind == "folder"
    before = dict(_leaves("/context" if folder else "", run.event.context))
    after = dict(_leaves("/context" if folder else "", run.context))
    for place in before.keys() | after.keys():
        if before.get(place) != after.get(place):
            values[FactSubject(FactKind.PLACE, place)] = after.get(place, REMOVED)
    return RunFacts(run.id, order, values | left_values | dict(_of_event(run)), written, before)


def _of_handler(call: int, result: Result | None, why: str) -> dict[FactSubject, str]:
    if result is None:
        return {FactSubject(FactKind.ENDED, call=call): f"{NOT_RUN}{why}"}
    facts = {FactSubject(FactKind.ENDED, call=call): _ended(result)}
    if result.messages:
        facts[FactSubject(FactKind.SAID, call=call)] = _text(list(result.messages))
    if result.returned is not None or result.asked:
        requests = [f"asks for {one}" for one in result.asked]
        facts[FactSubject(FactKind.ANSWERED, call=call)] = ", ".join([_text(result.returned), *requests])
    return facts


def _ended(result: Result) -> str:
    error = result.error
    if error is None:
        return result.status
    what = error.type if result.status == "error" else result.status
    return _ADDRESS.sub("0x…", f"{what}: {error.message}")


def _of_event(run: Run) -> Iterator[tuple[FactSubject, str]]:
    ending = run.ending
    if ending.verdict or ending.failure:
        yield FactSubject(FactKind.VERDICT), _ADDRESS.sub("0x…", ending.failure or ending.verdict)
    if ending.answer:
        yield FactSubject(FactKind.RESULT), _text(ending.answer)
    if run.messages:
        yield FactSubject(FactKind.MESSAGES), _text(sorted(run.messages))
    if run.caused:
        yield FactSubject(FactKind.CAUSED), ", ".join(caused.event.key for caused in run.caused)
    for change in run.guarded.changes if run.guarded is not None else ():
        state = {"kind": change.kind, "bytes": change.after, "diff": change.diff, "digest": change.digest}
        yield FactSubject(FactKind.FILE, str(change.path)), _text(state)


def _changes(
    results: Mapping[int, Result], order: CallOrder
) -> tuple[dict[FactSubject, str], frozenset[FactSubject]]:
    """Return what each handler left at every place changed so far, and which handler changed it.

    A handler that sets a place to its existing value has changed nothing, whether it ran first or not.
    """
    now: dict[str, str] = {}
    left_values: dict[FactSubject, str] = {}
    written: set[FactSubject] = set()
    for call in order:
        if call not in results:
            continue
        operations = dict(_operations(results[call]))
        now |= operations
        left_values |= {FactSubject(FactKind.CHANGED, place, call): value for place, value in now.items()}
        written |= {FactSubject(FactKind.CHANGED, place, call) for place in operations}
    return left_values, frozenset(written)


def _operations(result: Result) -> Iterator[tuple[str, str]]:
    """Yield place → value of each patch operation; pushed messages are excluded."""
    for one in result.patch:
        place, part = _whole(str(one["path"]))
        if place == "/messages":
            continue
        if part or one["op"] == "remove":
            yield place, PARTLY_CHANGED if part else REMOVED
        else:
            yield from _leaves(place, one.get("value"))


def _whole(place: str) -> tuple[str, bool]:
    """Return the place or its list, and whether it is a list item: lists are compared as a whole."""
    names = place.split("/")
    at = next((at for at, name in enumerate(names) if at and name.isascii() and name.isdigit()), None)
    return ("/".join(names[:at]), True) if at is not None else (place, False)


def _leaves(place: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield all values in mappings, each under its JSON pointer. A list is one value."""
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _leaves(f"{place}/{str(name).replace('~', '~0').replace('/', '~1')}", inner)
    else:
        yield place, _text(value)


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
