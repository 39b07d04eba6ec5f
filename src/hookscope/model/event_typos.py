"""Event names that a host never sends: the reason, and what to write instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hookscope.formats.yaml12 import read_yaml
from hookscope.model.event_catalogue import Catalogue, EventTypo
from hookscope.model.hook import Hook
from hookscope.model.host import Host
from hookscope.model.run import EventKind
from hookscope.model.text import closest_match
from hookscope.model.uncalled_hooks import event_kind
from hookscope.values import dataclass

NO_TYPO = EventTypo()
PLUGIN_NAME_HINT = "names with `_` are plugin events, which no HOOK.md hook receives"
MOST_LISTED = 3  # events listed in one line


@dataclass(frozen=True, slots=True)
class UnsentEvent:
    """An event that a hook subscribes to and never receives."""

    key: str
    known: bool  # whether the host documents it
    why: str = ""  # a clause that explains the name
    instead: tuple[str, ...] = ()  # sent events to write instead
    near: tuple[str, ...] = ()  # similar sent events
    plugin: tuple[str, ...] = ()  # keys for plugins
    other_dialect: str = ""  # another version's dialect that sends it

    @property
    def advice(self) -> str:
        """What to write instead; empty if nothing is known."""
        if self.other_dialect:
            return f"`--dialect {self.other_dialect}` uses that version's rules."
        if self.instead:
            return f"Write `{'` or `'.join(self.instead)}`."
        if self.near:
            return f"The closest match is `{'` or `'.join(self.near)}`."
        if self.plugin:
            return f"Only a plugin receives it, as `{'` or `'.join(self.plugin)}`."
        return ""


def read_event_typos(source: bytes) -> Mapping[str, EventTypo]:
    """Read the typos from a YAML file. Raises TypeError for an unknown member: the file is ours."""
    document = read_yaml(source)
    assert isinstance(document, dict)
    return {name: _read_typo(entry) for name, entry in document.items()}


def _read_typo(entry: dict[str, Any]) -> EventTypo:
    parts: dict[str, Any] = {key: value if key == "why" else tuple(value) for key, value in entry.items()}
    return EventTypo(**parts)


def typo_entry(key: str, typos: Mapping[str, EventTypo]) -> EventTypo | None:
    """Return the entry of a name, else of its type."""
    return typos.get(key) or typos.get(f"{key.partition(':')[0]}:*")


def unsent_event(key: str, kind: EventKind, catalogue: Catalogue) -> UnsentEvent:
    """Return why a key never reaches a subscriber of this kind, and what to write instead."""
    typo = typo_entry(key, catalogue.typos())
    listed_typo = typo or NO_TYPO
    instead, near = (
        _only_sent(listed_typo.instead, kind, catalogue),
        _only_sent(listed_typo.near, kind, catalogue),
    )
    if other := catalogue.other_dialect_of(key):
        return UnsentEvent(key, False, f"{other} has it", other_dialect=other)
    known = catalogue.by_key.get(catalogue.registry_key(key))
    if (
        known is None
        and kind == "plugin"
        and catalogue.sends(canonical_key := catalogue.canonical(key), kind)
    ):
        return UnsentEvent(key, False, "names of plugin events have `_`", (canonical_key,))
    if known is not None and known.kind == kind:
        return UnsentEvent(key, True, listed_typo.why, instead, near)
    family = key.removesuffix(":*")
    if kind == "folder" and family != key and catalogue.sends(family, kind):
        why = "there are no wildcards; a type alone includes all of its events"
        return UnsentEvent(key, False, why, (family,))
    if known is not None and known.kind == "plugin":
        return UnsentEvent(key, False, "only plugins receive it", instead, near, (known.key,))
    sent = [known for known in sorted(catalogue.keys_of(kind)) if catalogue.sends(known, kind)]
    if (new_key := catalogue.renamed.get(key)) in sent:
        return UnsentEvent(key, False, "", (new_key,))
    if typo is not None:
        plugin = tuple(name for name in listed_typo.plugin if name in catalogue.keys_of("plugin"))
        return UnsentEvent(key, False, listed_typo.why, instead, near, plugin)
    closest = closest_match(key, sent)
    is_plugin_name = kind == "folder" and "_" in key and ":" not in key and not closest
    return UnsentEvent(key, False, PLUGIN_NAME_HINT if is_plugin_name else "", (closest,) if closest else ())


def _only_sent(keys: tuple[str, ...], kind: EventKind, catalogue: Catalogue) -> tuple[str, ...]:
    known = catalogue.keys_of(kind)
    return tuple(key for key in keys if key in known and catalogue.sends(key, kind))


def never_sent_reason(hook: Hook, host: Host) -> str:
    """Return why a hook with at least one event receives none of them, and what to write instead."""
    keys, catalogue = hook.meta.events or (), host.dialect.catalogue()
    keys_by_ending: dict[str, list[str]] = {}
    for key in keys:
        keys_by_ending.setdefault(
            _sentence_end(unsent_event(key, key_kind(key, hook), catalogue), hook, host), []
        ).append(key)
    clauses = [f"{' or '.join(group)}{tail}" for tail, group in keys_by_ending.items()]
    return f"{host.dialect.product} never sends {'; nor '.join(clauses)}{_list_of_sent(hook, host, clauses)}"


def _list_of_sent(hook: Hook, host: Host, clauses: list[str]) -> str:
    """List the events of a host that sends few, if there is no other advice."""
    kind = event_kind(hook)
    sent = [event.key for event in host.dialect.catalogue().events if event.kind == kind and event.emitted]
    listable = [key for key in sent if kind != "folder" or ":" in key]
    has_no_advice = clauses == [" or ".join(hook.meta.events or ())]
    return (
        f"; it sends only {' and '.join(listable)}"
        if has_no_advice and 0 < len(listable) <= MOST_LISTED
        else ""
    )


def key_kind(key: str, hook: Hook) -> EventKind:
    """Return the kind of the event `key` to which this hook subscribes."""
    return "folder" if key in hook.meta.folder_events else event_kind(hook)


def _sentence_end(unsent: UnsentEvent, hook: Hook, host: Host) -> str:
    kind, known = key_kind(unsent.key, hook), host.dialect.catalogue().find(unsent.key)
    if known is None or known.kind == kind:
        return replacement_hint(unsent)
    if unsent.key in hook.meta.folder_events:
        return " to handlers of `registerHook`: register it with `on`"
    if kind == "plugin" and host.dialect.load_rules.plugins_use_folder_events:
        return " to handlers of `on`: register it with `registerHook`"
    if kind == "folder":
        return replacement_hint(
            replace(unsent, why="", plugin=()), " to a HOOK.md hook: only plugins receive it"
        )
    return replacement_hint(unsent)


def replacement_hint(unsent: UnsentEvent, prefix: str = "") -> str:
    """Return the end of a sentence on an unsent event: what it is, and what to write instead."""
    why = prefix + (f": {unsent.why}" if unsent.why else "")
    if unsent.instead:
        return f"{why}; did you mean {' or '.join(unsent.instead)}?"
    if unsent.near:
        return f"{why}; the closest match is {' or '.join(unsent.near)}"
    if unsent.plugin:
        return f"{why}; a plugin receives it as {' or '.join(unsent.plugin)}"
    return why
