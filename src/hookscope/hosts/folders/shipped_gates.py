"""Gates of shipped hosts where they differ from their guides. A rule is `(hook, host) → Gate`.

Recorded from OpenClaw 2026.9.6. Reasons are the host's own texts, as its lists print them.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from operator import attrgetter
from typing import Any, Final, Protocol

from hookscope.formats.positions import KeyPath, dotted_path, path_steps
from hookscope.formats.script_values import is_truthy, javascript_member, script_trim
from hookscope.hosts.folders.search_paths import PLUGIN, WORKSPACE
from hookscope.hosts.gates import enabled, events, os
from hookscope.hosts.gates.bins import NO_ANY_BINS, NO_BINS
from hookscope.hosts.gates.config import NO_CONFIG
from hookscope.hosts.gates.env import NO_ENV, OF_ENTRY
from hookscope.hosts.gates.rules import cached_by_field
from hookscope.model.hook import Edit, Hook
from hookscope.model.hook_status import FixKind, Gate, GateKind, State, register_gate
from hookscope.model.host import Host
from hookscope.model.payload import mapping_or_empty, strings_in_list
from hookscope.values import dataclass

PATHEXT = ".EXE;.CMD;.BAT;.COM"  # the default on Windows
NEVER_RESOLVED = frozenset({"__proto__", "constructor", "prototype"})
ABSENT: Final = object()  # the setting is absent; null counts as present
SETTINGS_PASSED = Gate("settings", True, reported=False)
SELECTED_BY_ALL = Gate("selected", True, found="all hooks are selected", reported=False)


def settings_gate(hook: Hook, host: Host) -> Gate:
    """Check that the host accepts its own settings (cfg-02, cfg-03)."""
    refusal = host.settings.refusal
    if not refusal:
        return SETTINGS_PASSED
    unread = host.settings.unread_reason  # names file and line, which the host's own words may not
    reason = " ".join((f"Invalid config: {unread}" if unread else refusal).split())
    return Gate(
        "settings", False, missing=("valid settings",), found="refused", reason=reason, reported=False
    )


SETTINGS = register_gate(
    GateKind("settings", fix=FixKind.BY_HAND_SETTINGS, why_no_fix="correct the settings file by hand first")
)


def events_gate(hook: Hook, host: Host) -> Gate:
    """Check that the hook subscribes to an event (req-08)."""
    gate = events.events_gate(hook, host)
    return gate if gate.passed else replace(gate, reason="no events defined")


@dataclass(frozen=True, slots=True)
class ReportedOsGate:
    """Check the platform as the host's reports do: case-insensitive, with aliases for platforms (req-06)."""

    aliases: Mapping[str, str]
    exact: bool = False  # whether names must be equal, with no aliases

    def __call__(self, hook: Hook, host: Host) -> Gate:
        names, here = hook.meta.os, host.machine.platform
        if not names:
            return os.OS_PASSED
        known = [name if self.exact else self.aliases.get(name.lower(), name.lower()) for name in names]
        if here in known:
            return Gate("os", True, needed=names, found=here)
        return Gate("os", False, names, names, found=here, reason=missing_text("os", names))


@cached_by_field(attrgetter("meta.os"))
def loader_os_gate(hook: Hook, host: Host) -> Gate:
    """Check the platform as the loader does: case-sensitive. The host's lists omit this gate (req-06)."""
    gate = os.os_gate(hook, host)
    if gate.passed is not False:
        return replace(gate, reported=False)
    missing = missing_text("os", gate.needed)
    reason = f"the loader's comparison is case-sensitive: {missing}, here {gate.found}"
    return replace(gate, reason=reason, reported=False)


OS_OF_LOADER = register_gate(GateKind("osOfLoader", check=loader_os_gate, remedy="add {platform} to `os`"))


@cached_by_field(attrgetter("meta.requires.bins"))
def bins_gate(hook: Hook, host: Host) -> Gate:
    """Check that all programs in `bins` are on PATH and executable; a folder of that name counts (req-01)."""
    needed = hook.meta.requires.bins
    if not needed:
        return NO_BINS
    paths = {name: _program(name, host) for name in needed}
    missing = tuple(name for name in needed if paths[name] is None)  # a name given twice is missing twice
    found = ", ".join(path or f"{name} not on PATH" for name, path in paths.items())
    return Gate("bins", not missing, needed, missing, found, missing_text("bins", missing) if missing else "")


@cached_by_field(attrgetter("meta.requires.any_bins"))
def any_bins_gate(hook: Hook, host: Host) -> Gate:
    """Check that a program in `anyBins` is on PATH; otherwise all of them are reported missing (req-01)."""
    needed = hook.meta.requires.any_bins
    if not needed:
        return NO_ANY_BINS
    path = next((path for name in needed if (path := _program(name, host)) is not None), None)
    if path is not None:
        return Gate("anyBins", True, needed, found=path)
    return Gate("anyBins", False, needed, needed, "none on PATH", missing_text("anyBins", needed))


