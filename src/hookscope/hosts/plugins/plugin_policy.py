"""The policy of plugin hooks: call the handlers, keep or ignore their changes, sum up the result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import field, replace
from typing import Any, Literal

from hookscope.formats.script_values import script_trim
from hookscope.hosts.plugins.merge_rules import Answer, HandlerAnswer, MergeRule, Payload
from hookscope.model.event_catalogue import EventType
from hookscope.model.failure import Failure
from hookscope.model.handler_arguments import frozen
from hookscope.model.hook import LogLine
from hookscope.model.host import Arrangement
from hookscope.model.payload import (
    CTX,
    EVENT,
    NULL,
    PROMISE,
    REQUESTS,
    Arguments,
    independent_copy,
    make_arguments,
)
from hookscope.model.run import (
    CallGroup,
    Code,
    Ending,
    Event,
    Fold,
    Next,
    NotRun,
    Patch,
    Registration,
    Result,
)
from hookscope.model.text import one_line
from hookscope.values import dataclass

MAX_TIMEOUT = 600.0  # seconds; the longest limit that the host accepts
OWNED_EVENT = "inbound_claim"  # goes only to the plugin that owns the conversation
COPIED_MEMBER = {"reply_payload_sending": "payload"}  # the host copies it for each handler
Order = Literal["higher first", "lower first"]


@dataclass(frozen=True, slots=True)
class RegistrationFilter:
    """An option of a registration that selects events of a hook."""

    option: str
    events: frozenset[str]
    member: str  # of the event, else of its `ctx`
    allowed_values: frozenset[str] = frozenset()  # empty: any; an option with another value is ignored
    requires_value: bool = False  # whether the handler is skipped if the event has no value
    ignores_case: bool = False  # whether `Read` matches `read`


REGISTRATION_FILTERS = (
    RegistrationFilter(
        "matcher", frozenset({"before_tool_call", "after_tool_call"}), "toolName", ignores_case=True
    ),
    RegistrationFilter(
        "eligibleTriggers",
        frozenset({"before_agent_reply"}),
        "trigger",
        frozenset({"cron", "heartbeat", "user"}),
        requires_value=True,
    ),
    RegistrationFilter(
        "eligibleDispatchKinds", frozenset({"reply_dispatch"}), "dispatchKind", frozenset({"agent", "acp"})
    ),
)


def plugin_call_groups(
    event: Event,
    registrations: Iterable[Registration],
    event_type: EventType | None,
    order: Order,
    ignored_options: frozenset[str],
) -> Arrangement:
    """Group the handlers: observers and evaluators run concurrently, all others one by one."""
    excluded, calls = [], []
    for call in by_priority(registrations, order):
        call = without_options(call, ignored_options)
        reason = skip_reason(event, call)
        if reason:
            excluded.append(NotRun(call.name, reason, call.hook))
        else:
            calls.append(with_time_limit(call, event_type))
    together = event_type is None or event_type.policy in (OBSERVE, EVALUATE)
    groups = (CallGroup(tuple(calls), concurrent=together),) if calls else ()
    return Arrangement(groups, tuple(excluded))


def by_priority(registrations: Iterable[Registration], order: Order) -> list[Registration]:
    """Sort by priority, then in order of registration (plug-01; in the plugin guide, lower first)."""
    sign = -1 if order == "higher first" else 1
    return sorted(registrations, key=lambda call: sign * call.priority)


def without_options(call: Registration, names: frozenset[str]) -> Registration:
    """Return the call without these options of its registration, which the host ignores."""
    if not names:
        return call
    kept = {name: value for name, value in call.options.items() if name not in names}
    return replace(call, options=kept, limit=None if "timeoutMs" in names else call.limit)


def with_time_limit(call: Registration, event_type: EventType | None) -> Registration:
    """Return the call with its own limit, else the host's for this hook, capped at the host's maximum."""
    limit = call.limit
    if limit is None and event_type is not None:
        limit = event_type.limit
    if limit is not None:
        limit = min(limit, MAX_TIMEOUT)
    return call if limit == call.limit else replace(call, limit=limit, limit_source="the host's rules")


def skip_reason(event: Event, call: Registration) -> str:
    """Return why the host skips this registration for this event; empty if it calls the handler."""
    exclusion = call.hook.meta.excluded_events.get(call.key) if call.hook is not None else None
    if exclusion:
        return exclusion
    if call.options.get("requiresToolAuthority") is True:
        return "requiresToolAuthority: the handler runs only after the turn's tools are settled"
    if _lacks_copied_member(event):
        return f"the event has no {COPIED_MEMBER[event.type]}: the host fails before it calls the handler"
    if event.type == OWNED_EVENT and (owner := _owner(event)) not in ("", call.name):
        return f"the conversation belongs to {owner}"
    for rule in REGISTRATION_FILTERS:
        if event.type in rule.events and (reason := _filter_mismatch(event, call.options, rule)):
            return reason
    return ""


def filter_values(event: Event) -> tuple[str, ...]:
    """Return the parts of an event, other than its name, that `skip_reason` depends on."""
    owner = (_owner(event),) if event.type == OWNED_EVENT else ()
    return (
        *owner,
        str(_lacks_copied_member(event)),
        *(_filter_value(event, rule) for rule in REGISTRATION_FILTERS if event.type in rule.events),
    )


def _lacks_copied_member(event: Event) -> bool:
    name = COPIED_MEMBER.get(event.type)
    return name is not None and event.context.get(name) is None


def _filter_value(event: Event, rule: RegistrationFilter) -> str:
    value = event.context.get(rule.member, event.ctx.get(rule.member))
    return value if isinstance(value, str) else ""


def _owner(event: Event) -> str:
    """Return the plugin that owns the conversation; empty if the event does not name it."""
    binding = event.ctx.get("pluginBinding")
    owner = binding.get("pluginId") if isinstance(binding, Mapping) else None
    return owner if isinstance(owner, str) else ""


def _filter_mismatch(event: Event, options: Mapping[str, Any], rule: RegistrationFilter) -> str:
    accepted = _names(options.get(rule.option))
    if not accepted or (rule.allowed_values and not rule.allowed_values.issuperset(accepted)):
        return ""
    value = _filter_value(event, rule)
    if _is_among(value, accepted, rule.ignores_case) if value else not rule.requires_value:
        return ""
    found = f"this event's {rule.member} is {value}" if value else f"this event has no {rule.member}"
    return f"{rule.option} is {', '.join(accepted)}; {found}"


def _is_among(value: str, names: Sequence[str], ignores_case: bool) -> bool:
    return script_trim(value).lower() in map(str.lower, names) if ignores_case else value in names


def _names(value: object) -> Sequence[str]:
    items = [value] if isinstance(value, str) else value if isinstance(value, list | tuple) else []
    return [item.strip() for item in items if isinstance(item, str) and item.strip()]


def ignored_changes(
    hook: str, rule: MergeRule | None, payload: Payload, result: Result, *, isolated: bool
) -> Iterator[str]:
    """Yield a sentence for each changed member that the host reads only from the returned answer.

    A nested change is reported only if the host passes copies; otherwise it may take effect. Members that
    the handler adds are not reported.
    """
    returned = result.returned if isinstance(result.returned, Mapping) else {}
    seen: set[str] = set()
    for name, is_deep in _changed_members(result.patch):
        is_ignored = not is_deep or (rule is not None and (isolated or name in rule.copied_members))
        if name in seen or name in returned or not is_ignored:
            continue
        seen.add(name)
        prefix = f"the handler's change to event.{one_line(name, 60)} has no effect"
        if rule is not None and name in rule.answer_members:
            yield f"{prefix}: return {{ {name} }}, because the host reads only the return value"
        elif name in payload and rule is not None:
            yield f"{prefix}: only the return value counts"
        elif name in payload:
            yield f"{prefix}: {hook} only notifies its handlers"


def _changed_members(patch: Patch) -> Iterator[tuple[str, bool]]:
    """Yield the event members that a patch changes, and whether the change is nested."""
    for step in patch:
        _, name, *deeper = (*str(step.get("path")).split("/"), "")
        yield _plain(name), len(deeper) > 1


def with_kept_changes(event: Mapping[str, Any], rule: MergeRule, result: Result) -> Mapping[str, Any]:
    """Return the event with the changes that the handler made inside the rule's `kept_members`.

    Only changes of a worker are applied: a handler in this process has changed the event already.
    """
    inside = tuple(f"/{name}/" for name in rule.kept_members)
    steps = [step for step in result.patch if str(step.get("path")).startswith(inside)]
    if not steps or not isinstance(result.call.target, Code):
        return event
    kept = {name: deepcopy(event[name]) for name in rule.kept_members if name in event}
    for step in steps:
        _apply_step(kept, [_plain(part) for part in str(step["path"]).split("/")[1:]], step)
    return {**event, **kept}


def _apply_step(value: Any, path: list[str], step: Mapping[str, Any]) -> None:
    """Apply one step of a patch to `value`. Skip a step that cannot be applied."""
    *above, last = path
    try:
        for part in above:
            value = value[int(part)] if isinstance(value, list) else value[part]
        if isinstance(value, list):
            place = len(value) if last == "-" else int(last)
            value[place : place + (step["op"] != "add")] = [] if step["op"] == "remove" else [step["value"]]
        elif step["op"] == "remove":
            del value[last]
        else:
            value[last] = step["value"]
    except (LookupError, TypeError, ValueError):
        return


def _plain(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")


OBSERVE, CLAIM, EVALUATE = "observe", "claim", "evaluate"


def result_sentence(
    mode: str,
    answer: Answer | None,
    changed: Sequence[str],
    answered_by: Sequence[str],
    failure: str | None = None,
) -> str:
    """Return the outcome in one line; empty for observers, whose answers are ignored.

    `mode` is the event's policy by name; `changed` are the answer members that handlers set,
    `answered_by` the handlers that answered, the last of which may have stopped the event.
    """
    if failure is not None:
        return f"failed closed: {one_line(failure)}"
    if mode == OBSERVE:
        return ""
    last, fields = answered_by[-1] if answered_by else "", answer or {}
    if mode == CLAIM:
        return f"handled by {last}" if last else "not handled"
    if mode == EVALUATE:
        return _evaluated(fields)
    decision = fields.get("decision")
    if isinstance(decision, Mapping):
        blocked = decision.get("outcome") == "block"
        return (
            f"blocked by {fields.get('pluginId')}" + _because(decision.get("reason"))
            if blocked
            else "allowed"
        )
    if fields.get("block") is True or fields.get("blocked") is True:
        return f"blocked by {last}" + _because(fields.get("blockReason"))
    if fields.get("cancel") is True:
        return f"cancelled by {last}" + _because(fields.get("cancelReason") or fields.get("reason"))
    approval = fields.get("requireApproval")
    if isinstance(approval, Mapping):
        return f"approval requested by {approval.get('pluginId')}" + _because(approval.get("title"))
    if "action" in fields:
        return f"{fields['action']}" + _because(fields.get("reason"))
    return f"changed {', '.join(changed)}" if changed else "allowed"


def _because(reason: object) -> str:
    return f": {one_line(reason)}" if isinstance(reason, str) and reason.strip() else ""


def _evaluated(answer: Answer) -> str:
    outcomes = [outcome for items in answer.values() for outcome in items]
    vetoes = [
        f"{outcome['evaluatorId']}"
        for outcome in outcomes
        if isinstance(outcome.get("result"), Mapping) and outcome["result"].get("decision") == "block"
    ]
    if vetoes:
        return f"blocked by {', '.join(vetoes)}"
    failed = sum(outcome["status"] == "error" for outcome in outcomes)
    return f"evaluated by {len(outcomes)}" + (f", {failed} failed" if failed else "")


SYNCHRONOUS = "synchronous"


@dataclass(frozen=True, slots=True)
class PluginTexts:
    """The host's own sentences, with the placeholders {hook}, {plugin} and {text}."""

    failed: str = "[hooks] {hook} handler from {plugin} failed: {text}"
    returned_promise: str = (
        "[hooks] {hook} handler from {plugin} returned a Promise; "
        "this hook is synchronous and the result was ignored."
    )
    not_isolated: str = "[hooks] {hook} mutable input isolation failed"
    prefix: str = "[plugins] "  # for logged lines, not for thrown errors
    max_length: int = 0  # characters of {text}, which is then on one line; 0: unchanged
    names_type: bool = False  # whether {text} begins with the type of the error; at synchronous hooks it does


