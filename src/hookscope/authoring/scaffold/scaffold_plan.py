"""The files and folder of a new hook, planned from a request. Reads the disk; writes nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hookscope.app.event_templates import WORKSPACE_FIELD, with_example_folders
from hookscope.app.project_config import EVENTS_FOLDER
from hookscope.app.variables import CFG, STATE_VARIABLE, WORKSPACE_VARIABLE, escaped_value
from hookscope.authoring.scaffold import handler_code
from hookscope.authoring.scaffold.handler_code import (
    GUARDED_EVENTS,
    WORSE_HANDLING,
    HandledEvent,
    ScriptCode,
    check_events,
    default_event,
    handled_event,
    type_and_action,
    unsent_notes,
)
from hookscope.authoring.scaffold.request import (
    KIND_OF_SYSTEM,
    MANAGED,
    WORKSPACE,
    ScaffoldKind,
    ScaffoldRequest,
    ScriptLanguage,
    TargetHost,
    TargetHosts,
    check_description,
    check_name,
    chosen_language,
    default_kind,
    handler_name,
    package_key,
    target_hosts,
)
from hookscope.authoring.testing.expectations import literal_pattern
from hookscope.authoring.testing.saved_events import new_source
from hookscope.formats.positions import FormatError
from hookscope.formats.yaml12 import read_yaml
from hookscope.hosts.folders.hook_discovery import MANIFEST
from hookscope.hosts.folders.search_paths import MANAGED as MANAGED_SOURCE
from hookscope.hosts.plugins import PluginSystem
from hookscope.hosts.streams import StreamSystem
from hookscope.hosts.streams.agent_layout import FIRST_INSTRUCTIONS, ROOT, missing_files_in
from hookscope.hosts.streams.module_folders import HOOKS_SLOT
from hookscope.model.failure import Refusal
from hookscope.model.hook import Hook
from hookscope.model.hook_status import Inventory
from hookscope.model.host import Dialect, Host
from hookscope.model.machine import RealFiles
from hookscope.model.run import EventKind
from hookscope.storage.edits.change import Change
from hookscope.values import dataclass


def hook_md_text(
    name: str,
    description: str,
    metadata: Mapping[str, Sequence[str]],
    events: Sequence[HandledEvent],
    file: str,
) -> str:
    """Return a HOOK.md. Its metadata is JSON on one line, which every host reads."""
    own = {namespace: {"events": list(keys)} for namespace, keys in metadata.items()}
    when = "\n".join(f"- `{event.key}`: {event.when}" for event in events)
    return f"""\
---
name: {_header_text(name)}
description: {_header_text(description)}
metadata: {json.dumps(own)}
---

# {name}

{_document_text(description)}

It receives these events:

{when}

The handler is `{file}`.
"""


def _header_text(text: str) -> str:
    """Return the text as is if YAML reads it unchanged, else in quotes: line-based readers accept both."""
    try:
        if read_yaml(f"x: {text}\n".encode()) == {"x": text}:
            return text
    except FormatError:
        pass
    return json.dumps(text, ensure_ascii=False)


def _document_text(description: str) -> str:
    return description if description.endswith((".", "!", "?")) else f"{description}."


def default_description(events: Sequence[HandledEvent], kind: EventKind) -> str:
    """Return a description for a request without one."""
    keys = [event.key for event in events]
    if keys == [GUARDED_EVENTS]:
        return "Blocks destructive commands"
    listed = " and ".join(keys) if len(keys) < 3 else f"{', '.join(keys[:-1])} and {keys[-1]}"
    return f"Reports {'every event' if keys == ['*'] else listed}"


def package_json(
    name: str, description: str = "", own: Mapping[str, Mapping[str, object]] | None = None, *, esm: bool
) -> str:
    """Return a package.json. `own`: each host's block under its key."""
    document: dict[str, Any] = {"name": name.lower(), "version": "0.1.0"}
    if description:
        document["description"] = description
    if esm:
        document["type"] = "module"
    return json.dumps({**document, **(own or {})}, indent=2, ensure_ascii=False) + "\n"


def plugin_manifest(name: str, description: str) -> str:
    """Return a plugin's manifest. OpenClaw requires a settings schema; this plugin has no settings."""
    schema = {"type": "object", "additionalProperties": False, "properties": {}}
    document = {"id": name, "description": description, "version": "0.1.0", "configSchema": schema}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def readme_text(name: str, description: str, folder: str) -> str:
    """Return the README of a pack."""
    return f"""\
# {name}

{_document_text(description)}

`package.json` lists the folders of its hooks. In this folder

    hookscope lint hooks        # what is wrong with them
    hookscope list              # their status
    hookscope test              # fires the saved events of `.hookscope/events`

`{folder}` is the first hook. `hookscope new` in this folder writes more; list them in `package.json`.
"""


