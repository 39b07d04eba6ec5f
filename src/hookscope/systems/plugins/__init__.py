"""Hooks of plugins: code that registers handlers for the steps of an agent's work.

The way: discovery (which folders are plugins, which handlers the settings map) → ranking (who wins an id) →
gates → arrange (order, filters, limits) → policy (what the answers come to). `PluginSystem` puts the chosen
functions together; dialects make one each.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hookscope.core.dialect import Arranged, Host
from hookscope.core.event_types import Catalogue, EventType
from hookscope.core.hooks import Folder, Hook, Problem
from hookscope.core.inventory import Found, Ranking
from hookscope.core.runs import Event, EventKind, Policy, Registration
from hookscope.core.standing import Gate
from hookscope.systems.folders.gates import GateRule
from hookscope.systems.plugins.arrange import Order, arranged, values_that_filter
from hookscope.systems.plugins.discovery import PluginShape, find_plugins
from hookscope.systems.plugins.installed import installed_hooks
from hookscope.systems.plugins.mapping import Mappings, mapped_hooks
from hookscope.systems.plugins.policy import PluginPolicy, Words, copy_of
from hookscope.systems.plugins.ranking import ranking_of_plugins
from hookscope.systems.plugins.refused_settings import problems_of
from hookscope.systems.plugins.rules import MergeRule
from hookscope.systems.plugins.schemas import Issue
from hookscope.systems.plugins.verdicts import OBSERVE
from hookscope.values import dataclass

Places = Callable[[Host], tuple[tuple[Folder, ...], tuple[Problem, ...]]]
RefusedBy = Callable[[Found, Host], tuple[Issue, ...]]


@dataclass(frozen=True, slots=True)
class PluginSystem:
    """Plugin hooks under one dialect's rules. Implements core's System."""

    shape: PluginShape
    places: Places
    mappings: Mappings
    gate_rules: Mapping[str, GateRule]  # name → check, in the order of showing
    order: Order
    rules: Mapping[str, MergeRule]  # hook → how its answers add up; none: they are ignored
    catalogue: Callable[[], Catalogue]
    apart: frozenset[str] = frozenset()  # hooks of which each handler gets a copy of the event of its own
    frozen: frozenset[str] = frozenset()  # of those, hooks whose handlers cannot change it
    fails_closed: frozenset[str] = frozenset()
    one_object: bool = False  # see PluginPolicy
    words: Words = Words()
    refuses: RefusedBy | None = None  # what in the plugins makes the host refuse its settings

    @property
    def kind(self) -> EventKind:
        return "plugin"

    def folders(self, host: Host) -> tuple[tuple[Folder, ...], tuple[Problem, ...]]:
        return self.places(host)

    def find(self, host: Host) -> Found:
        plugins = self._plugins(host)
        mapped = mapped_hooks(host, self.mappings)
        return Found(
            hooks=plugins.hooks + installed_hooks(host) + mapped.hooks,
            rejected=plugins.rejected + mapped.rejected,
            problems=plugins.problems + mapped.problems + problems_of(self.refused(host), host),
        )

    def _plugins(self, host: Host) -> Found:
        """Looked for once: hooks of other kinds ask for them too."""
        key = (find_plugins, self.kind)
        if key not in host.known:
            host.known[key] = find_plugins(host, self.shape)
        found: Found = host.known[key]
        return found

    def refused(self, host: Host) -> tuple[Issue, ...]:
        """Why the host refuses its settings, where they say something to a plugin that it does not take."""
        if self.refuses is None or host.settings.refusal:
            return ()
        key = (self.refuses, self.kind)
        if key not in host.known:
            host.known[key] = self.refuses(self._plugins(host), host)
        issues: tuple[Issue, ...] = host.known[key]
        return issues

    def rank(self, found: Found) -> Ranking:
        return ranking_of_plugins(found)

    def gates(self, hook: Hook, host: Host) -> tuple[Gate, ...]:
        return tuple(rule(hook, host) for rule in self.gate_rules.values())

    def keys(self, event: Event) -> tuple[str, ...]:
        return (self._name(event),)

    def arrange(self, event: Event, heard: Sequence[Registration]) -> Arranged:
        event = self._named(event)
        if event.type in self.apart and copy_of(event.context) is None:
            return Arranged(())  # the policy says that it failed
        return arranged(event, heard, self._known(event), self.order)

    def decisive(self, event: Event) -> tuple[object, ...]:
        """What `arrange` looks at, and the name as it was written."""
        named = self._named(event)
        is_copied = named.type not in self.apart or copy_of(event.context) is not None
        return event.type, event.action, is_copied, *values_that_filter(named)

    def prepare(self, event: Event, host: Host, entropy: bytes) -> Event:
        """The host's own spelling, and in `ctx` what is known here of what the host would say.

        That stands in the place of an example; what somebody else has written stays.
        """
        event = self._named(event)
        known = self._known(event)
        example = known.ctx if known is not None else {}
        facts = _known_here(event, host, example)
        own = {
            name: value for name, value in event.ctx.items() if name not in facts or value != example[name]
        }
        return replace(event, ctx={**event.ctx, **facts, **own})

    def policy(self, event: Event) -> Policy:
        name, known = self._name(event), self._known(event)
        return PluginPolicy(
            hook=name,
            way=known.policy if known is not None else OBSERVE,
            payload=event.context,
            rule=self.rules.get(name),
            apart=name in self.apart,
            frozen=name in self.frozen,
            fails_closed=name in self.fails_closed,
            one_object=self.one_object,
            words=self.words,
        )

    def _name(self, event: Event) -> str:
        return self.catalogue().canonical(event.type)

    def _named(self, event: Event) -> Event:
        name = self._name(event)
        return event if name == event.type else replace(event, type=name)

    def _known(self, event: Event) -> EventType | None:
        return self.catalogue().by_key.get(self._name(event))


def _known_here(event: Event, host: Host, example: Mapping[str, Any]) -> dict[str, Any]:
    """Of the members that this hook's `ctx` has: those that need no guessing."""
    facts = {
        "sessionKey": event.session_key or None,
        "workspaceDir": str(host.workspace),
        "toolName": event.context.get("toolName"),
        "toolCallId": event.context.get("toolCallId"),
        "runId": event.context.get("runId"),
        "args": event.context.get("params"),
        "result": event.context.get("result"),
        "direction": example.get("direction"),
    }
    return {name: facts[name] for name in example if facts.get(name) is not None}
