"""The files and folder of a new hook, planned from a request. Reads the disk; writes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from hookscope.app.yaml_sections import EVENTS_FOLDER
from hookscope.authoring.scaffold import handler_code, scaffold_files
from hookscope.authoring.scaffold.events import (
    HandledEvent,
    check_events,
    default_event,
    handled_event,
    unsent_notes,
)
from hookscope.authoring.scaffold.handler_code import ScriptCode
from hookscope.authoring.scaffold.request import (
    KIND_OF_SYSTEM,
    MANAGED,
    WORKSPACE,
    ScaffoldKind,
    ScaffoldRequest,
    ScriptLanguage,
    check_description,
    check_name,
)
from hookscope.authoring.scaffold.target_hosts import (
    TargetHost,
    TargetHosts,
    chosen_language,
    default_kind,
    handler_name,
    package_key,
    target_hosts,
)
from hookscope.hosts.folders.hook_discovery import MANIFEST
from hookscope.hosts.folders.search_paths import MANAGED as MANAGED_SOURCE
from hookscope.hosts.plugins import PluginSystem
from hookscope.hosts.streams import StreamSystem
from hookscope.hosts.streams.agent_layout import FIRST_INSTRUCTIONS, missing_files_in
from hookscope.hosts.streams.agents import ROOT
from hookscope.hosts.streams.module_folders import HOOKS_SLOT
from hookscope.model.hook import Hook
from hookscope.model.host import Dialect, Host
from hookscope.model.inventory import Inventory
from hookscope.model.machine import RealFiles
from hookscope.model.refusal import Refusal
from hookscope.model.run import EventKind
from hookscope.storage.edits.change import Change
from hookscope.values import dataclass

PLUGINS_FOLDER = "plugins"  # below a workspace
AGENT_FOLDER = "agent"


@dataclass(frozen=True, slots=True)
class ScaffoldPlace:
    """The folder for the new hook, and the workspace of its saved event."""

    parent: Path
    workspace: Path


def scaffold_workspace(host: Host) -> Path:
    """Return the workspace; the current folder if the host has none yet, so that it becomes one."""
    here = host.surroundings.cwd
    files = host.surroundings.files
    nowhere = host.choices.workspace is None and files.facts(host.workspace) is None
    return here if nowhere and here != host.surroundings.home else host.workspace


def scaffold_place(wish: ScaffoldRequest, kind: ScaffoldKind, host: Host) -> ScaffoldPlace:
    """Return where the new hook goes. Raises Refusal if no such folder is available."""
    workspace = scaffold_workspace(host)
    if wish.where not in ("", WORKSPACE, MANAGED):
        parent = host.surroundings.absolute(wish.where)
        facts = host.surroundings.files.facts(parent)
        if facts is not None and not facts.folder:
            raise Refusal(f"{parent} is a file.", "--in wants a folder, workspace or managed.", code=2)
        return ScaffoldPlace(parent, parent / wish.name if kind == "pack" else workspace)
    if kind == "pack":
        here = host.surroundings.cwd if wish.where == "" else None
        parent = here or _scaffold_folder(wish.where, kind, host, workspace)
        return ScaffoldPlace(parent, parent / wish.name)
    return ScaffoldPlace(_scaffold_folder(wish.where or WORKSPACE, kind, host, workspace), workspace)


def _scaffold_folder(where: str, kind: ScaffoldKind, host: Host, workspace: Path) -> Path:
    if where == MANAGED:
        managed = (
            folder for folder in host.folders_of(KIND_OF_SYSTEM[kind]) if folder.source == MANAGED_SOURCE
        )
        folder = next(managed, None)
        if folder is None:
            raise Refusal(
                f"{host.dialect.product} has no managed {KIND_OF_SYSTEM[kind]} hooks.",
                "They go into the workspace.",
                code=2,
            )
        return folder.path
    if kind == "stream":
        return workspace / AGENT_FOLDER / HOOKS_SLOT.folder
    return workspace / (PLUGINS_FOLDER if kind == "plugin" else "hooks")


SUFFIX: dict[ScriptLanguage, str] = {"python": ".py", "typescript": ".ts", "javascript": ".js"}


@dataclass(frozen=True, slots=True)
class ScaffoldPlan:
    """The files that would be written. Making one writes nothing."""

    wish: ScaffoldRequest
    kind: ScaffoldKind
    language: ScriptLanguage
    readers: TargetHosts
    events: tuple[HandledEvent, ...]
    root: Path  # the new hook's own folder, or its module
    main: Path  # the file to edit first
    files: tuple[tuple[Path, bytes], ...]
    saved: Path | None  # the saved event, if a host scans that folder
    where: ScaffoldPlace
    notes: tuple[str, ...]

    @property
    def change(self) -> Change:
        """All files as one change."""
        meaning = f"new {self.kind} {self.wish.name}"
        first, *rest = (Change(path, meaning, None, content, is_code=True) for path, content in self.files)
        above = {folder for path, _ in self.files for folder in path.parents}
        made = sorted(folder for folder in above if not os.path.lexists(folder))
        return replace(first, more=tuple(rest), made=tuple(made))


def plan_scaffold(wish: ScaffoldRequest, host: Host, inventory: Inventory) -> ScaffoldPlan:
    """Return the plan of a request for the host in force and its inventory.

    Raises Refusal for an invalid or existing name, for events that no host sends, and for a language that
    no chosen host looks for.
    """
    check_name(wish.name)
    check_description(wish.description)
    names = wish.dialects or (host.dialect.name,)
    kind = default_kind(names, wish.kind)
    readers = target_hosts(names, kind, asked=bool(wish.dialects))
    where = scaffold_place(wish, kind, host)
    language, about_language = chosen_language(wish.language, readers)
    of_events = KIND_OF_SYSTEM[kind]
    keys = check_events(wish.events, of_events, readers) or (default_event(of_events, readers),)
    events = tuple(handled_event(key, of_events, readers) for key in keys)
    wish = replace(
        wish, description=wish.description or scaffold_files.default_description(events, of_events)
    )
    looked_in = any(
        host.surroundings.absolute(folder.path) == where.parent for folder in host.folders
    ) or wish.where in ("", "workspace", "managed")
    made = ScaffoldPlan(
        wish=wish,
        kind=kind,
        language=language,
        readers=readers,
        events=events,
        root=where.parent / wish.name,
        main=where.parent / wish.name,
        files=(),
        saved=where.workspace / EVENTS_FOLDER / f"{wish.name}.yaml" if looked_in or kind == "pack" else None,
        where=where,
        notes=(*about_language, *unsent_notes(keys, of_events, readers)),
    )
    made = _with_files(made)
    if made.saved is not None:
        pushed = of_events == "folder" and all(event.delivers for event in events)
        text = scaffold_files.saved_event_text(wish.name, events[0], of_events, pushed=pushed)
        made = replace(made, files=(*made.files, (made.saved, text.encode())))
    else:
        note = (
            f"No host looks in {where.parent}: `hookscope lint {made.root}` does, and nothing runs it there."
        )
        made = replace(made, notes=(*made.notes, note))
    _check_free(made, inventory, host, of_events)
    return made


def _with_files(made: ScaffoldPlan) -> ScaffoldPlan:
    match made.kind:
        case "hook":
            return _hook_files(made, made.root)
        case "pack":
            return _pack_files(made)
        case "plugin":
            return _plugin_files(made)
        case "stream":
            return _module_files(made)


def _hook_files(made: ScaffoldPlan, folder: Path, *, esm: bool = True) -> ScaffoldPlan:
    """Add HOOK.md and handler in a folder; `esm`: with the package.json that a `.js` needs."""
    name, events, readers = made.wish.name, made.events, made.readers
    file = handler_name(made.language, readers)
    if made.language == "python":
        code = handler_code.python_handler(name, events)
    else:
        code = ScriptCode(made.language == "typescript").handler(name, events)
    manifest = scaffold_files.hook_md_text(
        name, made.wish.description, metadata_of(events, readers), events, file
    )
    files = [(folder / MANIFEST, manifest.encode()), (folder / file, code.encode())]
    if esm and file.endswith(".js"):
        files.append((folder / "package.json", scaffold_files.module_package_json().encode()))
    return replace(made, files=tuple(files), main=folder / file)


def metadata_of(events: tuple[HandledEvent, ...], readers: TargetHosts) -> dict[str, list[str]]:
    """Return namespace → events that a target host sends; all events if it sends none.

    The host then reports the hook as silent, not broken: it reads it, and sends it nothing.
    """
    found: dict[str, list[str]] = {}
    for one in readers.chosen:
        keys = found.setdefault(one.namespace, [])
        keys += [
            event.key
            for event in events
            if event.key not in keys and one.catalogue.sends(event.key, "folder")
        ]
    return {namespace: keys or [event.key for event in events] for namespace, keys in found.items()}


def _pack_files(made: ScaffoldPlan) -> ScaffoldPlan:
    root, name = made.root, made.wish.name
    within = f"hooks/{name}"
    hook = _hook_files(made, root / within, esm=False)
    own = {package_key(one.dialect): {"hooks": [f"./{within}"]} for one in made.readers.chosen}
    package = scaffold_files.package_json(name, made.wish.description, own, esm=hook.main.suffix == ".js")
    readme = scaffold_files.readme_text(name, made.wish.description, within)
    more = ((root / "package.json", package.encode()), (root / "README.md", readme.encode()))
    return replace(hook, files=(*hook.files, *more))


def _plugin_files(made: ScaffoldPlan) -> ScaffoldPlan:
    root, name, events = made.root, made.wish.name, made.events
    if made.language == "python":
        entry, code = "plugin.py", handler_code.python_plugin(name, events)
    else:
        entry = f"index{SUFFIX[made.language]}"
        code = ScriptCode(made.language == "typescript").plugin(name, events)
    system = made.readers.first.system
    assert isinstance(system, PluginSystem)
    manifest = scaffold_files.plugin_manifest(name, made.wish.description)
    files = [(root / system.shape.manifest, manifest.encode()), (root / entry, code.encode())]
    if made.language != "python":
        own = {system.shape.package_key: {"extensions": [f"./{entry}"]}}
        files.append((root / "package.json", scaffold_files.package_json(name, own=own, esm=True).encode()))
    return replace(made, files=tuple(files), main=root / entry)


def _module_files(made: ScaffoldPlan) -> ScaffoldPlan:
    name, events = made.wish.name, made.events
    suffix = ".mjs" if made.language == "javascript" else SUFFIX[made.language]
    main = made.root.with_name(name + suffix)
    if made.language == "python":
        code = handler_code.python_module(name, events)
    else:
        package = made.readers.first.dialect.layout.packages[0]
        code = ScriptCode(made.language == "typescript").module(name, events, package)
    begun = _instructions(made, made.readers.chosen)
    notes = [
        f"{path.name} is new, too: {one.product} builds nothing without it." for path, one in begun.items()
    ]
    for path, one in _instructions(made, made.readers.behind).items():
        if path not in begun:
            notes.append(f"{one.product} {one.version} builds nothing without {ROOT}/{path.name}.")
    files = ((main, code.encode()), *((path, FIRST_INSTRUCTIONS) for path in begun))
    return replace(made, files=files, main=main, root=main, notes=(*made.notes, *notes))


def _instructions(made: ScaffoldPlan, readers: Iterable[TargetHost]) -> dict[Path, Dialect]:
    """Return the files without which one of these hosts builds nothing, each with that host."""
    found = {}
    for one in readers:
        if isinstance(one.system, StreamSystem):
            for path in missing_files_in(made.where.workspace / ROOT, one.system.files, RealFiles()):
                found[path] = one.dialect
    return found


def _check_free(made: ScaffoldPlan, inventory: Inventory, host: Host, kind: EventKind) -> None:
    """Raise Refusal if a file exists already, or a hook with that name is in force."""
    name, short = made.wish.name, host.surroundings.short
    if made.kind != "stream" and os.path.lexists(made.root):
        raise Refusal(f"There is {short(made.root)} already.", "Nothing was written; choose another name.")
    there = next((path for path, _ in made.files if os.path.lexists(path)), None)
    if made.kind == "stream" and there is None:
        stems = made.root.parent.glob(f"{name}.*") if os.path.isdir(made.root.parent) else iter(())
        there = next(stems, None)
    if there is not None:
        raise Refusal(f"There is {short(there)} already.", "Nothing was written; choose another name.")
    if made.kind == "pack" or made.saved is None:
        return
    other = next(
        (row.hook for row in inventory.hooks if row.hook.name == name and row.hook.kind == kind), None
    )
    if other is not None:
        raise Refusal(
            f"There is a hook {name} already: {_precedence_note(made, other, host)}", "Choose another name."
        )


def _precedence_note(made: ScaffoldPlan, other: Hook, host: Host) -> str:
    from hookscope.authoring.fix.simulation import SimulatedHost  # rarely needed

    at = f"{host.surroundings.short(other.path or other.folder.path)} ({other.folder.source})"
    then = SimulatedHost(host, Inventory()).after(*made.change.parts)
    new = next((row for row in then.inventory.hooks if row.hook.path == made.root), None)
    if new is not None and new.verdict.shadowed_by is None:
        return f"the new one would shadow {at}."
    return f"{at} would shadow the new one."