def saved_event_document(
    name: str, event: HandledEvent, kind: EventKind, *, pushed: bool
) -> Mapping[str, Any]:
    """Return a saved event whose expectations do not depend on other hooks."""
    document: dict[str, Any] = {"event": event.example_key}
    workspace, state = f"${{{WORKSPACE_VARIABLE}}}", f"${{{STATE_VARIABLE}}}"  # for other machines
    context = with_example_folders(escaped_value(dict(event.context)), workspace, state)
    if WORKSPACE_FIELD in context:
        context[WORKSPACE_FIELD] = workspace
    if kind == "folder":
        context[CFG] = f"${{{CFG}}}"
    if event.example_key == GUARDED_EVENTS and event.key == GUARDED_EVENTS:
        document["context"] = {**context, "params": {"command": f"{WORSE_HANDLING[0]} /"}}
        document["expect"] = {"blocked": True}
        return document
    if context:
        document["context"] = context
    family, action = type_and_action(event.example_key)
    if kind == "folder":
        about = event.value if event.field else event.session
        text = f"{name}: {family}:{action} ({about})"
    else:
        about = f" ({event.value})" if event.field and event.key == event.example_key else ""
        text = f"{name}: {event.example_key}{about}"
    document["expect"] = {"messages" if pushed else "output": {name: [escaped_value(literal_pattern(text))]}}
    return document


AGENT_FOLDER = "agent"


@dataclass(frozen=True, slots=True)
class ScaffoldPlace:
    """The folder for the new hook, and the workspace of its saved event."""

    parent: Path
    workspace: Path


def scaffold_workspace(host: Host) -> Path:
    """Return the host's workspace, or the current folder if the workspace does not exist yet."""
    cwd = host.machine.cwd
    files = host.machine.files
    has_no_workspace = host.overrides.workspace is None and files.facts(host.workspace) is None
    return cwd if has_no_workspace and cwd != host.machine.home else host.workspace


def scaffold_place(request: ScaffoldRequest, kind: ScaffoldKind, host: Host) -> ScaffoldPlace:
    """Return where the new hook goes. Raises Refusal if no such folder is available."""
    workspace = scaffold_workspace(host)
    if request.where not in ("", WORKSPACE, MANAGED):
        parent = host.machine.absolute(request.where)
        facts = host.machine.files.facts(parent)
        if facts is not None and not facts.folder:
            raise Refusal(f"{parent} is a file.", "--in needs a folder, workspace or managed.", code=2)
        return ScaffoldPlace(parent, parent / request.name if kind == "pack" else workspace)
    if kind == "pack":
        cwd = host.machine.cwd if request.where == "" else None
        parent = cwd or _scaffold_folder(request.where, kind, host, workspace)
        return ScaffoldPlace(parent, parent / request.name)
    return ScaffoldPlace(_scaffold_folder(request.where or WORKSPACE, kind, host, workspace), workspace)


def _scaffold_folder(where: str, kind: ScaffoldKind, host: Host, workspace: Path) -> Path:
    if where == MANAGED:
        managed = (
            folder for folder in host.folders_of(KIND_OF_SYSTEM[kind]) if folder.source == MANAGED_SOURCE
        )
        folder = next(managed, None)
        if folder is None:
            raise Refusal(
                f"{host.dialect.product} has no managed {KIND_OF_SYSTEM[kind]} hooks.",
                "Use the workspace instead.",
                code=2,
            )
        return folder.path
    if kind == "stream":
        return workspace / AGENT_FOLDER / HOOKS_SLOT.folder
    return workspace / (_plugins_folder(host) if kind == "plugin" else "hooks")


def _plugins_folder(host: Host) -> Path:
    """Return the plugins folder of a workspace, relative to it: the first that the host searches."""
    own = (folder for folder in host.folders_of("plugin") if folder.source == WORKSPACE)
    below = (folder.path.relative_to(host.workspace) for folder in own if folder.path != host.workspace)
    return next(below, Path("plugins"))


SUFFIX: dict[ScriptLanguage, str] = {"python": ".py", "typescript": ".ts", "javascript": ".js"}