@dataclass(frozen=True, slots=True)
class PluginPolicy:
    """How the handlers of one plugin hook are called, and how their answers are merged.

    Source: plug-01 to plug-04; OpenClaw's guide, section 8.
    """

    hook: str  # the event's name
    mode: str  # observe, modify, gate, claim, synchronous, evaluate
    payload: Payload = field(default_factory=dict)  # of the event as fired
    merge_rule: MergeRule | None = None  # None: answers are ignored
    isolated: bool = False  # every handler gets its own copy of the event
    frozen: bool = False  # the copy is read-only: a change throws
    fails_closed: bool = False
    merges_ctx: bool = False  # the event argument has the members of `ctx` too, as in the plugin guide
    copies_run_id: bool = False  # an event without `runId` has that of `ctx`
    texts: PluginTexts = PluginTexts()
    batched: bool = False  # a handler may stop the calls

    def start(self, event: Event) -> Fold:
        copy = isolated_payload(event.context)
        failure = self._format(self.texts.not_isolated) if copy is None and self.isolated else None
        payload = dict(event.context) if copy is None else copy
        members = {**event.ctx, **payload} if self.merges_ctx else payload
        if self.copies_run_id and event.ctx.get("runId") and not members.get("runId"):
            members = {**members, "runId": event.ctx["runId"]}
        nulls = self.merge_rule is not None and self.merge_rule.accepts_null
        arguments = make_arguments(members, event.ctx, sync=self.mode == SYNCHRONOUS, nulls=nulls)
        return Fold(arguments, answer=self._initial_answer(), failure=failure)

    def _initial_answer(self) -> Answer:
        return self.merge_rule.start(self.payload) if self.merge_rule is not None else {}

    def view(self, fold: Fold, call: Registration) -> Any:
        """Return the arguments of a handler.

        Handlers that run one by one share the arguments, and so see each other's changes. If the host
        makes an event for each handler, a handler gets its own.
        """
        event, ctx = fold.event[EVENT], fold.event[CTX]
        if self.isolated:
            own = isolated_payload(event)
            return make_arguments(frozen(own) if self.frozen else own, ctx, frozen=self.frozen)
        if self.merge_rule is None:
            return make_arguments(event, ctx)
        if self.merge_rule.separate_events and isinstance(event, Mapping):
            own = (
                isolated_payload(
                    {name: event[name] for name in self.merge_rule.separate_members if name in event}
                )
                or {}
            )
            return Arguments({**fold.event, EVENT: {**event, **own}, REQUESTS: []})
        return fold.event

    def ignored_change_notes(self, result: Result) -> tuple[str, ...]:
        """Return a sentence for each change that the host ignores."""
        return tuple(
            ignored_changes(self.hook, self.merge_rule, self.payload, result, isolated=self.isolated)
        )

    def take(self, fold: Fold, result: Result) -> tuple[Fold, Next]:
        result = _without_removed_fields(result)
        if self.merge_rule is not None and self.merge_rule.kept_members and result.patch:
            fold = self._with_kept_members(fold, result, self.merge_rule)
        if result.error is not None:
            return self._after_failure(
                replace(fold, result_count=fold.result_count + 1), result, result.error
            )
        if PROMISE in result.asked:
            line = LogLine("warn", self.texts.prefix + self._format(self.texts.returned_promise, result.call))
            return replace(fold, result_count=fold.result_count + 1, log=(*fold.log, line)), Next.GO
        if self.merge_rule is None or not self._is_answer(result, self.merge_rule):
            return replace(fold, result_count=fold.result_count + 1), Next.GO
        merged = self.merge_rule.merge(fold.answer, self._handler_answer(fold, result, result.returned))
        if merged.failure:
            failure = Failure("TypeError", merged.failure, phase="run")
            return self._after_failure(replace(fold, result_count=fold.result_count + 1), result, failure)
        event = fold.event
        if merged.event_changes:
            event = Arguments({**event, EVENT: {**event[EVENT], **merged.event_changes}})
        by = (*fold.answered_by, result.call.name) if merged.is_answer else fold.answered_by
        # Not with `replace`, which takes three times as long for every handler.
        after = Fold(event, merged.answer, fold.failure, fold.log, fold.follow_ups, by, fold.result_count + 1)
        return after, Next.STOP if merged.stop else Next.GO

    @staticmethod
    def _with_kept_members(fold: Fold, result: Result, rule: MergeRule) -> Fold:
        event = with_kept_changes(fold.event[EVENT], rule, result)
        if event is fold.event[EVENT]:
            return fold
        answer = {
            name: event[name] if name in rule.kept_members else value for name, value in fold.answer.items()
        }
        return replace(fold, event=Arguments({**fold.event, EVENT: event}), answer=answer)

    def _is_answer(self, result: Result, rule: MergeRule) -> bool:
        return (
            result.returned is not None or rule.counts_silence or (rule.accepts_null and NULL in result.asked)
        )

    def _after_failure(self, fold: Fold, result: Result, error: Failure) -> tuple[Fold, Next]:
        text = self._error_text(result, error)
        sentence = self._format(self.texts.failed, result.call, self._log_text(text))
        if self.fails_closed:
            return replace(fold, failure=sentence), Next.FAIL
        line = LogLine("error", self.texts.prefix + sentence)
        answer = fold.answer
        if self.merge_rule is not None and self.merge_rule.on_failure is not None:
            answer = self.merge_rule.on_failure(answer, self._handler_answer(fold, result, text))
        return replace(fold, answer=answer, log=(*fold.log, line)), Next.GO

    def _error_text(self, result: Result, error: Failure) -> str:
        """Return the host's text of an error; after a timeout, it names the limit."""
        if result.status == "timeout" and error.phase == "run" and result.call.limit:
            return f"timed out after {result.call.limit * 1000:g}ms"
        names_type = self.texts.names_type or self.mode == SYNCHRONOUS
        if names_type and result.status == "error" and error.own_text != error.type:
            return f"{error.type}: {error.own_text}"
        return error.own_text

    def _log_text(self, text: str) -> str:
        """Return the error text as the host logs it. Errors of a synchronous hook are logged unchanged."""
        if self.texts.max_length and self.mode != SYNCHRONOUS:
            return " ".join(text.split())[: self.texts.max_length] or "unknown error"
        return text

    def _handler_answer(self, fold: Fold, result: Result, value: object) -> HandlerAnswer:
        return HandlerAnswer(value, result.call.name, fold.event[EVENT], result.call.options)

    def _format(self, template: str, call: Registration | None = None, text: str = "") -> str:
        return template.format(hook=self.hook, plugin=call.name if call else "", text=text)

    def finish(self, fold: Fold) -> Ending:
        answer = None
        if self.merge_rule is not None and fold.failure is None:
            answer = self.merge_rule.finish(fold.answer, bool(fold.answered_by), fold.result_count > 0)
        changed = _changes(self._initial_answer(), answer or {})
        return Ending(
            answer=answer,
            failure=fold.failure,
            log=fold.log,
            verdict=result_sentence(self.mode, answer, changed, fold.answered_by, fold.failure),
            context=self._final_context(fold.event),
        )

    def _final_context(self, arguments: Mapping[str, Any]) -> Payload:
        """Return the event without the members of `ctx` that were merged into it."""
        event, ctx = arguments[EVENT], arguments[CTX]
        if not isinstance(event, Mapping):
            return {}
        added = ctx if self.merges_ctx else ("runId",) if self.copies_run_id else ()
        from_ctx = [name for name in added if name in ctx and name not in self.payload]
        return {name: value for name, value in event.items() if name not in from_ctx or value != ctx[name]}


def _without_removed_fields(result: Result) -> Result:
    """Return the result without the fields that the host removes; with no answer if nothing is left."""
    hook = result.call.hook
    names = hook.meta.removed_fields.get(result.call.key) if hook is not None else None
    if not names or not isinstance(result.returned, Mapping):
        return result
    left = {name: value for name, value in result.returned.items() if name not in names}
    return replace(result, returned=left or None)


def isolated_payload(event: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a deep copy of the event; None if something in it cannot be copied."""
    try:
        return independent_copy(event)
    except Exception:  # a custom `__deepcopy__` may raise anything
        return None


def _changes(before: Answer, after: Answer) -> list[str]:
    return [name for name, value in after.items() if before.get(name) != value]
