"""The `env` gate: is each needed variable set, in the environment or in the hook's settings entry?"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any

from hookscope.formats.environment_files import read_dotenv
from hookscope.hosts.gates.evidence import setting_location, similar_names
from hookscope.hosts.gates.rules import cached_by_field, nothing_needed
from hookscope.model.hook import Hook
from hookscope.model.hook_status import Evidence, FixKind, Gate, GateKind, register_gate
from hookscope.model.host import Host
from hookscope.model.text import nearest_word

NO_ENV = nothing_needed("env")
LARGEST_DOTENV = 262_144  # bytes
DOTENV = ".env"


def env_gate(hook: Hook, host: Host) -> Gate:
    """Check that each variable is set and not empty, in the environment or in the entry's `env`."""
    needed = hook.meta.requires.env
    if not needed:
        return NO_ENV
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
    """Return where each variable is set; for a missing variable, a similar one. Values are never shown."""
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


def _variables(gate: Gate, hook: Hook, host: Host) -> Evidence:
    here, rules = host.machine, host.dialect.settings_rules
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
        yield f"{name} is set{at}, but {'empty' if isinstance(value, str) else 'not a string'}"
    for like in _similar_variables(name, host):
        yield f"{like} is set; {name} is needed"
    for like in similar_names(name, tuple(map(str, listed))) if listed else ():
        yield f"{like} is in its entry; {name} is needed"
    other, where = host.hooks_setting("entries", hook.name, "env", name)
    if other is not None and hook.key != hook.name:
        yield f"{'.'.join(map(str, where))} is set; this hook's entry is {hook.key}"
    read = host.dialect.settings_rules.dotenv
    for folder in dict.fromkeys((host.workspace, host.state)):
        if (folder != host.state or read is None) and name in _dotenv(folder / DOTENV, host):
            yield f"{host.machine.short(folder / DOTENV)} sets {name}, but the host does not read this file"


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
    facts = host.machine.files.facts(file)
    if facts is None or not facts.file or facts.size > LARGEST_DOTENV:
        return {}
    try:
        return read_dotenv(host.machine.files.read(file))
    except OSError:
        return {}


ENV = register_gate(
    GateKind(
        "env",
        guide_order=80,
        check=env_gate,
        evidence=_variables,
        fix=FixKind.SET_VARIABLES,
        next_step="{hooks.fix} sets it in the hook's settings entry; or set it in the host's environment",
        problem="{missing} {is} not set",
        remedy="set {missing}",
        is_requirement=True,
    )
)
