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
PLUGIN_NAME_HINT = "names with `_` are of plugins' events, which no HOOK.md hook hears"
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
    elsewhere: str = ""  # another version's dialect that sends it

    @property
    def then(self) -> str:
        """What to write instead; empty if nothing is known."""
        if self.elsewhere:
            return f"`--dialect {self.elsewhere}` takes that version's rules."
        if self.instead:
            return f"Write `{'` or `'.join(self.instead)}`."
        if self.near:
            return f"What comes nearest is `{'` or `'.join(self.near)}`."
        if self.plugin:
            return f"Only a plugin hears of it, as `{'` or `'.join(self.plugin)}`."
        return ""


def read_event_typos(source: bytes) -> Mapping[str, EventTypo]:
    """Read the typos from a YAML file. Raises TypeError for an unknown member: the file is ours."""
    document = read_yaml(source)
    assert isinstance(document, dict)
    return {name: _read_typo(told) for name, told in document.items()}


def _read_typo(told: dict[str, Any]) -> EventTypo:
    parts: dict[str, Any] = {key: value if key == "why" else tuple(value) for key, value in told.items()}
    return EventTypo(**parts)


def typo_entry(key: str, mistaken: Mapping[str, EventTypo]) -> EventTypo | None:
    """Return the entry of a name, else of its type."""
    return mistaken.get(key) or mistaken.get(f"{key.partition(':')[0]}:*")


def unsent_event(key: str, kind: EventKind, catalogue: Catalogue) -> UnsentEvent:
    """Return why a key never reaches a subscriber of this kind, and what to write instead."""
    found = typo_entry(key, catalogue.mistaken())
    listed = found or NO_TYPO
    instead, near = _only_sent(listed.instead, kind, catalogue), _only_sent(listed.near, kind, catalogue)
    if other := catalogue.elsewhere(key):
        return UnsentEvent(key, False, f"{other} has it", elsewhere=other)
    known = catalogue.by_key.get(catalogue.registered(key))
    if known is None and kind == "plugin" and catalogue.sends(spelt := catalogue.canonical(key), kind):
        return UnsentEvent(key, False, "names of plugins' events have `_`", (spelt,))
    if known is not None and known.kind == kind:
        return UnsentEvent(key, True, listed.why, instead, near)
    family = key.removesuffix(":*")
    if kind == "folder" and family != key and catalogue.sends(family, kind):
        return UnsentEvent(key, False, "there are no wildcards; a type alone is all of its events", (family,))
    if known is not None and known.kind == "plugin":
        return UnsentEvent(key, False, "only plugins hear it", instead, near, (known.key,))
    sent = [known for known in sorted(catalogue.keys_of(kind)) if catalogue.sends(known, kind)]
    if (now := catalogue.gone.get(key)) in sent:
        return UnsentEvent(key, False, "", (now,))
    if found is not None:
        plugin = tuple(name for name in listed.plugin if name in catalogue.keys_of("plugin"))
        return UnsentEvent(key, False, listed.why, instead, near, plugin)
    slip = closest_match(key, sent)
    is_plugins = kind == "folder" and "_" in key and ":" not in key and not slip
    return UnsentEvent(key, False, PLUGIN_NAME_HINT if is_plugins else "", (slip,) if slip else ())


def _only_sent(keys: tuple[str, ...], kind: EventKind, catalogue: Catalogue) -> tuple[str, ...]:
    """Return the keys that this host documents and sends."""
    known = catalogue.keys_of(kind)
    return tuple(key for key in keys if key in known and catalogue.sends(key, kind))


def never_sent_reason(hook: Hook, host: Host) -> str:
    """Return why a hook receives none of its events, and what to write instead.

    The hook subscribes to at least one event.
    """
    keys, catalogue = hook.meta.events or (), host.dialect.catalogue()
    tails: dict[str, list[str]] = {}
    for key in keys:
        tails.setdefault(
            _sentence_end(unsent_event(key, _key_kind(key, hook), catalogue), hook, host), []
        ).append(key)
    told = [f"{' or '.join(group)}{tail}" for tail, group in tails.items()]
    return f"{host.dialect.product} never sends {'; nor '.join(told)}{_list_of_sent(hook, host, told)}"


def _list_of_sent(hook: Hook, host: Host, told: list[str]) -> str:
    """List the events of a host that sends few, if there is no other advice."""
    kind = event_kind(hook)
    sent = [event.key for event in host.dialect.catalogue().events if event.kind == kind and event.emitted]
    few = [key for key in sent if kind != "folder" or ":" in key]
    untold = told == [" or ".join(hook.meta.events or ())]
    return f"; it sends {' and '.join(few)} alone" if untold and 0 < len(few) <= MOST_LISTED else ""


def _key_kind(key: str, hook: Hook) -> EventKind:
    return "folder" if key in hook.meta.of_folders else event_kind(hook)


def _sentence_end(one: UnsentEvent, hook: Hook, host: Host) -> str:
    kind, known = _key_kind(one.key, hook), host.dialect.catalogue().find(one.key)
    if known is None or known.kind == kind:
        return replacement_hint(one)
    if one.key in hook.meta.of_folders:
        return " to what `registerHook` registers: `on` hears it"
    if kind == "plugin" and host.dialect.load_rules.crosses:
        return " to what `on` registers: `registerHook` hears it"
    if kind == "folder":
        return replacement_hint(replace(one, why="", plugin=()), " to a HOOK.md hook: only plugins hear it")
    return replacement_hint(one)


def replacement_hint(one: UnsentEvent, before: str = "") -> str:
    """Return the end of a sentence on an unsent event: what it is, and what to write instead."""
    why = before + (f": {one.why}" if one.why else "")
    if one.instead:
        return f"{why}; did you mean {' or '.join(one.instead)}?"
    if one.near:
        return f"{why}; what comes nearest is {' or '.join(one.near)}"
    if one.plugin:
        return f"{why}; a plugin hears of it as {' or '.join(one.plugin)}"
    return why
