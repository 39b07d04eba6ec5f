"""The policy of plugin hooks: one class, and a rule for each hook that says how its answers add up."""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from hookscope.core.arguments import ASKED, CTX, EVENT, NULL, PROMISE, Arguments, arguments
from hookscope.core.failure import Failure
from hookscope.core.given import frozen
from hookscope.core.hooks import LogLine
from hookscope.core.own_copies import own_copy
from hookscope.core.runs import Ending, Event, Fold, Next, Registration, Result
from hookscope.systems.plugins.changed_events import in_vain, with_kept
from hookscope.systems.plugins.rules import Answer, MergeRule, Payload, Told
from hookscope.systems.plugins.verdicts import verdict_of
from hookscope.values import dataclass

SYNCHRONOUS = "synchronous"


@dataclass(frozen=True, slots=True)
class Words:
    """The host's own sentences: {hook} {plugin} {text}."""

    failed: str = "[hooks] {hook} handler from {plugin} failed: {text}"
    promised: str = (
        "[hooks] {hook} handler from {plugin} returned a Promise; "
        "this hook is synchronous and the result was ignored."
    )
    not_isolated: str = "[hooks] {hook} mutable input isolation failed"
    prefix: str = "[plugins] "  # before what it logs, not before what it throws
    longest: int = 0  # characters of {text}, which is one line then; 0: as it was thrown


