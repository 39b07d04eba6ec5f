"""The `config` gate: does each dotted path that the hook needs have a value in the settings?"""

from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import Any

from hookscope.formats.positions import KeyPath, dotted_path, path_steps
from hookscope.formats.script_values import is_truthy
from hookscope.hosts.gates.evidence import is_of_another_hook, setting_location, similar_names
from hookscope.hosts.gates.rules import cached_by_field, nothing_needed
from hookscope.model.hook import Hook
from hookscope.model.hook_status import Evidence, FixKind, Gate, GateKind, register_gate
from hookscope.model.host import Host

NO_CONFIG = nothing_needed("config")
MOST_VISITED = 2000  # settings searched for the last step of a missing path


@cached_by_field(attrgetter("meta.requires.config"))
def config_gate(hook: Hook, host: Host) -> Gate:
    """Check that each dotted path has a truthy value in the settings.

    An absent `workspace.dir` is the current workspace. Null, false, 0 and the empty string are not truthy.
    """
    needed = hook.meta.requires.config
    if not needed:
        return NO_CONFIG
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
    """Return the setting at a dotted `path`; an absent `workspace.dir` is the current workspace."""
    value = host.settings.get(path.split("."))
    if value is None and path == "workspace.dir":
        return str(host.workspace)
    return value


def _presence_of(value: Any, missing: bool) -> str:
    """Return whether a value is set, in one word. A set value is never shown: it may be a secret."""
    if not missing:
        return "set"
    if value is None:
        return "unset"
    return "empty" if value == "" else str(value).lower()


def _settings(gate: Gate, hook: Hook, host: Host) -> Evidence:
    looked = tuple(setting_location(path_steps(path), host) for path in gate.missing)
    near = dict.fromkeys(text for path in gate.missing for text in _near_settings(path, host))
    return looked, tuple(near)


def _near_settings(path: str, host: Host) -> Iterator[str]:
    """Yield the set path that was probably meant: one other step than in `path`, else the same last step."""
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
            if host.settings.get(written) is not None and not is_of_another_hook(written, steps, host):
                yield f"{_located_path(written, host)} is set; {path} is needed"
                return
        break
    else:
        return  # the path exists but is not truthy, which `found` shows
    for other in _paths_ending_in(steps[-1], host.settings.value):
        is_near = set(other[:-1]) & set(steps[:-1]) or len(steps) == 1 or len(other) == 1
        if is_near and not is_of_another_hook(other, steps, host):
            yield f"{_located_path(other, host)} is set; {path} is needed"
            return


def _located_path(path: KeyPath, host: Host) -> str:
    place, dotted = host.settings.locate(path), dotted_path(path)
    return f"{dotted} ({place.file.name}:{place.line})" if place is not None else dotted


def _paths_ending_in(name: str, settings: Mapping[str, Any]) -> Iterator[KeyPath]:
    """Yield the paths of settings that have a value and the last step `name`, outermost first."""
    waiting: list[tuple[KeyPath, Any]] = [((), settings)]
    visited = 0
    for path, value in waiting:  # grows during the loop
        for key, part in value.items() if isinstance(value, Mapping) else ():
            visited += 1
            if visited > MOST_VISITED:
                return
            if key == name and part not in (None, "", False, 0):
                yield (*path, key)
            if isinstance(part, Mapping):
                waiting.append(((*path, key), part))


CONFIG = register_gate(
    GateKind(
        "config",
        guide_order=90,
        check=config_gate,
        evidence=_settings,
        evidence_of_host=True,
        fix=FixKind.SET_VALUES,
        problem="{missing} {is} not set in the host's settings",
        remedy="set {missing} in the host's settings",
        is_requirement=True,
    )
)
