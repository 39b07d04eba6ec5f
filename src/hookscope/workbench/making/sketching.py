"""From a wish to the files that fulfil it. Reads disk; writes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from hookscope.changes import Change
from hookscope.core.dialect import Dialect, Host
from hookscope.core.hooks import Hook
from hookscope.core.inventory import Inventory
from hookscope.core.runs import EventKind
from hookscope.core.surroundings import RealFiles
from hookscope.systems.folders.shapes import MANIFEST
from hookscope.systems.plugins import PluginSystem
from hookscope.systems.streams import StreamSystem
from hookscope.systems.streams.agents import ROOT
from hookscope.systems.streams.household import FIRST_INSTRUCTIONS, wanted_in
from hookscope.values import dataclass
from hookscope.workbench.making import papers, python_texts
from hookscope.workbench.making.events import Heard, check_events, default_event, heard, unsent
from hookscope.workbench.making.places import Where, where_of
from hookscope.workbench.making.readers import (
    Reader,
    Readers,
    handler_name,
    kind_of,
    language_of,
    package_key,
    readers_of,
)
from hookscope.workbench.making.script_texts import ScriptTexts
from hookscope.workbench.making.wish import OF_KIND, Kind, Script, Wish, check_description, check_name
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.saved import EVENTS

SUFFIX: dict[Script, str] = {"python": ".py", "typescript": ".ts", "javascript": ".js"}


@dataclass(frozen=True, slots=True)
class Sketched:
    """What would be written. Making it writes nothing."""

    wish: Wish
    kind: Kind
    language: Script
    readers: Readers
    events: tuple[Heard, ...]
    root: Path  # the folder that is the new one's own, or its module
    main: Path  # where its author goes on writing
    files: tuple[tuple[Path, bytes], ...]
    saved: Path | None  # the saved event, where a host looks in that folder
    where: Where
    notes: tuple[str, ...]

    @property
    def change(self) -> Change:
        """All of it as one change."""
        meaning = f"new {self.kind} {self.wish.name}"
        first, *rest = (Change(path, meaning, None, content, is_code=True) for path, content in self.files)
        above = {folder for path, _ in self.files for folder in path.parents}
        made = sorted(folder for folder in above if not os.path.lexists(folder))
        return replace(first, more=tuple(rest), made=tuple(made))


def sketched(wish: Wish, host: Host, inventory: Inventory) -> Sketched:
    """What fulfils a wish here. `host` is the one in force, `inventory` what was found in it.

    Raises Refusal for a name that cannot be given or is taken, for events that nobody sends, and for a
    language that no chosen host looks for.
    """
    check_name(wish.name)
    check_description(wish.description)
    names = wish.dialects or (host.dialect.name,)
    kind = kind_of(names, wish.kind)
    readers = readers_of(names, kind, asked=bool(wish.dialects))
    where = where_of(wish, kind, host)
    language, about_language = language_of(wish.language, readers)
    of_events = OF_KIND[kind]
    keys = check_events(wish.events, of_events, readers) or (default_event(of_events, readers),)
    events = tuple(heard(key, of_events, readers) for key in keys)
    wish = replace(wish, description=wish.description or papers.describe(events, of_events))
    looked_in = any(
        host.surroundings.absolute(folder.path) == where.parent for folder in host.folders
    ) or wish.where in ("", "workspace", "managed")
    made = Sketched(
        wish=wish,
        kind=kind,
        language=language,
        readers=readers,
        events=events,
        root=where.parent / wish.name,
        main=where.parent / wish.name,
        files=(),
        saved=where.workspace / EVENTS / f"{wish.name}.yaml" if looked_in or kind == "pack" else None,
        where=where,
        notes=(*about_language, *unsent(keys, of_events, readers)),
    )
    made = _with_files(made)
    if made.saved is not None:
        pushed = of_events == "folder" and all(event.delivers for event in events)
        text = papers.saved_event(wish.name, events[0], of_events, pushed=pushed)
        made = replace(made, files=(*made.files, (made.saved, text.encode())))
    else:
        note = (
            f"No host looks in {where.parent}: `hookscope lint {made.root}` does, and nothing runs it there."
        )
        made = replace(made, notes=(*made.notes, note))
    _check_free(made, inventory, host, of_events)
    return made


def _with_files(made: Sketched) -> Sketched:
    match made.kind:
        case "hook":
            return _hook(made, made.root)
        case "pack":
            return _pack(made)
        case "plugin":
            return _plugin(made)
        case "stream":
            return _module(made)


def _hook(made: Sketched, folder: Path, *, esm: bool = True) -> Sketched:
    """HOOK.md and handler in a folder; `esm`: with the package.json that a `.js` needs."""
    name, events, readers = made.wish.name, made.events, made.readers
    file = handler_name(made.language, readers)
    if made.language == "python":
        code = python_texts.handler(name, events)
    else:
        code = ScriptTexts(made.language == "typescript").handler(name, events)
    manifest = papers.hook_md(name, made.wish.description, metadata_of(events, readers), events, file)
    files = [(folder / MANIFEST, manifest.encode()), (folder / file, code.encode())]
    if esm and file.endswith(".js"):
        files.append((folder / "package.json", papers.module_type().encode()))
    return replace(made, files=tuple(files), main=folder / file)


def metadata_of(events: tuple[Heard, ...], readers: Readers) -> dict[str, list[str]]:
    """Namespace → events: those that some of its readers gets sent; all of them where there are none.

    Then its host calls the hook silent, and not broken: it is read, and has nothing to hear.
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


