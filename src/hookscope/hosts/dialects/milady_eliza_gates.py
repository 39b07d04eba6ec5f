"""The gates of Milady and Eliza as shipped: metadata is used as written, whatever its types.

A string in place of a list is iterated letter by letter, or ends the whole load. Source: cases 06 to 10
of milady and eliza.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from itertools import chain
from pathlib import Path
from posixpath import normpath
from typing import Any

from hookscope.formats.script_values import is_truthy, javascript_member
from hookscope.hosts.folders.shipped_headers import javascript_text
from hookscope.hosts.gates.bins import NO_ANY_BINS
from hookscope.hosts.gates.env import OF_ENTRY
from hookscope.hosts.gates.fields import FIELDS_PASSED
from hookscope.hosts.gates.rules import nothing_needed
from hookscope.model.hook import Hook
from hookscope.model.hook_status import Gate, GateRule
from hookscope.model.host import Host

ITERATED_FIELDS = ("bins", "env", "config")  # item by item; a string letter by letter
ENDINGS = ".COM;.EXE;.BAT;.CMD"  # the default of PATHEXT on Windows

FOLDERS = (".", "./", "..", "../")  # folder names that exist everywhere

# (name of a program, host) → its path
ProgramFinder = Callable[[str, Host], str | None]


def fields_gate(looked_up: tuple[str, ...]) -> GateRule:
    """Return a rule that fails if a field's type ends the load. `looked_up` lists must hold only strings."""

    def rule(hook: Hook, host: Host) -> Gate:
        if hook.kind == "legacy":
            fault = next((fault.text for fault in hook.meta.faults if fault.path[-1] == "module"), None)
        else:
            fault = _fault(hook, host, looked_up)
        if fault is None:
            return FIELDS_PASSED
        return Gate("fields", False, found="stops the load", reason=fault, stops_load=not hook.beyond_host)

    return rule


def _fault(hook: Hook, host: Host, looked_up: tuple[str, ...]) -> str | None:
    unchecked = hook.meta.unvalidated
    names = unchecked.get("os")
    if isinstance(names, str) and host.machine.platform not in names:
        return "the whole load fails: `os` must be a list, but is a string without this platform's name"
    if _has_length(names):
        return "the whole load fails: `os` must be a list, but is an object with a length"
    if hook.meta.always:
        return None
    any_of = unchecked.get("anyBins")
    if isinstance(any_of, str) or _has_length(any_of):
        kind = "a string" if isinstance(any_of, str) else "an object with a length"
        return f"the whole load fails: `anyBins` must be a list, but is {kind}"
    for name in looked_up:
        if isinstance(unchecked.get(name), list):
            return f"the whole load fails: `{name}` contains an item that is not a string"
    for name in ITERATED_FIELDS:
        if name in unchecked and not isinstance(unchecked[name], str | list):
            return f"the whole load fails: `{name}` must be a list, but cannot be iterated"
    return None


def _has_length(value: object) -> bool:
    """Return whether the host takes this object for a non-empty list, because of its `length`."""
    length = value.get("length") if isinstance(value, Mapping) else None
    return isinstance(length, int | float) and length > 0


def bins_gate(find: ProgramFinder) -> GateRule:
    """Return a rule that passes if `find` finds all programs in `bins`."""

    def rule(hook: Hook, host: Host) -> Gate:
        needed = _iterated(hook, "bins")
        places = {name: find(name, host) for name in needed}
        return _all_present_gate("bins", "Binary missing", needed, places, host)

    return rule


def any_bins_gate(find: ProgramFinder) -> GateRule:
    """Return a rule that passes if `find` finds one of the programs in `anyBins`."""

    def rule(hook: Hook, host: Host) -> Gate:
        needed = hook.meta.requires.any_bins
        if not needed:
            return NO_ANY_BINS
        found = next((place for name in needed if (place := find(name, host)) is not None), None)
        if found is not None:
            return Gate("anyBins", True, needed, found=found)
        written = hook.meta.unvalidated.get("anyBins")
        names = map(javascript_text, written) if isinstance(written, list) else needed
        reason = f"None of: {', '.join(names)}"
        return Gate("anyBins", False, needed, needed, found=_searched_places(host), reason=reason)

    return rule


