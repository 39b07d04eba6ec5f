"""What a hook asks of the world: platform, programs, variables, settings. One gate each; see gates.py.

The rules of the guides. What a shipped program does otherwise is in `unchecked` and `shipped_gates`.
"""

from collections.abc import Mapping
from functools import lru_cache
from operator import attrgetter
from typing import Any

from hookscope.core.dialect import Host
from hookscope.core.hooks import Hook
from hookscope.core.standing import Gate
from hookscope.core.text import nearest
from hookscope.systems.folders.gates import asked_once

OS_OPEN = Gate("os", True, found="any")
NOTHING_NEEDED = {
    name: Gate(name, True, found="none needed") for name in ("bins", "anyBins", "env", "config")
}


@asked_once(attrgetter("meta.os"))
def os(hook: Hook, host: Host) -> Gate:
    """Is this platform one of those named, letter for letter."""
    names, here = hook.meta.os, host.surroundings.platform
    if not names:
        return OS_OPEN
    if here in names:
        return Gate("os", True, needed=names, found=here)
    reason = f"OS: requires {'|'.join(names)}, current: {here}"
    return Gate("os", False, needed=names, missing=names, found=here, reason=reason)


@asked_once(attrgetter("meta.requires.bins"))
def bins(hook: Hook, host: Host) -> Gate:
    """Are all these programs on PATH and may be run."""
    needed = hook.meta.requires.bins
    if not needed:
        return NOTHING_NEEDED["bins"]
    folders = host.surroundings.search_path()
    programs = {name: host.surroundings.files.program(name, folders) for name in needed}
    missing = tuple(name for name, program in programs.items() if program.path is None)
    found = [program.path for program in programs.values() if program.path is not None]
    misses = [
        f"{program.unrunnable} may not be run"
        for program in programs.values()
        if program.path is None and program.unrunnable is not None
    ]
    if missing:
        found += misses or [f"not on PATH ({len(folders)} folders looked in)"]
    reason = ", ".join(f"Binary missing: {name}" for name in missing)
    return Gate("bins", not missing, needed, missing, found=", ".join(found), reason=reason)


@asked_once(attrgetter("meta.requires.any_bins"))
def any_bins(hook: Hook, host: Host) -> Gate:
    """Is at least one of these programs on PATH and may be run."""
    needed = hook.meta.requires.any_bins
    if not needed:
        return NOTHING_NEEDED["anyBins"]
    folders = host.surroundings.search_path()
    for name in needed:
        program = host.surroundings.files.program(name, folders)
        if program.path is not None:
            return Gate("anyBins", True, needed, found=program.path)
    found = f"none on PATH ({len(folders)} folders looked in)"
    return Gate("anyBins", False, needed, needed, found=found, reason=f"None of: {', '.join(needed)}")


def env(hook: Hook, host: Host) -> Gate:
    """Is each variable set and not empty, in the environment or in the entry's `env`."""
    needed = hook.meta.requires.env
    if not needed:
        return NOTHING_NEEDED["env"]
    own = host.entry_env(hook.key)
    return _needed_variables(needed, own, host) if own else _variables_of_host(hook, host)


@asked_once(attrgetter("meta.requires.env"))
def _variables_of_host(hook: Hook, host: Host) -> Gate:
    return _needed_variables(hook.meta.requires.env, {}, host)


def _needed_variables(needed: tuple[str, ...], own: Mapping[str, str], host: Host) -> Gate:
    missing = tuple(name for name in needed if not (host.env.get(name) or own.get(name)))
    reason = ", ".join(f"Env missing: {name}" for name in missing)
    return Gate("env", not missing, needed, missing, found=_env_found(needed, missing, host), reason=reason)


def _env_found(needed: tuple[str, ...], missing: tuple[str, ...], host: Host) -> str:
    """Where each variable stands; of a missing one, the set one that it resembles. Never a value."""
    words = []
    for name in needed:
        if name in missing:
            near = _near_variable(name, tuple(host.env))
            words.append(f"{name} unset" + (f" ({near} is set)" if near else ""))
        else:
            words.append(f"{name} set" + ("" if host.env.get(name) else " by its entry"))
    return ", ".join(words)


@lru_cache(maxsize=512)
def _near_variable(name: str, names: tuple[str, ...]) -> str | None:
    near = nearest(name, names)
    return near if near != name else None


@asked_once(attrgetter("meta.requires.config"))
def config(hook: Hook, host: Host) -> Gate:
    """Does each dotted path lead to something truthy in the settings.

    An absent `workspace.dir` is the workspace in force. False: absent, null, false, 0, empty text.
    """
    needed = hook.meta.requires.config
    if not needed:
        return NOTHING_NEEDED["config"]
    values = {path: setting_at(path, host) for path in needed}
    missing = tuple(path for path, value in values.items() if not truthy(value))
    words = [f"{path} {_shown(value, path in missing)}" for path, value in values.items()]
    return Gate(
        "config",
        not missing,
        needed,
        missing,
        found=", ".join(words),
        reason=", ".join(f"Config missing: {path}" for path in missing),
        setting=tuple((missing or needed)[0].split(".")),
    )


def setting_at(path: str, host: Host) -> Any:
    """The setting at a path as hooks write it; an absent `workspace.dir` is the workspace in force."""
    value = host.settings.get(path.split("."))
    if value is None and path == "workspace.dir":
        return str(host.workspace)
    return value


def truthy(value: Any) -> bool:
    """As JavaScript sees it: an empty list or mapping counts."""
    return bool(value) or (value is not None and isinstance(value, (list, Mapping)))


def _shown(value: Any, missing: bool) -> str:
    """What stands there in one word; never the value, which may be a secret."""
    if not missing:
        return "set"
    if value is None:
        return "unset"
    return "empty" if value == "" else str(value).lower()