def _pack(made: Sketched) -> Sketched:
    root, name = made.root, made.wish.name
    within = f"hooks/{name}"
    hook = _hook(made, root / within, esm=False)
    own = {package_key(one.dialect): {"hooks": [f"./{within}"]} for one in made.readers.chosen}
    package = papers.package(name, made.wish.description, own, esm=hook.main.suffix == ".js")
    readme = papers.readme(name, made.wish.description, within)
    more = ((root / "package.json", package.encode()), (root / "README.md", readme.encode()))
    return replace(hook, files=(*hook.files, *more))


def _plugin(made: Sketched) -> Sketched:
    root, name, events = made.root, made.wish.name, made.events
    if made.language == "python":
        entry, code = "plugin.py", python_texts.plugin(name, events)
    else:
        entry = f"index{SUFFIX[made.language]}"
        code = ScriptTexts(made.language == "typescript").plugin(name, events)
    system = made.readers.first.system
    assert isinstance(system, PluginSystem)
    manifest = papers.plugin_manifest(name, made.wish.description)
    files = [(root / system.shape.manifest, manifest.encode()), (root / entry, code.encode())]
    if made.language != "python":
        own = {system.shape.package_key: {"extensions": [f"./{entry}"]}}
        files.append((root / "package.json", papers.package(name, own=own, esm=True).encode()))
    return replace(made, files=tuple(files), main=root / entry)


def _module(made: Sketched) -> Sketched:
    name, events = made.wish.name, made.events
    suffix = ".mjs" if made.language == "javascript" else SUFFIX[made.language]
    main = made.root.with_name(name + suffix)
    if made.language == "python":
        code = python_texts.module(name, events)
    else:
        package = made.readers.first.dialect.layout.packages[0]
        code = ScriptTexts(made.language == "typescript").module(name, events, package)
    begun = _instructions(made, made.readers.chosen)
    notes = [
        f"{path.name} is new, too: {one.product} builds nothing without it." for path, one in begun.items()
    ]
    for path, one in _instructions(made, made.readers.behind).items():
        if path not in begun:
            notes.append(f"{one.product} {one.version} builds nothing without {ROOT}/{path.name}.")
    files = ((main, code.encode()), *((path, FIRST_INSTRUCTIONS) for path in begun))
    return replace(made, files=files, main=main, root=main, notes=(*made.notes, *notes))


def _instructions(made: Sketched, readers: Iterable[Reader]) -> dict[Path, Dialect]:
    """What the project lacks without which one of these hosts builds none of it, each with that host."""
    found = {}
    for one in readers:
        if isinstance(one.system, StreamSystem):
            for path in wanted_in(made.where.workspace / ROOT, one.system.files, RealFiles()):
                found[path] = one.dialect
    return found


def _check_free(made: Sketched, inventory: Inventory, host: Host, kind: EventKind) -> None:
    """Raises Refusal where something stands there already, or a hook of that name is in force."""
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
            f"There is a hook {name} already: {_who_wins(made, other, host)}", "Choose another name."
        )


def _who_wins(made: Sketched, other: Hook, host: Host) -> str:
    from hookscope.workbench.fixing.sketch import Sketch  # here: few names are taken

    at = f"{host.surroundings.short(other.path or other.folder.path)} ({other.folder.source})"
    then = Sketch(host, Inventory()).after(*made.change.parts)
    new = next((row for row in then.inventory.hooks if row.hook.path == made.root), None)
    if new is not None and new.verdict.shadowed_by is None:
        return f"the new one would shadow {at}."
    return f"{at} would shadow the new one."