def env_gate(hook: Hook, host: Host) -> Gate:
    """Check that each variable is set and not empty, in the environment or in the entry's `env`.

    A value in the entry may have any type.
    """
    entry = host.entry(hook.key).get("env")
    needed = _iterated(hook, "env")
    places = {
        name: f"{name} set" if is_truthy(javascript_member(host.env, name)) else f"{name} set{OF_ENTRY}"
        for name in needed
        if is_truthy(javascript_member(host.env, name)) or is_truthy(javascript_member(entry, name))
    }
    return _all_present_gate("env", "Env missing", needed, places, host)


def config_gate(hook: Hook, host: Host) -> Gate:
    """Check that each dotted path leads to a truthy value in the settings."""
    needed = _iterated(hook, "config")
    places = {path: f"{path} set" for path in needed if is_truthy(setting_at(path, host))}
    return _all_present_gate("config", "Config missing", needed, places, host)


def setting_at(path: str, host: Host) -> Any:
    """Return the value at a dotted path as JavaScript resolves it: built-in members count."""
    return reduce(javascript_member, path.split("."), host.settings.value)


def find_on_path(name: str, host: Host) -> str | None:
    """Return the first path of that name on PATH, even if it is a folder or not executable.

    The host takes an empty entry of PATH for the root folder.
    """
    return _first_existing((f"{folder}/{name}" for folder in host.machine.path_entries()), host)


def find_on_path_or_known(own: tuple[str, ...]) -> ProgramFinder:
    """Return a finder like `find_on_path` that also accepts absolute paths and the host's own programs.

    `own` are the programs beside the host's runtime. On Windows, names match without their suffix.
    `..` in a name is resolved as text.
    """

    def find(name: str, host: Host) -> str | None:
        if _folded(name) in (*own, *FOLDERS):
            return f"{name or 'a folder'}, beside the host's own runtime"
        folders = host.machine.search_path()
        bare = [name] if Path(name).is_absolute() else [_folded(f"{folder}/{name}") for folder in folders]
        endings = ("", *_endings(name, host))
        return _first_existing(
            chain.from_iterable((f"{path}{end}" for end in endings) for path in bare), host
        )

    return find


def _folded(path: str) -> str:
    """Normalise a path as text. A trailing slash is kept: it requires a folder."""
    return normpath(path) + ("/" if path.endswith(("/", "/.")) else "")


def _endings(name: str, host: Host) -> tuple[str, ...]:
    """Return the endings that Windows tries for a name without one: each in lower case, then as listed."""
    if host.machine.platform != "win32" or "." in name.rpartition("/")[2][1:]:
        return ()
    listed = [part.strip() for part in host.env.get("PATHEXT", ENDINGS).split(";")]
    return tuple(dict.fromkeys(ending for part in listed if part for ending in (part.lower(), part)))


def _first_existing(paths: Iterable[str], host: Host) -> str | None:
    return next((path for path in paths if _exists(path, host)), None)


def _exists(path: str, host: Host) -> bool:
    """Return whether the path exists; with a trailing slash, whether it is a folder."""
    facts = host.machine.files.facts(host.machine.cwd / path)
    return facts is not None and (facts.folder or not path.endswith(("/", "/.")))


def _searched_places(host: Host) -> str:
    return f"not on PATH (folders searched: {len(host.machine.search_path())})"


def _iterated(hook: Hook, name: str) -> tuple[str, ...]:
    """Return the items that the host iterates over: those of the list, or each letter of a string."""
    unchecked = hook.meta.unvalidated.get(name)
    if isinstance(unchecked, str):
        return tuple(unchecked)
    listed: tuple[str, ...] = getattr(hook.meta.requires, name)
    return listed


def _all_present_gate(
    name: str, lack: str, needed: tuple[str, ...], places: Mapping[str, str | None], host: Host
) -> Gate:
    """Return the gate for items that must all be present, with one reason for each missing item."""
    if not needed:
        return nothing_needed(name)
    missing = tuple(item for item in needed if places.get(item) is None)
    found = [place for item in dict.fromkeys(needed) if (place := places.get(item)) is not None]
    if missing:
        found.append(_searched_places(host) if name == "bins" else f"{len(missing)} not set")
    return Gate(
        name,
        not missing,
        needed,
        missing,
        found=", ".join(found),
        reason=", ".join(f"{lack}: {item}" for item in missing),
        setting=tuple((missing or needed)[0].split(".")) if name == "config" else None,
    )
