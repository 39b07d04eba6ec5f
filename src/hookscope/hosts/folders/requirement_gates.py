"""Gates for a hook's requirements, as the guides describe them, and JavaScript's view of settings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final

from hookscope.hosts.folders.gates import cached_by_field
from hookscope.model.hook import Hook
from hookscope.model.hook_status import Gate
from hookscope.model.host import Host
from hookscope.model.text import nearest_word

OS_PASSED = Gate("os", True, found="any")
NOTHING_NEEDED = {
    name: Gate(name, True, found="none needed") for name in ("bins", "anyBins", "env", "config")
}


@cached_by_field(attrgetter("meta.os"))
def os_gate(hook: Hook, host: Host) -> Gate:
    """Is this platform one of those named, letter for letter."""
    names, here = hook.meta.os, host.surroundings.platform
    if not names:
        return OS_PASSED
    if here in names:
        return Gate("os", True, needed=names, found=here)
    reason = f"OS: requires {'|'.join(names)}, current: {here}"
    return Gate("os", False, needed=names, missing=names, found=here, reason=reason)


@cached_by_field(attrgetter("meta.requires.bins"))
def bins_gate(hook: Hook, host: Host) -> Gate:
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


@cached_by_field(attrgetter("meta.requires.any_bins"))
def any_bins_gate(hook: Hook, host: Host) -> Gate:
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


def env_gate(hook: Hook, host: Host) -> Gate:
    """Is each variable set and not empty, in the environment or in the entry's `env`."""
    needed = hook.meta.requires.env
    if not needed:
        return NOTHING_NEEDED["env"]
    own = host.entry_env(hook.key)
    return _needed_variables(needed, own, host) if own else _variables_of_host(hook, host)


@cached_by_field(attrgetter("meta.requires.env"))
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
            near = _similar_variable(name, tuple(host.env))
            words.append(f"{name} unset" + (f" ({near} is set)" if near else ""))
        else:
            words.append(f"{name} set" + ("" if host.env.get(name) else " by its entry"))
    return ", ".join(words)


@lru_cache(maxsize=512)
def _similar_variable(name: str, names: tuple[str, ...]) -> str | None:
    near = nearest_word(name, names)
    return near if near != name else None


@cached_by_field(attrgetter("meta.requires.config"))
def config_gate(hook: Hook, host: Host) -> Gate:
    """Does each dotted path lead to something truthy in the settings.

    An absent `workspace.dir` is the workspace in force. False: absent, null, false, 0, empty text.
    """
    needed = hook.meta.requires.config
    if not needed:
        return NOTHING_NEEDED["config"]
    values = {path: setting_at(path, host) for path in needed}
    missing = tuple(path for path, value in values.items() if not is_truthy(value))
    words = [f"{path} {_presence_of(value, path in missing)}" for path, value in values.items()]
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


def is_truthy(value: Any) -> bool:
    """As JavaScript sees it: an empty list or mapping counts."""
    return bool(value) or (value is not None and isinstance(value, (list, Mapping)))


def _presence_of(value: Any, missing: bool) -> str:
    """What stands there in one word; never the value, which may be a secret."""
    if not missing:
        return "set"
    if value is None:
        return "unset"
    return "empty" if value == "" else str(value).lower()


class _JavascriptFunction:
    """Something that is there, and is neither a list nor a mapping."""

    def __repr__(self) -> str:
        return "a function of the language"


JAVASCRIPT_FUNCTION: Final = _JavascriptFunction()
_NAMES_OF_MAPPINGS = (
    "constructor __defineGetter__ __defineSetter__ hasOwnProperty __lookupGetter__ __lookupSetter__ "
    "isPrototypeOf propertyIsEnumerable toString valueOf toLocaleString"
)
_NAMES_OF_LISTS = (
    "at concat copyWithin entries every fill filter find findIndex findLast findLastIndex flat flatMap "
    "forEach includes indexOf join keys lastIndexOf map pop push reduce reduceRight reverse shift slice "
    "some sort splice toReversed toSorted toSpliced unshift values with"
)
OBJECT_MEMBERS: Final[Mapping[str, Any]] = {
    **dict.fromkeys(_NAMES_OF_MAPPINGS.split(), JAVASCRIPT_FUNCTION),
    "__proto__": None,
}
ARRAY_MEMBERS: Final[Mapping[str, Any]] = {
    **OBJECT_MEMBERS,
    **dict.fromkeys(_NAMES_OF_LISTS.split(), JAVASCRIPT_FUNCTION),
    "__proto__": OBJECT_MEMBERS,
    "length": 0,
}


def javascript_member(value: Any, name: str, otherwise: Any = None) -> Any:
    """The value at `name`; `otherwise` where there is nothing, or nothing to look into."""
    if isinstance(value, Mapping):
        if name in value:
            return value[name]
        return OBJECT_MEMBERS if name == "__proto__" else OBJECT_MEMBERS.get(name, otherwise)
    if isinstance(value, list):
        if name == "length":
            return len(value)
        if is_array_index(name) and int(name) < len(value):
            return value[int(name)]
        return ARRAY_MEMBERS if name == "__proto__" else ARRAY_MEMBERS.get(name, otherwise)
    return otherwise


def is_array_index(name: str) -> bool:
    """Is it a place in a list, as JavaScript writes one."""
    return name.isascii() and name.isdigit() and (name == "0" or name[0] != "0")
