"""Stream hooks: modules that receive an agent's stream. `StreamSystem` combines the rules of a dialect."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from hookscope.hosts.streams.module_folders import AgentLayout, FileRules
from hookscope.hosts.streams.session_rules import SessionRules
from hookscope.hosts.streams.stream_policy import (
    OUTSIDE,
    ContextRule,
    FailureRule,
    StreamPolicy,
    event_problems,
    stamped_event,
    stream_call_groups,
)
from hookscope.model.event_catalogue import ALL_EVENTS, Catalogue
from hookscope.model.hook import Folder, Hook, Problem
from hookscope.model.hook_status import FoundHooks, Gate, Ranking
from hookscope.model.host import Arrangement, Dialect, Host
from hookscope.model.run import Event, EventKind, Policy, Registration
from hookscope.values import dataclass

__all__ = [
    "OUTSIDE",
    "AgentLayout",
    "ContextRule",
    "FailureRule",
    "FileRules",
    "StreamSystem",
    "event_problems",
    "stream_system_of",
]


@dataclass(frozen=True, slots=True)
class StreamSystem:
    """Modules that subscribe to a stream, under the rules of one dialect. Implements `HookSystem`."""

    failure_rule: FailureRule
    context_rule: ContextRule
    file_rules: FileRules
    unreachable_events: Mapping[str, str] = field(default_factory=dict)  # event type → why it reaches no hook
    session_rules: SessionRules | None = None  # the session rules of this version
    marks_python: bool = False  # whether Python modules are marked as not run by the host
    catalogue: Callable[[], Catalogue] = Catalogue  # set by the dialect

    @property
    def kind(self) -> EventKind:
        return "stream"

    def folders(self, host: Host) -> tuple[tuple[Folder, ...], tuple[Problem, ...]]:
        from hookscope.hosts.streams.stream_discovery import project_folders  # here and below: rarely used

        return project_folders(host, self.file_rules), ()

    def find(self, host: Host) -> FoundHooks:
        from hookscope.hosts.streams.stream_discovery import find_stream_hooks

        return find_stream_hooks(host, self.file_rules, marks_python=self.marks_python)

    def rank(self, found: FoundHooks) -> Ranking:
        """Return all hooks as winners: `find` rejects modules with the same slug (eve 06)."""
        return Ranking(found.hooks, found.hooks)

    def gates(self, hook: Hook, host: Host) -> tuple[Gate, ...]:
        from hookscope.hosts.streams.stream_discovery import stream_gates_of

        return stream_gates_of(hook, host)

    def keys(self, event: Event) -> tuple[str, ...]:
        return event.type, ALL_EVENTS

    def arrange(self, event: Event, registrations: Sequence[Registration]) -> Arrangement:
        return stream_call_groups(event, registrations, self.unreachable_events)

    def plan_key(self, event: Event) -> None:
        """Return None: any part of the event may decide which hooks are called."""

    def prepare(self, event: Event, host: Host, entropy: bytes) -> Event:
        return stamped_event(event, host, entropy, self.context_rule)

    def policy(self, event: Event) -> Policy:
        event_type = self.catalogue().by_key.get(event.type)
        return StreamPolicy(
            self.failure_rule,
            cancellable=event_type is not None and event_type.cancellable,
            shows_envelope=self.context_rule.shows_envelope,
            ctx_methods=self.context_rule.ctx_methods,
            omits_data=event.type in self.context_rule.dataless_events and not event.context,
        )


def stream_system_of(dialect: Dialect) -> StreamSystem:
    """Return a dialect's stream system, to derive another version. Raises LookupError if it has none."""
    system = dialect.system_of("stream")
    if not isinstance(system, StreamSystem):
        raise LookupError(f"{dialect.name} has no stream hooks")
    return system