def _program(name: str, host: Host) -> str | None:
    """Return the path of the program in a folder of PATH. Even an absolute name is joined to each folder."""
    here, name = host.machine, name.lstrip("/")
    endings = here.env.get("PATHEXT", PATHEXT).split(";") if here.platform == "win32" else []
    for ending in ("", *filter(None, endings)):
        path = here.files.program(name + ending, here.search_path(), folders_too=True).path
        if path is not None:
            return path
    return None


def env_gate(hook: Hook, host: Host) -> Gate:
    """Check that each variable is set and not blank, in the environment or in the entry's `env` (req-02)."""
    needed = hook.meta.requires.env
    if not needed:
        return NO_ENV
    own = host.entry_env(hook.key)
    return _needed_variables(needed, own, host) if own else _variables_of_host(hook, host)


def env_gate_with_blanks(hook: Hook, host: Host) -> Gate:
    """Check that each variable is set and not empty; white space counts as a value, as before 2026.8."""
    needed = hook.meta.requires.env
    return _needed_variables(needed, host.entry_env(hook.key), host, blanks=True) if needed else NO_ENV


@cached_by_field(attrgetter("meta.requires.env"))
def _variables_of_host(hook: Hook, host: Host) -> Gate:
    return _needed_variables(hook.meta.requires.env, {}, host)


def _needed_variables(
    needed: tuple[str, ...], own: Mapping[str, str], host: Host, *, blanks: bool = False
) -> Gate:
    def is_set(value: str) -> bool:
        return bool(value if blanks else value.strip())

    where = {
        name: "" if is_set(host.env.get(name, "")) else OF_ENTRY if is_set(own.get(name, "")) else None
        for name in needed
    }
    missing = tuple(name for name in needed if where[name] is None)
    found = ", ".join(
        f"{name} unset" if where[name] is None else f"{name} set{where[name]}" for name in needed
    )
    return Gate("env", not missing, needed, missing, found, missing_text("env", missing) if missing else "")


class LoadedSettings(Protocol):
    """A function that returns the settings with the program's defaults filled in."""

    def __call__(self, settings: Mapping[str, Any], *, exists: bool) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class ConfigGate:
    """Check that each dotted path leads to a truthy value (req-03, req-04)."""

    true_when_absent: frozenset[str]
    as_loaded: LoadedSettings

    def __call__(self, hook: Hook, host: Host) -> Gate:
        needed = hook.meta.requires.config
        if not needed:
            return NO_CONFIG
        missing = tuple(path for path in needed if not self.satisfied(path, host))
        found = ", ".join(f"{path} {'unset or empty' if path in missing else 'set'}" for path in needed)
        return Gate(
            "config",
            not missing,
            needed,
            missing,
            found,
            missing_text("config", missing) if missing else "",
            setting=path_steps((missing or needed)[0]) or None,
        )

    def satisfied(self, path: str, host: Host) -> bool:
        """Return whether the value at `path` satisfies the requirement.

        Blank text, null, false and 0 do not; an absent value does if it is in `true_when_absent`.
        """
        settings = self.as_loaded(host.settings.value, exists=host.settings.exists)
        value = setting_at(path, settings)
        if value is ABSENT:
            return path in self.true_when_absent
        return bool(value.strip()) if isinstance(value, str) else is_truthy(value)


def setting_at(path: str, value: Any) -> Any:
    """Return the value at a dotted path, or ABSENT. Skips empty steps; never resolves some names."""
    steps = path_steps(path)
    if not NEVER_RESOLVED.isdisjoint(steps):
        return ABSENT
    return reduce(lambda found, step: javascript_member(found, step, ABSENT), steps, value)


@cached_by_field(lambda _: None)
def loader_switch_gate(hook: Hook, host: Host) -> Gate:
    """Check that hooks are enabled at all. The host's lists omit this gate. Source: case sel-04."""
    return replace(enabled.switch_gate(hook, host), reported=False)


@dataclass(frozen=True, slots=True)
class EnabledGate:
    """Check that the hook is enabled: a plugin's always, a workspace hook only by its entry (req-07)."""

    workspace_reason: str

    def __call__(self, hook: Hook, host: Host) -> Gate:
        if hook.folder.source == PLUGIN:
            return Gate("enabled", True, ("not false",), found=f"managed by plugin {hook.folder.plugin}")
        gate = enabled.enabled_gate(hook, host)
        value, where = host.hooks_setting("entries", hook.key, "enabled")
        if hook.folder.source != WORKSPACE or gate.passed is False or value is True:
            return gate
        fix = _set_to_true(where, host)
        return Gate(
            "enabled", False, ("true",), ("true",), "not set", self.workspace_reason, fix=fix, setting=where
        )


