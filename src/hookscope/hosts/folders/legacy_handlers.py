"""Handlers that the settings list one by one: `handlers: [{event, module, export}]`."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from hookscope.formats.positions import dotted_path
from hookscope.formats.script_values import is_truthy, script_text
from hookscope.hosts.folders.manifest import describe_value
from hookscope.hosts.gates.path import PATH_PASSED
from hookscope.hosts.gates.rules import UNNAMED
from hookscope.model.hook import LANGUAGE_OF, Folder, Hook, Metadata, MetadataFault
from hookscope.model.hook_status import Gate, GateRule
from hookscope.model.host import Host
from hookscope.model.payload import mapping_or_empty
from hookscope.model.text import one_line
from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class LegacyRule:
    """Where legacy modules may be."""

    roots: Callable[[Host], tuple[Path, ...]]
    links_resolved: bool  # False: the path is compared as text, so a link may leave the roots
    refusal: str  # the host's sentence, with the placeholder {module}
    literal: bool = False  # `~` and types are taken literally; paths are relative to the current folder


def legacy_hooks(host: Host, rule: LegacyRule | None) -> list[Hook]:
    """Return a hook for each legacy handler. Refused ones are included: their `path` gate fails."""
    if rule is None:
        return []
    listed, setting_path = host.hooks_setting("handlers")
    if listed is None:
        return []
    folder = Folder("settings", "settings", host.settings.file, rank=100, declared=dotted_path(setting_path))
    if not isinstance(listed, list):
        return _hooks_of_non_list(listed, folder, rule, host)
    return [_hook(item, number, folder, rule, host) for number, item in enumerate(listed)]


def _hooks_of_non_list(listed: Any, folder: Folder, rule: LegacyRule, host: Host) -> list[Hook]:
    """Return the hooks that a host without type checks makes of `handlers` if it is not a list.

    The host iterates over a string letter by letter, and fails on any other truthy value.
    """
    if not rule.literal or not is_truthy(listed):
        return []
    if isinstance(listed, str):
        return [_hook(letter, number, folder, rule, host) for number, letter in enumerate(listed)]
    fault = MetadataFault(("module",), f"`{folder.declared}` must be a list, not {describe_value(listed)}")
    return [replace(_hook(None, 0, folder, rule, host), name="handlers", meta=Metadata(faults=(fault,)))]


def _hook(item: Any, number: int, folder: Folder, rule: LegacyRule, host: Host) -> Hook:
    item_map = mapping_or_empty(item)
    faults = tuple(
        MetadataFault(
            (number, name),
            f"`handlers[{number}].{name}` must be a string, not {describe_value(item_map.get(name))}",
        )
        for name in ("event", "module")
        if not isinstance(item_map.get(name), str)
    )
    export, module = item_map.get("export"), item_map.get("module")
    unnamed = not rule.literal and not (isinstance(module, str) and module.strip())
    if unnamed and isinstance(module, str):
        faults += (MetadataFault((number, "module"), f"`handlers[{number}].module` names no file"),)
    written = host.machine.cwd / str(module or "") if rule.literal else str(module or "")
    path = host.machine.absolute(written, base=host.workspace)
    real = host.machine.files.real(path)
    name = module if isinstance(module, str) and module and not unnamed else f"handlers[{number}]"
    return Hook(
        name=name,
        written=module if rule.literal and isinstance(module, str) and module != name else None,
        kind="legacy",
        folder=folder,
        path=path.parent,
        meta=Metadata(
            events=_events(item_map, rule),
            export=_export(export, rule),
            excluded_events=_refusal_of(item_map, rule),
            faults=faults,
        ),
        description=f"listed in {folder.declared}[{number}]",
        handler=path,
        language=LANGUAGE_OF.get(path.suffix, "unknown" if path.suffix else "javascript"),
        real=real.parent,
        leads_out=real if real != path and not unnamed else None,
        role=UNNAMED if unnamed else "",
    )


def _events(item: Mapping[str, Any], rule: LegacyRule) -> tuple[str, ...]:
    """Return the event that the handler subscribes to.

    Under a `literal` rule any value is registered as a string, and an absent one as `undefined`.
    """
    event = item.get("event")
    if rule.literal:
        return (script_text(event) if "event" in item else "undefined",)
    return (event,) if isinstance(event, str) and event else ()


def _refusal_of(item: Mapping[str, Any], rule: LegacyRule) -> Mapping[str, str]:
    event = item.get("event")
    if not rule.literal or isinstance(event, str):
        return {}
    found = describe_value(event) if "event" in item else "nothing"
    return dict.fromkeys(_events(item, rule), f"`event` is {found}, so no event matches it")


def _export(export: Any, rule: LegacyRule) -> str:
    """Return the name of the export. Under a `literal` rule, any value becomes a string."""
    if rule.literal:
        return "default" if export is None else script_text(export)
    return export.strip() or "default" if isinstance(export, str) else "default"


def _module_of(hook: Hook, rule: LegacyRule, host: Host) -> Path | None:
    """Return the file to compare with the roots; None if it cannot be determined.

    Under a `literal` rule with resolved links, a dangling link is refused. The path of a missing file is
    compared as written; the import fails later (eliza 19).
    """
    assert hook.handler is not None
    if not rule.links_resolved:
        return hook.handler
    files = host.machine.files
    if not rule.literal or files.facts(hook.handler) is not None:
        return hook.leads_out or hook.handler
    try:
        return None if hook.handler.name in files.names(hook.handler.parent) else hook.handler
    except FileNotFoundError:
        return hook.handler
    except OSError:
        return None


def legacy_path_gate(rule: LegacyRule, folders: GateRule) -> GateRule:
    """Return the `path` gate: the legacy rule for legacy handlers, `folders` for hook folders."""

    def path(hook: Hook, host: Host) -> Gate:
        if hook.kind != "legacy":
            return folders(hook, host)
        module = _module_of(hook, rule, host)
        roots = rule.roots(host)
        if module is not None and any(module.is_relative_to(root) for root in roots):
            return PATH_PASSED
        module = module or hook.handler
        return Gate(
            "path",
            False,
            needed=tuple(str(root) for root in roots),
            missing=(str(module),),
            found=one_line(str(module)),
            reason=rule.refusal.format(module=hook.reported_name),
        )

    return path