@dataclass(frozen=True, slots=True)
class ScaffoldPlan:
    """The files that would be written. Creating a plan writes nothing."""

    request: ScaffoldRequest
    kind: ScaffoldKind
    language: ScriptLanguage
    targets: TargetHosts
    events: tuple[HandledEvent, ...]
    root: Path  # the new hook's own folder, or its module
    main_file: Path  # the file to edit first
    files: tuple[tuple[Path, bytes], ...]
    saved_event: Path | None  # the saved event, if a host scans that folder
    place: ScaffoldPlace
    notes: tuple[str, ...]

    @property
    def change(self) -> Change:
        """All files as one change."""
        meaning = f"new {self.kind} {self.request.name}"
        first, *rest = (Change(path, meaning, None, content, is_code=True) for path, content in self.files)
        above = {folder for path, _ in self.files for folder in path.parents}
        made = sorted(folder for folder in above if not os.path.lexists(folder))
        return replace(first, other_changes=tuple(rest), created_folders=tuple(made))


def plan_scaffold(request: ScaffoldRequest, host: Host, inventory: Inventory) -> ScaffoldPlan:
    """Return the plan of a request for this host and its inventory.

    Raises Refusal for an invalid or existing name, for events that no host sends, and for a language in
    which the chosen hosts have no common handler name.
    """
    check_name(request.name)
    check_description(request.description)
    names = request.dialects or (host.dialect.name,)
    kind = default_kind(names, request.kind)
    targets = target_hosts(names, kind, explicit=bool(request.dialects))
    place = scaffold_place(request, kind, host)
    of_events = KIND_OF_SYSTEM[kind]
    others = [
        row.hook
        for row in inventory.hooks
        if row.hook.handler is not None and row.hook.handler.is_relative_to(place.workspace)
    ]
    language, about_language = chosen_language(request.language, targets, others)
    keys = check_events(request.events, of_events, targets) or (default_event(of_events, targets),)
    events = tuple(handled_event(key, of_events, targets) for key in keys)
    request = replace(request, description=request.description or default_description(events, of_events))
    is_scanned = any(
        host.machine.absolute(folder.path) == place.parent for folder in host.folders
    ) or request.where in ("", "workspace", "managed")
    plan = ScaffoldPlan(
        request=request,
        kind=kind,
        language=language,
        targets=targets,
        events=events,
        root=place.parent / request.name,
        main_file=place.parent / request.name,
        files=(),
        saved_event=place.workspace / EVENTS_FOLDER / f"{request.name}.yaml"
        if is_scanned or kind == "pack"
        else None,
        place=place,
        notes=(*about_language, *unsent_notes(keys, of_events, targets)),
    )
    plan = _with_files(plan)
    if plan.saved_event is not None:
        pushed = of_events == "folder" and all(event.delivers for event in events)
        document = saved_event_document(request.name, events[0], of_events, pushed=pushed)
        source = new_source(plan.saved_event, document)
        plan = replace(plan, files=(*plan.files, (plan.saved_event, source)))
    else:
        note = (
            f"No host scans {place.parent}, so the hook never runs; `hookscope lint {plan.root}` checks it."
        )
        plan = replace(plan, notes=(*plan.notes, note))
    _check_free(plan, inventory, host, of_events)
    return plan


def _with_files(plan: ScaffoldPlan) -> ScaffoldPlan:
    match plan.kind:
        case "hook":
            return _hook_files(plan, plan.root)
        case "pack":
            return _pack_files(plan)
        case "plugin":
            return _plugin_files(plan)
        case "stream":
            return _module_files(plan)


def _hook_files(plan: ScaffoldPlan, folder: Path, *, esm: bool = True) -> ScaffoldPlan:
    """Add HOOK.md and handler in a folder; `esm`: with the package.json that a `.js` needs."""
    name, events, targets = plan.request.name, plan.events, plan.targets
    file = handler_name(plan.language, targets)
    if plan.language == "python":
        code = handler_code.python_handler(name, events)
    else:
        code = ScriptCode(plan.language == "typescript").handler(name, events)
    manifest = hook_md_text(name, plan.request.description, metadata_of(events, targets), events, file)
    files = [(folder / MANIFEST, manifest.encode()), (folder / file, code.encode())]
    if esm and file.endswith(".js"):
        files.append((folder / "package.json", b'{ "type": "module" }\n'))
    return replace(plan, files=tuple(files), main_file=folder / file)


def metadata_of(events: tuple[HandledEvent, ...], targets: TargetHosts) -> dict[str, list[str]]:
    """Return namespace → the events that its host sends; all events if the host sends none.

    With all events, the host reports the hook as one that never runs, not as broken.
    """
    found: dict[str, list[str]] = {}
    for one in targets.chosen:
        keys = found.setdefault(one.namespace, [])
        keys += [
            event.key
            for event in events
            if event.key not in keys and one.catalogue.sends(event.key, "folder")
        ]
    return {namespace: keys or [event.key for event in events] for namespace, keys in found.items()}


