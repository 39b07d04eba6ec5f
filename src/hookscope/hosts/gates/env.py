"""The `env` gate: is each needed variable set, in the environment or in the hook's settings entry?"""

from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from operator import attrgetter
from pathlib import Path

from hookscope.formats.environment_files import read_dotenv
from hookscope.hosts.gates.evidence import setting_location, similar_names
from hookscope.hosts.gates.rules import cached_by_field, nothing_needed
from hookscope.model.hook import Hook
from hookscope.model.hook_status import Evidence, FixKind, Gate, GateKind, register_gate
from hookscope.model.host import Host
from hookscope.model.payload import mapping_or_empty
from hookscope.model.text import nearest_word

NO_ENV = nothing_needed("env")
LARGEST_DOTENV = 262_144  # bytes
DOTENV = ".env"
OF_ENTRY = " by the hook's entry"  # set there, not in the environment


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
            words.append(f"{name} set" + ("" if host.env.get(name) else OF_ENTRY))
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
    listed = mapping_or_empty(host.entry(hook.key).get("env"))
    if name in host.env or name in listed:
        at = "" if name in host.env else " in the hook's entry"
        value = host.env.get(name, listed.get(name))
        yield f"{name} is set{at}, but {'empty' if isinstance(value, str) else 'not a string'}"
    for like in host.cached((similar_names, name), lambda: similar_names(name, tuple(host.env))):
        yield f"{like} is set; {name} is needed"
    for like in similar_names(name, tuple(map(str, listed))) if listed else ():
        yield f"{like} is in the hook's entry; {name} is needed"
    other, where = host.hooks_setting("entries", hook.name, "env", name)
    if other is not None and hook.key != hook.name:
        yield f"{'.'.join(map(str, where))} is set; this hook's entry is {hook.key}"
    read = host.dialect.settings_rules.dotenv
    for file in dict.fromkeys((host.workspace / DOTENV, host.state / DOTENV)):
        is_unread = read is None or file.parent != host.state
        if is_unread and name in host.cached((_read_dotenv, file), partial(_read_dotenv, file, host)):
            yield f"{host.machine.short(file)} sets {name}, but the host does not read this file"


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
