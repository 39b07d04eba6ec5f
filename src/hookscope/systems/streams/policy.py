"""The one policy of stream events: handlers watch; what a throw or a cancel comes to is a version's rule."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

from hookscope.core.arguments import CANCEL, EVENT, Arguments, arguments
from hookscope.core.failure import Failure
from hookscope.core.hooks import LogLine
from hookscope.core.runs import Ending, Event, Fold, Next, Registration, Result
from hookscope.systems.streams.arranging import CHANNEL, OUTSIDE, ROLES, role_of
from hookscope.values import dataclass

DATA = "data"
Thrown = Callable[[Event, Registration, Failure], LogLine]  # the host's own line about a throw
Ignored = Callable[[Event, Registration], LogLine]  # and about a cancel that cannot work


@dataclass(frozen=True, slots=True)
class FailureRule:
    """What a handler's throw and its `ctx.cancel()` come to under one version of a host."""

    stops: bool  # a hook's throw fails the event, and the remaining handlers do not run
    swallowed: Thrown  # what is logged of a channel's or a resolver's throw, which never does more
    logged: Thrown | None = None  # what is logged of a hook's
    follows: Callable[[Event, Failure], tuple[Event, ...]] = lambda event, failure: ()
    cancelled: Callable[[Event], tuple[Event, ...]] = lambda event: ()
    ignored: Ignored | None = None  # None: there is no `ctx.cancel()`


@dataclass(frozen=True, slots=True)
class Shared:
    """The one event of all handlers. A channel's handlers get its data alone, and share that."""

    of: Event
    hooks: Arguments
    channel: Arguments

    @property
    def data(self) -> Mapping[str, Any]:
        """The event's data as it is now; as it was where a handler left none."""
        event = self.hooks.get(EVENT)
        data = event.get(DATA) if isinstance(event, Mapping) else None
        return data if isinstance(data, Mapping) else self.of.context


@dataclass(frozen=True, slots=True)
class Observed:
    """One event's handlers: what they return is ignored, what they change is seen by those after them.

    Source: seed 002, "Execution order" and "What happens when a hook throws"; rules note 3.4 to 3.7.
    """

    rule: FailureRule
    cancellable: bool = False  # does `ctx.cancel()` work on this event
    shows_envelope: bool = True
    methods: tuple[str, ...] = ()
    bare: bool = False  # hooks find no `data` on this event

    @property
    def batched(self) -> bool:
        return not self.rule.stops

    def start(self, event: Event) -> Fold:
        data, ctx = deepcopy(dict(event.context)), deepcopy(dict(event.ctx))
        told: dict[str, Any] = {"type": event.type} if self.bare else {"type": event.type, DATA: data}
        if self.shows_envelope:
            told["meta"] = {name: value for name, value in event.meta.items() if name != OUTSIDE}
        of_channel = tuple(name for name in self.methods if name != CANCEL)
        hooks, channel = (
            arguments(told, ctx, methods=self.methods),
            arguments(data, ctx, methods=of_channel),
        )
        return Fold(Shared(event, hooks, channel))

    def view(self, fold: Fold, call: Registration) -> Any:
        return fold.event.channel if role_of(call) == CHANNEL else fold.event.hooks

    def take(self, fold: Fold, result: Result) -> tuple[Fold, Next]:
        call, shared = result.call, fold.event
        if role_of(call) == CHANNEL and not self.bare:
            shared.hooks[EVENT][DATA] = shared.channel[EVENT]  # a worker's handler has put another one there
        if CANCEL in result.asked:
            fold = self._asked_to_cancel(fold, call)
        failure = result.error
        if failure is None:
            return fold, Next.GO
        if role_of(call) in ROLES:
            return _with_line(fold, self.rule.swallowed(shared.of, call, failure)), Next.GO
        if self.rule.logged is not None:
            fold = _with_line(fold, self.rule.logged(shared.of, call, failure))
        if not self.rule.stops:
            return fold, Next.GO
        follow_ups = (*fold.follow_ups, *self.rule.follows(shared.of, failure))
        return replace(fold, failure=failure.own_text, follow_ups=follow_ups), Next.FAIL

    def _asked_to_cancel(self, fold: Fold, call: Registration) -> Fold:
        if self.rule.ignored is None:
            return fold
        if not self.cancellable:
            return _with_line(fold, self.rule.ignored(fold.event.of, call))
        if CANCEL in fold.answer:  # a turn is cancelled once
            return fold
        return replace(fold, answer={CANCEL: call.name}, follow_ups=self.rule.cancelled(fold.event.of))

    def finish(self, fold: Fold) -> Ending:
        by = fold.answer.get(CANCEL)
        return Ending(
            answer=fold.answer or None,
            failure=fold.failure,
            follow_ups=fold.follow_ups,
            log=fold.log,
            verdict=f"turn cancelled by {by}" if by is not None else "",
            context=dict(fold.event.data),
        )


def _with_line(fold: Fold, line: LogLine) -> Fold:
    return replace(fold, log=(*fold.log, line))