@dataclass(frozen=True, slots=True)
class PluginPolicy:
    """How the handlers of one plugin hook are asked, and what their answers come to.

    Source: rules-openclaw section 6 (plug-01 to plug-04); guide 004 section 8.
    """

    hook: str  # the event's name
    way: str  # observe, modify, gate, claim, synchronous, evaluate
    payload: Payload = field(default_factory=dict)  # of the event as it was asked for
    rule: MergeRule | None = None  # None: answers are ignored
    apart: bool = False  # every handler gets a copy of the event of its own
    frozen: bool = False  # which throws where it is changed
    fails_closed: bool = False
    one_object: bool = False  # the event argument has the members of `ctx` too (guide 003)
    words: Words = Words()
    batched: bool = False  # one may stop the next

    def start(self, event: Event) -> Fold:
        copy = copy_of(event.context)
        failure = self._say(self.words.not_isolated) if copy is None and self.apart else None
        payload = dict(event.context) if copy is None else copy
        given = {**event.ctx, **payload} if self.one_object else payload
        nulls = self.rule is not None and self.rule.null
        view = arguments(given, event.ctx, sync=self.way == SYNCHRONOUS, nulls=nulls)
        return Fold(view, answer=self._begun(), failure=failure)

    def _begun(self) -> Answer:
        return self.rule.start(self.payload) if self.rule is not None else {}

    def view(self, fold: Fold, call: Registration) -> Any:
        """One view for all who run one by one, so that a handler finds what others wrote in it; where the
        host makes an event for each, one of its own."""
        event, ctx = fold.event[EVENT], fold.event[CTX]
        if self.apart:
            own = copy_of(event)
            return arguments(frozen(own) if self.frozen else own, ctx, frozen=self.frozen)
        if self.rule is None:
            return arguments(event, ctx)
        if self.rule.own_event and isinstance(event, Mapping):
            own = copy_of({name: event[name] for name in self.rule.own_members if name in event}) or {}
            return Arguments({**fold.event, EVENT: {**event, **own}, ASKED: []})
        return fold.event

    def unheeded(self, result: Result) -> tuple[str, ...]:
        """What it changed in vain, a sentence each."""
        return tuple(in_vain(self.hook, self.rule, self.payload, result, apart=self.apart))

    def take(self, fold: Fold, result: Result) -> tuple[Fold, Next]:
        if self.rule is not None and self.rule.kept and result.patch:
            fold = self._with_kept(fold, result, self.rule)
        if result.error is not None:
            return self._failed(replace(fold, taken=fold.taken + 1), result, result.error)
        if PROMISE in result.asked:
            line = LogLine("warn", self.words.prefix + self._say(self.words.promised, result.call))
            return replace(fold, taken=fold.taken + 1, log=(*fold.log, line)), Next.GO
        if self.rule is None or not self._answers(result, self.rule):
            return replace(fold, taken=fold.taken + 1), Next.GO
        merged = self.rule.merge(fold.answer, self._told(fold, result, result.returned))
        if merged.failed:
            failure = Failure("TypeError", merged.failed, phase="run")
            return self._failed(replace(fold, taken=fold.taken + 1), result, failure)
        event = fold.event
        if merged.passes_on:
            event = Arguments({**event, EVENT: {**event[EVENT], **merged.passes_on}})
        by = (*fold.by, result.call.name) if merged.counts else fold.by
        # Not by `replace`, which takes three times as long, once for every handler.
        after = Fold(event, merged.answer, fold.failure, fold.log, fold.follow_ups, by, fold.taken + 1)
        return after, Next.STOP if merged.stop else Next.GO

    @staticmethod
    def _with_kept(fold: Fold, result: Result, rule: MergeRule) -> Fold:
        event = with_kept(fold.event[EVENT], rule, result)
        if event is fold.event[EVENT]:
            return fold
        answer = {name: event[name] if name in rule.kept else value for name, value in fold.answer.items()}
        return replace(fold, event=Arguments({**fold.event, EVENT: event}), answer=answer)

    def _answers(self, result: Result, rule: MergeRule) -> bool:
        return result.returned is not None or rule.silence or (rule.null and NULL in result.asked)

    def _failed(self, fold: Fold, result: Result, error: Failure) -> tuple[Fold, Next]:
        text = self._text_of(result, error)
        sentence = self._say(self.words.failed, result.call, self._in_a_line(text))
        if self.fails_closed:
            return replace(fold, failure=sentence), Next.FAIL
        line = LogLine("error", self.words.prefix + sentence)
        answer = fold.answer
        if self.rule is not None and self.rule.failed is not None:
            answer = self.rule.failed(answer, self._told(fold, result, text))
        return replace(fold, answer=answer, log=(*fold.log, line)), Next.GO

    def _text_of(self, result: Result, error: Failure) -> str:
        """What the host says of an error; of a limit, how long it was."""
        if result.status == "timeout" and error.phase == "run" and result.call.limit:
            return f"timed out after {result.call.limit * 1000:g}ms"
        if self.way == SYNCHRONOUS and result.status == "error":
            return f"{error.type}: {error.own_text}"
        return error.own_text

    def _in_a_line(self, text: str) -> str:
        """As the host logs it. What a synchronous hook threw it tells as it is."""
        if self.words.longest and self.way != SYNCHRONOUS:
            return " ".join(text.split())[: self.words.longest] or "unknown error"
        return text

    def _told(self, fold: Fold, result: Result, value: object) -> Told:
        return Told(value, result.call.name, fold.event[EVENT], result.call.options)

    def _say(self, template: str, call: Registration | None = None, text: str = "") -> str:
        return template.format(hook=self.hook, plugin=call.name if call else "", text=text)

    def finish(self, fold: Fold) -> Ending:
        answer = None
        if self.rule is not None and fold.failure is None:
            answer = self.rule.finish(fold.answer, bool(fold.by), fold.taken > 0)
        changed = _changes(self._begun(), answer or {})
        return Ending(
            answer=answer,
            failure=fold.failure,
            log=fold.log,
            verdict=verdict_of(self.way, answer, changed, fold.by, fold.failure),
            context=self._afterwards(fold.event),
        )

    def _afterwards(self, view: Mapping[str, Any]) -> Payload:
        """The event without the members of `ctx` that were only laid beside its own."""
        event, ctx = view[EVENT], view[CTX]
        if not isinstance(event, Mapping):
            return {}
        lent = [name for name in ctx if self.one_object and name not in self.payload]
        return {name: value for name, value in event.items() if name not in lent or value != ctx[name]}


def copy_of(event: Mapping[str, Any]) -> dict[str, Any] | None:
    """A copy that shares nothing with the event; None where something in it cannot be copied."""
    try:
        return own_copy(event)
    except Exception:  # whatever a stranger's `__deepcopy__` raises
        return None


def _changes(before: Answer, after: Answer) -> list[str]:
    return [name for name, value in after.items() if name not in before or before[name] != value]
