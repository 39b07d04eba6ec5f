"""For a failed gate: where the missing thing was looked for, and what was nearly it. Never shows a value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

from hookscope.formats.environment_files import read_dotenv
from hookscope.formats.positions import KeyPath, path_steps
from hookscope.model.hook import Hook
from hookscope.model.hook_status import Gate
from hookscope.model.host import Host
from hookscope.model.uncalled_hooks import event_kind

Evidence = tuple[tuple[str, ...], tuple[str, ...]]  # where it was looked for; what nearly was it
EvidenceRule = Callable[[Gate, Hook, Host], Evidence]

# Where programs often are, and where services often do not look.
USUAL_FOLDERS = (
    "~/.local/bin",
    "~/bin",
    "/usr/local/bin",
    "/usr/bin",
    "/bin",
    "/opt/homebrew/bin",
    "~/.cargo/bin",
    "~/go/bin",
    "~/.bun/bin",
    "~/.deno/bin",
    "~/.npm-global/bin",
)
PLATFORM_SYNONYMS = {"macos": "darwin", "mac": "darwin", "osx": "darwin", "windows": "win32", "win": "win32"}
SIMILARITY = 0.75  # of difflib: rather silent than wrong
MOST_COMPARED = 50_000  # names in one look
MOST_VISITED = 2000  # settings that are looked at for a name that stands elsewhere
LARGEST_DOTENV = 262_144  # bytes
DOTENV = ".env"
HOST_GATES = frozenset({"bins", "anyBins", "config", "os"})  # what is said of these depends on no hook


def with_evidence(gate: Gate, hook: Hook, host: Host) -> Gate:
    """The gate with `looked` and `near`; as it is where it is not shut, or there is nothing to say."""
    if gate.passed is not False:
        return gate
    if gate.name not in HOST_GATES:
        return _find_evidence(gate, hook, host)
    key = (with_evidence, id(gate))
    if key not in host.known:  # with the gate itself, which keeps its id from being another one's
        host.known[key] = (gate, _find_evidence(gate, hook, host))
    found: Gate = host.known[key][1]
    return found


def _find_evidence(gate: Gate, hook: Hook, host: Host) -> Gate:
    rule = EVIDENCE_RULES.get(gate.name)
    looked, near = rule(gate, hook, host) if rule is not None else ((), ())
    if not looked and gate.setting is not None:
        looked = (setting_location(gate.setting, host),)
    return replace(gate, looked=looked, near=near) if looked or near else gate


def setting_location(path: KeyPath, host: Host) -> str:
    """Where in the settings a value stands, or would stand: `a.b (settings.json:3)`."""
    settings, dotted = host.settings, ".".join(map(str, path))
    if not settings.exists:
        return f"{dotted} (no file {host.surroundings.short(settings.file)} yet)"
    for length in range(len(path), 0, -1):
        place = settings.locate(path[:length])
        if place is not None and length == len(path):
            return f"{dotted} ({place.file.name}:{place.line})"
        if place is not None:
            above = ".".join(map(str, path[:length]))
            return f"{dotted} (absent; {above} is at {place.file.name}:{place.line})"
    return f"{dotted} (absent in {settings.file.name})"


# Programs


def _programs(gate: Gate, hook: Hook, host: Host) -> Evidence:
    here = host.surroundings
    folders, near = here.search_path(), []
    usual = tuple(str(here.absolute(path)) for path in USUAL_FOLDERS)
    elsewhere = tuple(path for path in usual if path not in folders)
    for name in gate.missing:
        program = here.files.program(name, folders)
        if program.path is None and program.unrunnable is not None:
            near.append(f"{here.short(Path(program.unrunnable))} is there and may not be run")
        else:
            beside = here.files.program(name, elsewhere).path
            if beside is not None:
                folder = here.short(Path(beside).parent)
                near.append(f"{here.short(Path(beside))} is there; {folder} is not on PATH")
    return folders or ("PATH, which is empty",), tuple(near)


# Variables


def _variables(gate: Gate, hook: Hook, host: Host) -> Evidence:
    here, rules = host.surroundings, host.dialect.settings_rules
    _, entry = host.hooks_setting("entries", hook.key)
    looked = ["the assumed environment" if "env" in here.assumed else "the environment of this process"]
    if rules.dotenv is not None:
        file = host.state / rules.dotenv
        looked.append(here.short(file) + ("" if here.files.facts(file) else " (no such file)"))
    if rules.env_path is not None:
        looked.append(setting_location(rules.env_path, host))
    looked.append(setting_location((*entry, "env"), host))
    return tuple(looked), tuple(near for name in gate.missing for near in _near_variables(name, hook, host))


def _near_variables(name: str, hook: Hook, host: Host) -> Iterator[str]:
    own = host.entry(hook.key).get("env")
    listed: Mapping[str, Any] = own if isinstance(own, Mapping) else {}
    if name in host.env or name in listed:
        at = "" if name in host.env else " in its entry"
        value = host.env.get(name, listed.get(name))
        yield f"{name} is set{at}, and {'empty' if isinstance(value, str) else 'no text'}"
    for like in _similar_variables(name, host):
        yield f"{like} is set; {name} is needed"
    for like in similar_names(name, tuple(map(str, listed))) if listed else ():
        yield f"{like} is in its entry; {name} is needed"
    other, where = host.hooks_setting("entries", hook.name, "env", name)
    if other is not None and hook.key != hook.name:
        yield f"{'.'.join(map(str, where))} is set; its entry is {hook.key}"
    read = host.dialect.settings_rules.dotenv
    for folder in dict.fromkeys((host.workspace, host.state)):
        if (folder != host.state or read is None) and name in _dotenv(folder / DOTENV, host):
            yield f"{host.surroundings.short(folder / DOTENV)} sets {name}, and the host does not read it"


def _similar_variables(name: str, host: Host) -> tuple[str, ...]:
    key = (similar_names, name)
    if key not in host.known:
        host.known[key] = similar_names(name, tuple(host.env))
    found: tuple[str, ...] = host.known[key]
    return found


def _dotenv(file: Path, host: Host) -> Mapping[str, str]:
    if (_dotenv, file) not in host.known:
        host.known[_dotenv, file] = _read_dotenv(file, host)
    read: Mapping[str, str] = host.known[_dotenv, file]
    return read


def _read_dotenv(file: Path, host: Host) -> Mapping[str, str]:
    facts = host.surroundings.files.facts(file)
    if facts is None or not facts.file or facts.size > LARGEST_DOTENV:
        return {}
    try:
        return read_dotenv(host.surroundings.files.read(file))
    except OSError:
        return {}


def similar_among(name: str, names: tuple[str, ...], host: Host) -> tuple[str, ...]:
    """As `alike`, as long as one look has not compared too many: each of a thousand hooks would be compared
    with each of a thousand entries."""
    compared: int = host.known.get(similar_among, 0) + len(names)
    host.known[similar_among] = compared
    return similar_names(name, names) if compared <= MOST_COMPARED else ()


@lru_cache(maxsize=1024)
def similar_names(name: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """At most two other names that this one was perhaps meant to be: but for letter case first."""
    known = {other.lower(): other for other in names if other != name}
    near = get_close_matches(name.lower(), known, n=2, cutoff=SIMILARITY)
    return tuple(known[word] for word in near)


# Settings


def _settings(gate: Gate, hook: Hook, host: Host) -> Evidence:
    looked = tuple(setting_location(path_steps(path), host) for path in gate.missing)
    near = dict.fromkeys(text for path in gate.missing for text in _near_settings(path, host))
    return looked, tuple(near)


def _near_settings(path: str, host: Host) -> Iterator[str]:
    """The same path with one step spelt otherwise, else the last step where it stands elsewhere."""
    value: Any = host.settings.value
    steps = path_steps(path)
    for place, step in enumerate(steps):
        if not isinstance(value, Mapping):
            return
        if step in value:
            value = value[step]
            continue
        for like in similar_names(step, tuple(map(str, value))):
            written = (*steps[:place], like, *steps[place + 1 :])
            if host.settings.get(written) is not None:
                yield f"{_located_path(written, host)} is set; {path} is needed"
                return
        break
    else:
        return  # it stands there, and does not count: `found` says what it is
    for other in _paths_ending_in(steps[-1], host.settings.value):
        if set(other[:-1]) & set(steps[:-1]) or len(steps) == 1 or len(other) == 1:
            yield f"{_located_path(other, host)} is set; {path} is needed"
            return


def _located_path(path: KeyPath, host: Host) -> str:
    place, dotted = host.settings.locate(path), ".".join(map(str, path))
    return f"{dotted} ({place.file.name}:{place.line})" if place is not None else dotted


def _paths_ending_in(name: str, settings: Mapping[str, Any]) -> Iterator[KeyPath]:
    """The paths that end in this name, those nearest to the top first."""
    waiting: list[tuple[KeyPath, Any]] = [((), settings)]
    visited = 0
    for path, value in waiting:  # grows while it is walked
        for key, part in value.items() if isinstance(value, Mapping) else ():
            visited += 1
            if visited > MOST_VISITED:
                return
            if key == name and part not in (None, "", False, 0):
                yield (*path, key)
            if isinstance(part, Mapping):
                waiting.append(((*path, key), part))


# The rest


def _switches(gate: Gate, hook: Hook, host: Host) -> Evidence:
    """An entry that was perhaps meant for this hook."""
    entries, where = host.hooks_setting("entries")
    looked = (setting_location(gate.setting, host),) if gate.setting is not None else ()
    if not isinstance(entries, Mapping) or hook.key in entries:
        return looked, ()
    dotted = ".".join(map(str, where))
    if hook.name in entries:
        return looked, (f"{dotted}.{hook.name} is there; its entry is {hook.key}",)
    return looked, tuple(
        f"{dotted}.{like} is there; its entry is {hook.key}"
        for like in similar_among(hook.key, tuple(map(str, entries)), host)
    )


def _listed(gate: Gate, hook: Hook, host: Host) -> Evidence:
    looked = (setting_location(gate.setting, host),) if gate.setting is not None else ()
    return looked, tuple(
        f"{like} is in the list; it is {hook.name}" for like in similar_among(hook.name, gate.needed, host)
    )


def _events(gate: Gate, hook: Hook, host: Host) -> Evidence:
    from hookscope.model.event_typos import unsent_event  # here: most hooks listen to what is sent

    catalogue, kind = host.dialect.catalogue(), event_kind(hook)
    dead = (unsent_event(key, kind, catalogue) for key in gate.missing if key not in hook.meta.of_folders)
    near = tuple(f"{like} is an event; {one.key} is written" for one in dead for like in one.instead)
    return (f"the events of {host.dialect.title}",), near


def _platforms(gate: Gate, hook: Hook, host: Host) -> Evidence:
    here = host.surroundings.platform
    near = (name for name in gate.missing if PLATFORM_SYNONYMS.get(name.lower(), name.lower()) == here)
    return (), tuple(f"{name} is written; this platform is called {here}" for name in near)


def _modules(gate: Gate, hook: Hook, host: Host) -> Evidence:
    """A file beside a handler that is not there, with another ending or in other letters."""
    path = hook.handler
    if path is None or not gate.missing:
        return (), ()
    looked = (host.surroundings.short(path.parent),)
    try:
        names = host.surroundings.files.names(path.parent)
    except OSError:
        return looked, (f"there is no folder {host.surroundings.short(path.parent)}",)
    like = [name for name in sorted(names) if Path(name).stem.lower() == path.stem.lower()]
    return looked, tuple(
        f"{name} is there; {path.name} is needed"
        for name in (like or similar_names(path.name, tuple(names)))[:2]
    )


def _header(gate: Gate, hook: Hook, host: Host) -> Evidence:
    """What its header says that nobody reads: the events were meant to stand there."""
    return (), tuple(note for note in (*hook.meta.notes, *hook.notes) if note not in gate.reason)


EVIDENCE_RULES: Mapping[str, EvidenceRule] = {
    "bins": _programs,
    "anyBins": _programs,
    "env": _variables,
    "config": _settings,
    "enabled": _switches,
    "selected": _switches,
    "allow": _listed,
    "events": _header,
    "sent": _events,
    "os": _platforms,
    "handler": _modules,
}
