"""Handlers that the settings name one by one: `handlers: [{event, module, export}]`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hookscope.core.dialect import Host
from hookscope.core.hooks import LANGUAGE_OF, Fault, Folder, Gate, Hook, Metadata
from hookscope.core.text import one_line
from hookscope.systems.folders.gates import PATH_OPEN, GateRule
from hookscope.systems.folders.metadata import describe
from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class LegacyRule:
    """Where legacy modules may lie."""

    roots: Callable[[Host], tuple[Path, ...]]
    links_resolved: bool  # False: the path is compared as text, so a link may lead out
    refusal: str  # the host's sentence: {module}
    literal: bool = False  # `~` is a name like any other, and relative paths count from the current folder


def legacy_hooks(host: Host, rule: LegacyRule | None) -> list[Hook]:
    """A hook for each legacy handler, refused ones included: their `path` gate is shut."""
    if rule is None:
        return []
    listed, where = host.hooks_setting("handlers")
    if listed is None:
        return []
    folder = Folder("settings", "settings", host.settings.file, rank=100, declared=".".join(map(str, where)))
    if not isinstance(listed, list):
        return []
    return [_hook(item, number, folder, rule, host) for number, item in enumerate(listed)]


def _hook(item: Any, number: int, folder: Folder, rule: LegacyRule, host: Host) -> Hook:
    item_map: Mapping[str, Any] = item if isinstance(item, Mapping) else {}
    faults = tuple(
        Fault(
            (number, name), f"`handlers[{number}].{name}` wants a text and has {describe(item_map.get(name))}"
        )
        for name in ("event", "module")
        if not isinstance(item_map.get(name), str)
    )
    export, event, module = (item_map.get(name) for name in ("export", "event", "module"))
    written = host.surroundings.cwd / str(module or "") if rule.literal else str(module or "")
    path = host.surroundings.absolute(written, base=host.workspace)
    real = host.surroundings.files.real(path)
    return Hook(
        name=module if isinstance(module, str) and module else f"handlers[{number}]",
        kind="legacy",
        folder=folder,
        path=path.parent,
        meta=Metadata(
            events=(event,) if isinstance(event, str) and event else (),
            export=export.strip() if isinstance(export, str) and export.strip() else "default",
            faults=faults,
        ),
        description=f"listed in {folder.declared}[{number}]",
        handler=path,
        language=LANGUAGE_OF.get(path.suffix, "unknown" if path.suffix else "javascript"),
        real=real.parent,
        leads_out=real if real != path else None,
    )


def legacy_path(rule: LegacyRule, folders: GateRule) -> GateRule:
    """The `path` gate: the legacy rule for legacy handlers, `folders` for hook folders."""

    def path(hook: Hook, host: Host) -> Gate:
        if hook.kind != "legacy":
            return folders(hook, host)
        assert hook.handler is not None
        module = (hook.leads_out or hook.handler) if rule.links_resolved else hook.handler
        roots = rule.roots(host)
        if any(module.is_relative_to(root) for root in roots):
            return PATH_OPEN
        return Gate(
            "path",
            False,
            needed=tuple(str(root) for root in roots),
            missing=(str(module),),
            found=one_line(str(module)),
            reason=rule.refusal.format(module=hook.name),
        )

    return path
