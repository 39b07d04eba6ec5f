"""Handlers that settings map to plugin hooks: `[{event, module or file, export, priority, name}]`.

Event names and handler paths are validated. Source: OpenClaw's plugin guide, "Gateway Hooks".
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hookscope.formats.positions import KeyPath, dotted_path
from hookscope.hosts.folders.manifest import describe_value
from hookscope.model.hook import LANGUAGE_OF, MAPPED_ROLE, FilePosition, Folder, Hook, Metadata, Problem
from hookscope.model.hook_status import FoundHooks, RejectedHook
from hookscope.model.host import Host
from hookscope.model.text import one_line
from hookscope.values import dataclass

PLUGIN_HOOKS_KEY = "plugin_hooks"  # the project's own list
SUFFIXES = (".ts", ".mts", ".js", ".mjs", ".cjs", ".py")
KNOWN_KEYS = frozenset({"event", "module", "file", "export", "priority", "name"})

LocateItem = Callable[[KeyPath], FilePosition | None]


@dataclass(frozen=True, slots=True)
class MappingRules:
    """The place in the settings where mapped handlers are defined."""

    setting: KeyPath | None  # in the host's own settings; None: its schema has no such key


@dataclass(frozen=True, slots=True)
class _Definitions:
    """One list of definitions: its title, its items, and the position of each item."""

    title: str
    items: Sequence[Any]
    file: Path
    locate: LocateItem


class _InvalidDefinition(Exception):
    """A definition is not valid. The text is the reason; `field` names the invalid field, if known."""

    def __init__(self, text: str, field: str = "") -> None:
        super().__init__(text)
        self.field = field


def mapped_hooks(host: Host, rules: MappingRules) -> FoundHooks:
    """Return a hook for each valid definition: those of the host's settings first, then the project's."""
    hooks, rejected, problems = list[Hook](), list[RejectedHook](), list[Problem]()
    for definitions in _lists(host, rules, problems):
        folder = Folder(
            "settings", "settings", definitions.file, rank=100, declared=definitions.title, hook_kind="plugin"
        )
        for number, item in enumerate(definitions.items):
            try:
                hooks.append(_hook(item, f"{definitions.title}[{number}]", folder, host))
            except _InvalidDefinition as wrong:
                place = definitions.locate(
                    (number, wrong.field) if wrong.field else (number,)
                ) or definitions.locate((number,))
                reason = f"{definitions.title}[{number}]: {wrong}"
                rejected.append(RejectedHook(definitions.file, "settings", reason, place, _name_of(item)))
    return FoundHooks(tuple(hooks), tuple(rejected), tuple(problems))


def _lists(host: Host, rules: MappingRules, problems: list[Problem]) -> Iterator[_Definitions]:
    file, setting_path = host.settings.file, rules.setting
    listed = host.settings.get(setting_path) if setting_path is not None else None
    if setting_path is not None and isinstance(listed, list):
        yield _Definitions(
            dotted_path(setting_path), listed, file, lambda at: host.settings.locate((*setting_path, *at))
        )
    elif setting_path is not None and listed is not None:
        dotted = dotted_path(setting_path)
        text = f"{dotted} must be a list of {{event, module or file}}, not {describe_value(listed)}"
        problems.append(Problem(text, host.settings.place_of(setting_path)))
    if host.overrides.plugin_hooks:
        yield _Definitions(PLUGIN_HOOKS_KEY, host.overrides.plugin_hooks, host.workspace, lambda at: None)


def _hook(item: Any, title: str, folder: Folder, host: Host) -> Hook:
    """Return the hook of a definition. Raises _InvalidDefinition."""
    if not isinstance(item, Mapping):
        raise _InvalidDefinition(f"it must be {{event, module or file}}, not {describe_value(item)}")
    event = _event(item, host)
    file = _file(item, host)
    real = host.machine.files.real(file)
    unknown = sorted(str(key) for key in item if key not in KNOWN_KEYS)
    return Hook(
        name=_name_of(item) or file.stem,
        kind="plugin",
        folder=folder,
        path=None,
        meta=Metadata(events=(event,), export=_text(item, "export") or "default", priority=_priority(item)),
        description=f"listed in {title}",
        handler=file,
        language=LANGUAGE_OF.get(file.suffix, "unknown"),
        real=real.parent,
        root=file.parent,
        role=MAPPED_ROLE,
        notes=tuple(f"{title}: nothing reads `{one_line(key, 40)}`" for key in unknown),
    )


def _name_of(item: Any) -> str:
    name = item.get("name") if isinstance(item, Mapping) else None
    return name.strip() if isinstance(name, str) else ""


def _event(item: Mapping[str, Any], host: Host) -> str:
    """Return the event in the host's spelling. Raises _InvalidDefinition with the closest known name."""
    written = _text(item, "event")
    if not written:
        raise _InvalidDefinition("it names no `event`")
    catalogue = host.dialect.catalogue()
    event, known = catalogue.canonical(written), catalogue.keys_of("plugin")
    if event in known:
        return event
    closest = catalogue.nearest(written.replace("-", "_"), "plugin")
    suggestion = f"; did you mean {closest}?" if closest else ""
    raise _InvalidDefinition(
        f"{host.dialect.product} has no plugin hook {one_line(written, 60)}{suggestion}", "event"
    )


def _file(item: Mapping[str, Any], host: Host) -> Path:
    """Return the handler's file, which need not exist. Raises _InvalidDefinition for a forbidden path."""
    file, module = _text(item, "file"), _text(item, "module")
    if file and module:
        raise _InvalidDefinition("it names both a `module` and a `file`", "module")
    if file:
        return host.machine.absolute(file, base=host.workspace)
    if not module:
        raise _InvalidDefinition("it names neither a `module` nor a `file`")
    parts = module.replace("\\", "/").split("/")
    if Path(module).is_absolute() or module.startswith("~") or ".." in parts:
        raise _InvalidDefinition(
            f"`module` must be a relative path without `..`, not {one_line(module)}", "module"
        )
    return _module(module, host)


def _module(module: str, host: Host) -> Path:
    """Return the file of a module in the workspace, else in the state folder; the suffix may be omitted."""
    files = host.machine.files
    bases = [host.machine.absolute(module, base=root) for root in (host.workspace, host.state)]
    for base in bases:
        file_names = (base, *(base.with_name(base.name + suffix) for suffix in SUFFIXES))
        for path in (*file_names, *(base / f"index{suffix}" for suffix in SUFFIXES)):
            facts = files.facts(path)
            if facts is not None and facts.file:
                return path
    return bases[0]


def _text(item: Mapping[str, Any], key: str) -> str:
    """Return a string field; empty if it is absent. Raises _InvalidDefinition for another type."""
    value = item.get(key)
    if value is not None and not isinstance(value, str):
        raise _InvalidDefinition(f"`{key}` must be a string, not {describe_value(value)}", key)
    return value.strip() if value else ""


def _priority(item: Mapping[str, Any]) -> int:
    value = item.get("priority", 0)
    is_whole = value.is_integer() if isinstance(value, float) else isinstance(value, int)
    if isinstance(value, bool) or not is_whole:  # Infinity and NaN are not whole numbers
        raise _InvalidDefinition(
            f"`priority` must be a whole number, not {describe_value(value)}", "priority"
        )
    return int(value)