def _pack_files(plan: ScaffoldPlan) -> ScaffoldPlan:
    root, name = plan.root, plan.request.name
    within = f"hooks/{name}"
    hook = _hook_files(plan, root / within, esm=False)
    own = {package_key(one.dialect): {"hooks": [f"./{within}"]} for one in plan.targets.chosen}
    package = package_json(name, plan.request.description, own, esm=hook.main_file.suffix == ".js")
    readme = readme_text(name, plan.request.description, within)
    more = ((root / "package.json", package.encode()), (root / "README.md", readme.encode()))
    return replace(hook, files=(*hook.files, *more))


def _plugin_files(plan: ScaffoldPlan) -> ScaffoldPlan:
    root, name, events = plan.root, plan.request.name, plan.events
    if plan.language == "python":
        entry, code = "plugin.py", handler_code.python_plugin(name, events)
    else:
        entry = f"index{SUFFIX[plan.language]}"
        code = ScriptCode(plan.language == "typescript").plugin(name, events)
    system = plan.targets.first.system
    assert isinstance(system, PluginSystem)
    manifest = plugin_manifest(name, plan.request.description)
    files = [(root / system.shape.manifest, manifest.encode()), (root / entry, code.encode())]
    if plan.language != "python":
        own = {system.shape.package_key: {"extensions": [f"./{entry}"]}}
        files.append((root / "package.json", package_json(name, own=own, esm=True).encode()))
    return replace(plan, files=tuple(files), main_file=root / entry)


def _module_files(plan: ScaffoldPlan) -> ScaffoldPlan:
    name, events = plan.request.name, plan.events
    suffix = ".mjs" if plan.language == "javascript" else SUFFIX[plan.language]
    main = plan.root.with_name(name + suffix)
    if plan.language == "python":
        code = handler_code.python_module(name, events)
    else:
        package = plan.targets.first.dialect.layout.packages[0]
        code = ScriptCode(plan.language == "typescript").module(name, events, package)
    new_instructions = _instructions(plan, plan.targets.chosen)
    notes = [
        f"{path.name} is also created: {one.product} cannot build the project without it."
        for path, one in new_instructions.items()
    ]
    for path, one in _instructions(plan, plan.targets.programs).items():
        if path not in new_instructions:
            notes.append(f"{one.product} {one.version} cannot build the project without {ROOT}/{path.name}.")
    files = ((main, code.encode()), *((path, FIRST_INSTRUCTIONS) for path in new_instructions))
    return replace(plan, files=files, main_file=main, root=main, notes=(*plan.notes, *notes))


def _instructions(plan: ScaffoldPlan, targets: Iterable[TargetHost]) -> dict[Path, Dialect]:
    """Return the missing files without which a host cannot build the project, each with its host."""
    found = {}
    for one in targets:
        if isinstance(one.system, StreamSystem):
            for path in missing_files_in(plan.place.workspace / ROOT, one.system.file_rules, RealFiles()):
                found[path] = one.dialect
    return found


def _check_free(plan: ScaffoldPlan, inventory: Inventory, host: Host, kind: EventKind) -> None:
    """Raise Refusal if a file exists already, or the host has a hook with that name."""
    name, short = plan.request.name, host.machine.short
    if plan.kind != "stream" and os.path.lexists(plan.root):
        raise Refusal(f"{short(plan.root)} already exists.", "Nothing was written; choose another name.")
    existing = next((path for path, _ in plan.files if os.path.lexists(path)), None)
    if plan.kind == "stream" and existing is None:
        stems = plan.root.parent.glob(f"{name}.*") if os.path.isdir(plan.root.parent) else iter(())
        existing = next(stems, None)
    if existing is not None:
        raise Refusal(f"{short(existing)} already exists.", "Nothing was written; choose another name.")
    if plan.kind == "pack" or plan.saved_event is None:
        return
    other = next(
        (row.hook for row in inventory.hooks if row.hook.name == name and row.hook.kind == kind), None
    )
    if other is not None:
        raise Refusal(
            f"A hook {name} already exists: {_precedence_note(plan, other, host)}", "Choose another name."
        )


def _precedence_note(plan: ScaffoldPlan, other: Hook, host: Host) -> str:
    from hookscope.authoring.fix.simulation import SimulatedHost  # rarely needed

    at = f"{host.machine.short(other.path or other.folder.path)} ({other.folder.source})"
    simulated = SimulatedHost(host, Inventory()).with_changes(*plan.change.parts)
    new = next((row for row in simulated.inventory.hooks if row.hook.path == plan.root), None)
    if new is not None and new.verdict.shadowed_by is None:
        return f"the new one would shadow {at}."
    return f"{at} would shadow the new one."
