"""The checks between a hook folder and a handler that runs. One pure function a check.

A rule is `(hook, host) → Gate`; its name in a dialect's mapping is the gate's name. Reason texts are
the hosts' own, as recorded from Milady and Eliza (milady 08), for all guide dialects.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeAlias

from hookscope.formats.frontmatter import locate_frontmatter
from hookscope.formats.positions import KeyPath, Span
from hookscope.hosts.folders.hook_discovery import LARGEST_MANIFEST
from hookscope.model.event_typos import never_sent_reason
from hookscope.model.hook import Edit, FilePosition, Hook
from hookscope.model.hook_status import TOO_WIDE, Gate
from hookscope.model.host import Host
from hookscope.model.machine import is_within
from hookscope.model.trust import is_hook_trusted, trust_target
from hookscope.model.uncalled_hooks import event_kind

GateRule = Callable[[Hook, Host], Gate]
UNNAMED = "unnamed"  # the role of an entry of the settings that names no file

# Most hooks pass most gates; a gate that has nothing to say is made once.
HANDLER_PASSED = {
    name: Gate("handler", True, found=name)
    for name in ("handler.py", "handler.ts", "handler.js", "index.ts", "index.js")
}
Locate: TypeAlias = Callable[[bytes, KeyPath], Span | None]
FIELDS_PASSED = Gate("fields", True)
PATH_PASSED = Gate("path", True)
SWITCH_PASSED = Gate("switch", True, needed=("not false",), found="not set")
ENABLED_PASSED = Gate("enabled", True, needed=("not false",), found="not set")
TRUSTED_PASSED = Gate("trusted", True, found="yes")
SENT_PASSED = Gate("sent", True)


def cached_by_field(of: Callable[[Hook], Any]) -> Callable[[GateRule], GateRule]:
    """A rule that looks at nothing else of a hook: hooks of which this is the same have the same gate."""

    def once(rule: GateRule) -> GateRule:
        def asked(hook: Hook, host: Host) -> Gate:
            key = (asked, of(hook))
            known: Gate | None = host.known.get(key)
            if known is None:
                known = host.known[key] = rule(hook, host)
            return known

        return asked

    return once


def gates_of(
    hook: Hook, host: Host, rules: Mapping[str, GateRule], always_skips: frozenset[str]
) -> tuple[Gate, ...]:
    """Every gate of a hook. What `always` skips is in the answer too, with `passed=None`."""
    if not hook.meta.always:
        return tuple([rule(hook, host) for rule in rules.values()])
    return tuple(
        _skipped(rule(hook, host)) if name in always_skips else rule(hook, host)
        for name, rule in rules.items()
    )


def _skipped(gate: Gate) -> Gate:
    return replace(gate, passed=None, missing=(), found="skipped: always is true", reason="", fix=None)


def handler_gate(hook: Hook, host: Host) -> Gate:
    """Is there a handler file. A folder without one is no hook at all; a legacy module may be absent."""
    path = hook.handler
    assert path is not None
    if hook.role == UNNAMED:
        return Gate("handler", None, found="it names no file")
    if hook.kind == "folder":
        return HANDLER_PASSED.get(path.name) or Gate("handler", True, found=path.name)
    facts = host.surroundings.files.facts(path)
    if facts is not None and facts.file:
        return Gate("handler", True, found=path.name)
    return Gate("handler", False, needed=(str(path),), missing=(str(path),), reason=f"no such file: {path}")


def fields_gate(hook: Hook, host: Host) -> Gate:
    """Has every field of the header the type that it should have."""
    return typed_fields_gate(hook, host, locate_frontmatter)


def typed_fields_gate(hook: Hook, host: Host, locate: Locate) -> Gate:
    """The gate that the faults of a manifest make; `locate` finds the first one's place in its text."""
    faults = hook.meta.faults
    if not faults:
        return FIELDS_PASSED
    place = _place_in_manifest(hook, host, faults[0].path, locate)
    at = f"{place.file.name}, line {place.line}, column {place.column}: " if place else ""
    return Gate(
        "fields",
        False,
        missing=tuple(".".join(map(str, fault.path)) for fault in faults),
        found=f"{len(faults)} of the wrong type",
        reason=at + "; ".join(fault.text for fault in faults),
        place=place,
    )


def _place_in_manifest(hook: Hook, host: Host, path: KeyPath, locate: Locate) -> FilePosition | None:
    if hook.manifest is None:
        return None
    try:
        span = locate(host.surroundings.files.read(hook.manifest, LARGEST_MANIFEST), path)
    except OSError:
        return None
    return FilePosition(hook.manifest, span.line, span.column) if span else FilePosition(hook.manifest)


