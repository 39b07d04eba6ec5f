"""One batch on its way through a worker: what is left, what is known, and what an answer means."""

from __future__ import annotations

from dataclasses import field
from time import perf_counter
from typing import Any

from hookscope.core.arguments import Arguments
from hookscope.core.failure import Failure
from hookscope.core.runs import OnStep, Registration, Result, Slow, Started, Status
from hookscope.runtime.clock import since_start
from hookscope.runtime.failures import CANCELLED, Phase, told
from hookscope.runtime.order import Order
from hookscope.runtime.peer import WorkerLost
from hookscope.runtime.python_worker.protocol import Message, encode
from hookscope.runtime.views import (
    asked_between,
    changes_between,
    is_document_of,
    messages_in,
    packed_of,
    pushed,
    write_back,
)
from hookscope.values import dataclass

# What the answer of a handler says that did nothing but return.
AT_REST = frozenset(("id", "result", "took", "returned", "next"))
AT_ONCE = 0.005  # seconds between an end and its hearing, in which the next call may have begun


@dataclass(slots=True)
class Course:
    """A batch on its way: what is left, the event as far as it is known, and the call that is begun."""

    left: tuple[Registration, ...]
    view: Any
    step: OnStep
    document: Any = None
    begun: Registration | None = None
    order: Order | None = None  # of the call that is begun
    phase: Phase = "load"
    started: float = 0.0  # of perf_counter
    since: float = 0.0  # the same, from the start of the run
    loaded: float = 0.0
    spoilt: bool = False  # the worker is no longer what it was, by this handler's doing
    worn: bool = False  # nobody's doing: it has served its time
    notes: list[str] = field(default_factory=list)  # of what the view holds that JSON cannot
    company: str = ""  # who else may have printed what it printed, as a sentence
    text: str = ""  # the document as JSON, once somebody has asked

    def __post_init__(self) -> None:
        self.document, self.notes, self.text = packed_of(self.view)

    def packed(self) -> str:
        """The event as far as it is known, as JSON."""
        self.text = self.text or encode(self.document)
        return self.text

    def begin(self, call: Registration, order: Order | None = None) -> None:
        """This call, the first that is left, is loaded or run from now on."""
        self.begun, self.order = call, order
        self.phase, self.loaded, self.started = "load", 0.0, perf_counter()

    def start(self, loaded: float, ended: float = 0.0) -> None:
        """It runs now; or since the one before it has `ended`, which was heard later."""
        assert self.begun is not None
        now = perf_counter()
        self.phase, self.loaded, self.started = "run", loaded, ended if 0 <= now - ended < AT_ONCE else now
        self.since = since_start(self.started)
        self.step(Started(self.begun, self.since))

    def rested(self, took: float, returned: object) -> None:
        """It did nothing but return: report that."""
        assert self.begun is not None
        self.worn = self.spoilt = False
        self.finish(Result(self.begun, "ok", self.since, took, returned=returned))

    def slow(self, after: float, limit: float | None) -> None:
        """It takes long: say so while it still runs."""
        assert self.begun is not None
        self.step(Slow(self.begun, after, limit))

    def answered(self, message: Message) -> Result:
        """The Result that the worker's answer describes. What it changed is in the view now.

        Raises WorkerLost where it is no answer.
        """
        assert self.begun is not None
        before, after = self.document, message.get("view", self.document)
        status, error, notes = message.get("status", "ok"), message.get("error"), message.get("notes", [])
        stale = message.get("stale")
        if status not in ("ok", "error") or not isinstance(notes, list):
            raise WorkerLost("answered what is no answer")
        if type(after) is not type(before) or not is_document_of(self.view, after):
            raise WorkerLost("answered what is no answer")
        phase: Phase = "load" if message.get("phase") == "load" else "run"
        same, has_messages = after is before, not isinstance(self.view, Arguments)
        result = Result(
            self.begun,
            "ok" if status == "ok" else "error",
            started=self.since if self.phase == "run" else since_start(self.started),
            took=seconds_of(message, "took", 0.0),
            loaded=seconds_of(message, "loaded", 0.0),
            messages=pushed(messages_in(before), messages_in(after)) if has_messages and not same else (),
            returned=message.get("returned"),
            error=None if error is None else told_failure(error, phase),
            patch=() if same else changes_between(self.view, before, after),
            notes=tuple(map(str, notes)),
            stale=None if stale is None else told_failure(stale, "load"),
            asked=() if same else asked_between(self.view, before, after),
        )
        self.worn = bool(message.get("worn"))
        self.spoilt = bool(message.get("dirty"))
        if not same:
            self.document, self.text = after, ""
            write_back(self.view, before, after)
        return result

    def lost(self, status: Status, failure: Failure) -> Result:
        """The Result of a call whose worker did not answer."""
        assert self.begun is not None
        now = perf_counter()
        return Result(
            self.begun,
            status,
            started=since_start(self.started),
            took=now - self.started if self.phase == "run" else 0.0,
            loaded=self.loaded if self.phase == "run" else now - self.started,
            error=failure,
        )

    def cancel(self) -> None:
        """End what is left, begun or not."""
        while self.left:
            if self.begun is None:
                self.begin(self.left[0])
            self.finish(self.lost("cancelled", CANCELLED))

    def finish(self, result: Result) -> None:
        """Report the end of the first that is left, begun or not."""
        self.begun, self.left = None, self.left[1:]
        self.step(result)


def is_answer(message: Message, run: str, kind: str, number: int) -> bool:
    """Is this the message of that kind, for that call of that run?"""
    return message.get("id") == run and message.get(kind) == number


def seconds_of(message: Message, name: str, absent: float | None = None) -> float:
    """A duration; `absent` where the message names none. Raises WorkerLost where it is no duration."""
    value = message.get(name, absent)
    if type(value) is float:
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise WorkerLost("answered what is no answer")
    return float(value)


def told_failure(document: Any, phase: Phase) -> Failure:
    """What a handler raised. Raises WorkerLost where the worker describes nothing of the kind."""
    try:
        return told(document, phase)
    except (KeyError, OverflowError, TypeError, ValueError):
        raise WorkerLost("answered what is no answer") from None
