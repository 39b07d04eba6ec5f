"""Which handlers of a plugin hook are called, in which order and time limit; why others are not."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from hookscope.formats.script_values import script_trim
from hookscope.hosts.plugins.plugin_policy import EVALUATE, OBSERVE
from hookscope.model.event_catalogue import EventType
from hookscope.model.host import Arrangement
from hookscope.model.run import CallGroup, Event, NotRun, Registration
from hookscope.values import dataclass

MAX_TIMEOUT = 600.0  # seconds; the longest limit (rules-openclaw section 6)
OWNED_EVENT = "inbound_claim"  # goes only to the plugin that owns the conversation
Order = Literal["higher first", "lower first"]


@dataclass(frozen=True, slots=True)
class RegistrationFilter:
    """An option of a registration that selects events of a hook."""

    option: str
    events: frozenset[str]
    member: str  # of the event, else of its `ctx`
    allowed_values: frozenset[str] = (
        frozenset()
    )  # possible values; empty: any. A list with another value is ignored
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
    event: Event, registrations: Iterable[Registration], event_type: EventType | None, order: Order
) -> Arrangement:
    """Group the handlers: observers and evaluators run concurrently, all others one by one."""
    excluded, calls = [], []
    for call in by_priority(registrations, order):
        reason = skip_reason(event, call)
        if reason:
            excluded.append(NotRun(call.name, reason, call.hook))
        else:
            calls.append(with_time_limit(call, event_type))
    together = event_type is None or event_type.policy in (OBSERVE, EVALUATE)
    groups = (CallGroup(tuple(calls), concurrent=together),) if calls else ()
    return Arrangement(groups, tuple(excluded))


def by_priority(registrations: Iterable[Registration], order: Order) -> list[Registration]:
    """Sort by priority, then in order of registration (plug-01; guide 003: lower numbers first)."""
    sign = -1 if order == "higher first" else 1
    return sorted(registrations, key=lambda call: sign * call.priority)


def with_time_limit(call: Registration, event_type: EventType | None) -> Registration:
    """Return the call with the host's limit for this hook if it has none, capped at the host's maximum."""
    limit = call.limit
    if limit is None and event_type is not None:
        limit = event_type.limit
    if limit is not None:
        limit = min(limit, MAX_TIMEOUT)
    return call if limit == call.limit else replace(call, limit=limit, limit_source="the host's rules")


def skip_reason(event: Event, call: Registration) -> str:
    """Return why the host skips this registration for this event; empty if it does not."""
    exclusion = call.hook.meta.excluded_events.get(call.key) if call.hook is not None else None
    if exclusion:
        return exclusion
    if call.options.get("requiresToolAuthority") is True:
        return "requiresToolAuthority: it runs only after the turn's tools are settled"
    if event.type == OWNED_EVENT and (owner := _owner(event)) not in ("", call.name):
        return f"the conversation belongs to {owner}"
    for rule in REGISTRATION_FILTERS:
        if event.type in rule.events and (reason := _filter_mismatch(event, call.options, rule)):
            return reason
    return ""


def filter_values(event: Event) -> tuple[str, ...]:
    """Return the parts of an event, beside its name, that `skip_reason` depends on."""
    owner = (_owner(event),) if event.type == OWNED_EVENT else ()
    return (
        *owner,
        *(_filter_value(event, rule) for rule in REGISTRATION_FILTERS if event.type in rule.events),
    )


def _filter_value(event: Event, rule: RegistrationFilter) -> str:
    """Return the event's value for a filter; empty if it has none."""
    value = event.context.get(rule.member, event.ctx.get(rule.member))
    return value if isinstance(value, str) else ""


def _owner(event: Event) -> str:
    """Return the plugin that owns the conversation; empty if the event does not say."""
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
    found = f"this event's is {value}" if value else "this event names none"
    return f"{rule.option} is {', '.join(accepted)}; {found}"


def _is_among(value: str, names: Sequence[str], ignores_case: bool) -> bool:
    return script_trim(value).lower() in map(str.lower, names) if ignores_case else value in names


def _names(value: object) -> Sequence[str]:
    items = [value] if isinstance(value, str) else value if isinstance(value, list | tuple) else []
    return [item.strip() for item in items if isinstance(item, str) and item.strip()]