def events_gate(hook: Hook, host: Host) -> Gate:
    """Does it listen to anything. Source: guide 004 section 10, "Missing events in metadata"."""
    keys = hook.meta.events
    if keys is None:
        return Gate("events", None, needed=("1 or more",), found="known after a load")
    if keys:
        return _events_passed(keys)
    elsewhere = next((note for note in hook.meta.notes if "read is" in note), "")
    reason = f"no events ({elsewhere})" if elsewhere else "no events"
    return Gate("events", False, needed=("1 or more",), missing=("events",), found="none", reason=reason)


@lru_cache(maxsize=1024)
def _events_passed(keys: tuple[str, ...]) -> Gate:
    return Gate("events", True, needed=("1 or more",), found=", ".join(keys))


@cached_by_field(lambda _: None)
def switch_gate(hook: Hook, host: Host) -> Gate:
    """Are hooks on at all: `enabled` of the hooks settings is anything but false."""
    return _not_false_gate("switch", "all hooks are switched off in the settings", host, "enabled")


def enabled_gate(hook: Hook, host: Host) -> Gate:
    """Is this hook on: its entry's `enabled` is anything but false. Legacy handlers have no entry."""
    if hook.kind == "legacy" or not host.has_entries:
        return ENABLED_PASSED
    return _not_false_gate("enabled", "disabled in config", host, "entries", hook.key, "enabled")


def _not_false_gate(name: str, reason: str, host: Host, *path: str) -> Gate:
    value, where = host.hooks_setting(*path)
    if value is None:
        return SWITCH_PASSED if name == "switch" else ENABLED_PASSED
    dotted = ".".join(str(part) for part in where)
    if value is not False:
        said = "true" if value is True else "not false"
        return Gate(name, True, ("not false",), found=f"{dotted} is {said}", setting=where)
    fix = Edit(host.settings.file, where, True, f"{dotted}: false → true")
    found = f"{dotted} is false"
    return Gate(name, False, ("not false",), ("true",), found, reason, fix=fix, setting=where)


def trusted_gate(hook: Hook, host: Host) -> Gate:
    """May its code run here. Not a rule of any host: Hookscope asks before it runs a folder's code."""
    if hook.role == UNNAMED:
        return Gate("trusted", None, found="it names no file")
    if hook.folder.trusted and hook.leads_out is None and is_inside_hooks_folder(hook):
        return TRUSTED_PASSED
    if is_hook_trusted(hook, host):
        return TRUSTED_PASSED
    target = trust_target(hook, host)
    return Gate(
        "trusted",
        False,
        needed=("yes",),
        missing=("yes",),
        found=TOO_WIDE if target.refused else "not yet",
        reason=target.offer(host.surroundings.short),
    )


def is_inside_hooks_folder(hook: Hook) -> bool:
    """Does its folder really lie in the hooks folder. A linked one does not: trust stops at links."""
    real, folder = hook.real, hook.folder.real
    return real is not None and folder is not None and is_within(real, folder)


@cached_by_field(lambda hook: (hook.meta.events, event_kind(hook)))
def sent_gate(hook: Hook, host: Host) -> Gate:
    """Does the host ever send one of its events."""
    keys = hook.meta.events
    if not keys:
        return Gate("sent", None, found="no events")
    catalogue = host.dialect.catalogue()
    kind = event_kind(hook)
    if any(catalogue.sends(key, kind) for key in keys):
        return SENT_PASSED
    later = next((host.dialect.later[key] for key in keys if key in host.dialect.later), "")
    if later:
        return Gate("sent", True, found=f"by {later}; this guide has none of them")
    others = " and ".join(dict.fromkeys(filter(None, map(catalogue.elsewhere, keys))))
    if others:
        reason = f"{host.dialect.name} never sends {' or '.join(keys)}; {others} does"
        return Gate("sent", False, keys, keys, "never sent", reason)
    return Gate("sent", False, keys, keys, "never sent", never_sent_reason(hook, host))


def own_folder_gate(hook: Hook, host: Host) -> Gate:
    """A handler's real file must lie in its hook's own folder. Source: guide 004 section 6, step 5."""
    if hook.leads_out is None:
        return PATH_PASSED
    return _failed_path(hook, f"Handler path escapes the hook's folder: {hook.leads_out}")


def allowed_roots_gate(hook: Hook, host: Host) -> Gate:
    """A handler's real file must lie below a hooks folder. Source: guide 001, "Path Safety".

    Extra folders that were accepted count as hooks folders.
    """
    if hook.leads_out is None and is_inside_hooks_folder(hook):
        return PATH_PASSED
    real = hook.leads_out or hook.real
    if real is None or any(
        folder.real is not None and real.is_relative_to(folder.real) for folder in host.folders
    ):
        return PATH_PASSED
    return _failed_path(hook, f"Handler is outside the allowed hooks folders: {real}")


def any_path_gate(hook: Hook, host: Host) -> Gate:
    """A host that does not look where a handler's file really lies."""
    return PATH_PASSED


def _failed_path(hook: Hook, reason: str) -> Gate:
    return Gate("path", False, missing=(str(hook.leads_out or hook.real),), found="outside", reason=reason)
