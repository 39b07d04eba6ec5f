"""What the records of a batch in this process mean: results, and how each handler changed its event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from hookscope.core.arguments import Arguments, asked_in
from hookscope.core.event import HookEvent, put_back
from hookscope.core.failure import Failure
from hookscope.core.given import opened
from hookscope.core.runs import Handler, OnStep, Patch, Registration, Result, Status
from hookscope.runtime.clock import since_start
from hookscope.runtime.failures import CANCELLED, overran, raised
from hookscope.runtime.heartbeat import Cell
from hookscope.runtime.patch import patch_of
from hookscope.runtime.python_worker.faults import never_ran
from hookscope.runtime.views import document_of, event_in, messages_in, pushed
from hookscope.values import dataclass

# Of one call: ended in seconds of perf_counter, what it returned, what it raised; the end alone where it did
# nothing but return. They come in order, and each began where the one before had ended, the first with its
# batch (Cell.began).
Record: TypeAlias = float | tuple[float, Any, BaseException | None]
Pair: TypeAlias = tuple[Registration, Handler]
Outcome: TypeAlias = tuple[Status, Failure | None, tuple[str, ...]]

GOOD: Outcome = ("ok", None, ())
NO_PATCH: tuple[Patch, tuple[str, ...]] = ((), ())


@dataclass(slots=True)
class Observer:
    """Makes a Result of each record, and compares the event before and after it. Told anew what it looks at
    for each part: where every handler has a view of its own, another one for each would cost more than it."""

    step: OnStep
    cell: Cell
    whole: bool  # compare the whole event, not only its messages
    view: Any = None
    part: Sequence[Pair] = ()
    limit: float | None = None
    messages: tuple[str, ...] = ()
    document: Any = None
    said: Sequence[str] = ()  # of what the view holds that JSON cannot
    asked: tuple[str, ...] = ()
    taken: int = 0  # records of this part

    def look_at(self, view: Any, part: Sequence[Pair], limit: float | None) -> None:
        """From now on the records are of this part, called with this view."""
        self.view, self.part, self.limit, self.taken = view, part, limit, 0
        self.messages, self.asked = messages_in(view), asked_in(view)
        self._announce(0)
        if self.whole:
            self.document, self.said = document_of(view)

    def take(self, record: Record) -> None:
        """Report what the record of the next call comes to, and what it changed."""
        if isinstance(record, float):  # nearly always
            ended, returned, error = record, None, None
        else:
            ended, returned, error = record
        call, target = self.part[self.taken]
        self.taken += 1
        view, cell = self.view, self.cell
        began, cell.began, asked = cell.began, ended, cell.asked
        took = ended - began
        if returned is not None and error is None:
            error = never_ran(returned, target)
        status, failure, notes = GOOD
        if error is not None or asked or (self.limit is not None and took >= self.limit):
            status, failure, notes = _outcome(error, asked, took, self.limit, target)
        said: tuple[str, ...] = ()
        wanted: tuple[str, ...] = ()
        if isinstance(view, Arguments):
            wanted = self._asked_since()
        else:
            if isinstance(view, HookEvent) and (deleted := put_back(view)):
                notes = (*notes, *deleted)
            before, self.messages = self.messages, messages_in(view)
            said = pushed(before, self.messages)
        patch, more = self._patch() if self.whole else NO_PATCH
        self.step(
            Result(  # by place: by name it takes twice as long
                call,
                status,
                since_start(began),
                took,
                0.0,
                said,
                returned,
                "",
                "",
                failure,
                patch,
                notes + more,
                False,
                None,
                wanted,
            )
        )

    def _asked_since(self) -> tuple[str, ...]:
        """What the handler asked its host for. From now on it is the next one's asking."""
        before, self.asked = self.asked, asked_in(self.view)
        self._announce(self.taken)
        return self.asked[len(before) :]

    def _announce(self, number: int) -> None:
        """Let the view know whose handler comes next."""
        if isinstance(self.view, Arguments) and number < len(self.part):
            opened(self.view).who = self.part[number][0].name

    def _patch(self) -> tuple[Patch, tuple[str, ...]]:
        before, said = self.document, self.said
        self.document, self.said = document_of(self.view)
        patch = patch_of(event_in(self.view, before), event_in(self.view, self.document))
        return patch, tuple(note for note in self.said if note not in said)


def _outcome(
    error: BaseException | None, asked: str, took: float, limit: float | None, target: Handler
) -> Outcome:
    """What a record means. `asked`: who asked the handler to stop, see Cell."""
    if error is None:
        return "ok", None, _despite(asked, took, limit)
    if asked == "limit" and limit is not None:
        return "timeout", overran(limit, "run"), ()
    if asked:
        return "cancelled", CANCELLED, ()
    return "error", raised(error, target=target), ()


def _despite(asked: str, took: float, limit: float | None) -> tuple[str, ...]:
    """What is to be said of a handler that answered."""
    if asked:
        return ("it was asked to stop and answered all the same",)
    if limit is not None and took >= limit:
        return (f"it took longer than its {limit:g} s, and could not be stopped",)
    return ()