def selected_before_2026_8(hook: Hook, host: Host) -> Gate:
    """Check that the loader selects the hook, as 2026.6 and 2026.7 do.

    `enabled: true` selects all hooks. Otherwise entries and installs are an allow-list, by name only.
    """
    if host.hooks_setting("enabled")[0] is True or _has_extra_folder(host):
        return SELECTED_BY_ALL
    legacy, installs = (host.hooks_setting(name)[0] for name in ("handlers", "installs"))
    names = [_hook_names(install) for install in mapping_or_empty(installs).values()]
    if legacy or not all(names):
        return SELECTED_BY_ALL
    if hook.name in {name for listed in names for name in listed}:
        return Gate("selected", True, ("an entry",), found="named by an install", reported=False)
    gate = selected_gate(hook, host)
    if gate.passed and hook.name not in _names_switched_on(host):
        _, where = host.hooks_setting("entries")
        reason = f"{dotted_path(where)} lists the hook's key, but the loader looks for its name"
        fix = _set_to_true((*where, hook.name, "enabled"), host)
        return _unselected("not named", reason, where, fix)
    return gate


def _hook_names(install: Any) -> list[str]:
    """Return the names of the hooks that an install added, as the settings of older versions list them."""
    return [*filter(None, map(script_trim, strings_in_list(mapping_or_empty(install).get("hooks"))))]


def selected_gate(hook: Hook, host: Host) -> Gate:
    """Check that the loader selects the hook (sel-01 to sel-04).

    Entries are an allow-list; without them the loader selects all hooks or none. The host's lists omit
    this gate. Installs that the host records outside the settings are not read.
    """
    on, _ = host.hooks_setting("enabled")
    _, where = host.hooks_setting("entries")
    names = _names_switched_on(host)
    declared = _entries_by_name(host)
    if _has_extra_folder(host) or (on is True and not declared):
        return SELECTED_BY_ALL
    if on is not True and not names:
        fix = _set_to_true((*host.dialect.layout.hooks[0], "enabled"), host)
        outer = (*where[:-2], "enabled")  # enables webhooks, one level further out
        other = f"; {dotted_path(outer)} is for webhooks" if host.settings.get(outer) is True else ""
        reason = f"the settings configure no hooks, so none is loaded{other}"
        return _unselected("nothing is selected", reason, where, fix)
    if hook.name in names or hook.key in names:
        return Gate("selected", True, ("an entry",), found="named by an entry", reported=False, setting=where)
    fix = _set_to_true((*where, hook.key, "enabled"), host)
    if hook.name in declared or hook.key in declared:
        reason = "`enabled` in the hook's entry is false, so the loader skips the hook"
        return _unselected("switched off", reason, where, fix)
    reason = f"the loader loads only hooks in {dotted_path(where)}, and this hook is not there"
    return _unselected("not named", reason, where, fix)


SELECTED = register_gate(
    GateKind(
        "selected",
        state=State.OFF,
        check=selected_gate,
        evidence=enabled.similar_entries,
        next_step="{hooks.fix} adds it to the settings",
    )
)


def has_hook_settings(host: Host) -> bool:
    """Return whether the settings configure any hooks; if not, the loader does not scan (sel-01)."""
    on, _ = host.hooks_setting("enabled")
    entries = mapping_or_empty(host.hooks_setting("entries")[0]).values()
    return on is not False and (on is True or _has_extra_folder(host) or not all(map(_is_off, entries)))


def names_in_entries(host: Host) -> frozenset[str]:
    """Return the trimmed hook names of the entries, enabled or not, without blank names."""
    return frozenset(_entries_by_name(host))


def _names_switched_on(host: Host) -> frozenset[str]:
    named = _entries_by_name(host).items()
    return host.cached(
        _names_switched_on, lambda: frozenset(name for name, listed in named if not all(map(_is_off, listed)))
    )


def _entries_by_name(host: Host) -> Mapping[str, list[Any]]:
    """Return the settings entries by hook name, read once for all hooks."""

    def read() -> Mapping[str, list[Any]]:
        found, _ = host.hooks_setting("entries")
        named: dict[str, list[Any]] = {}
        for key, entry in mapping_or_empty(found).items():
            if name := script_trim(key):
                named.setdefault(name, []).append(entry)
        return named

    return host.cached(_entries_by_name, read)


def _unselected(found: str, reason: str, where: KeyPath, fix: Edit) -> Gate:
    return Gate(
        "selected", False, ("an entry",), ("an entry",), found, reason, reported=False, fix=fix, setting=where
    )


def _set_to_true(path: KeyPath, host: Host) -> Edit:
    return Edit(host.settings.file, path, True, f"{dotted_path(path)}: true")


def _is_off(entry: object) -> bool:
    return isinstance(entry, Mapping) and entry.get("enabled") is False


def _has_extra_folder(host: Host) -> bool:
    listed, _ = host.hooks_setting("load", "extraDirs")
    items = listed if isinstance(listed, list) else ()
    return bool(host.overrides.extra) or any(isinstance(item, str) and item.strip() for item in items)


def missing_text(name: str, missing: tuple[str, ...]) -> str:
    """Return the missing requirements, as the host's lists print them."""
    return f"{name}: {', '.join(missing)}"
