"""Where the taps of a host stand, what each is made of and what it hears."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from hookscope.core.dialect import Host, System
from hookscope.core.event_types import EVERY
from hookscope.core.hooks import Folder
from hookscope.core.runs import EventKind
from hookscope.systems.folders import FolderSystem
from hookscope.systems.folders.places import MANAGED
from hookscope.systems.folders.shapes import MANIFEST
from hookscope.systems.plugins import PluginSystem
from hookscope.systems.streams.agents import ROOT
from hookscope.values import dataclass
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.state_files import state_folder
from hookscope.workbench.tap.record import NAME
from hookscope.workbench.tap.templates import (
    MODULE,
    PLUGIN_NAME,
    TapLanguage,
    TapTexts,
    manifest_of,
    module_of,
    plugin_manifest,
    spool_folder_name,
)

SPOOL_FOLDER = "hookscope"  # in the host's state folder
OBSERVES = "observe"  # the policy of plugin hooks whose answers nobody reads


@dataclass(frozen=True, slots=True)
class Tap:
    """One tap as it stands once it is installed."""

    kind: EventKind
    language: TapLanguage
    name: str  # of the hook or plugin, as lists show it
    root: Path  # its own folder; a stream's module itself
    module: Path
    events: tuple[str, ...]
    files: Mapping[Path, bytes]


def taps_of(host: Host, language: TapLanguage, *, plugin_hooks: bool = False) -> tuple[Tap, ...]:
    """The taps that hear all that this host says it sends.

    `plugin_hooks`: those too that only observe. Raises Refusal where the host is not here, or has none.
    """
    spool = spool_folder(host)
    if plugin_hooks and "plugin" not in host.dialect.kinds:
        raise Refusal(
            f"{host.dialect.product} has no plugin hooks.", "Install without --plugin-hooks.", code=2
        )
    kinds: tuple[EventKind, ...] = ("folder", "stream", *(("plugin",) if plugin_hooks else ()))
    return tuple(
        _tap(host, kind, language, root, spool)
        for kind in kinds
        if kind in host.dialect.kinds
        for root in roots_of(host, kind)
    )


def roots_of(host: Host, kind: EventKind) -> tuple[Path, ...]:
    """Where the taps of that kind stand, installed or not: a folder each; of a stream, the module's stem."""
    if kind not in host.dialect.kinds:
        return ()
    name = PLUGIN_NAME if kind == "plugin" else NAME
    return tuple(folder.path / name for folder in _folders(host, host.dialect.system_of(kind)))


def _folders(host: Host, system: System) -> Iterator[Folder]:
    """The host's own folder of hooks, or of plugins; the hooks folder of every agent of a project."""
    folders, _ = system.folders(host)
    if system.kind == "stream":
        yield from (folder for folder in folders if not folder.aside)
    else:
        yield from [folder for folder in folders if folder.source == MANAGED][:1]


def spool_folder(host: Host) -> Path:
    """Where this host's taps write. Beside its hooks in its state folder, else in Hookscope's.

    Raises Refusal where the host is not here, so that nobody makes its folders for it.
    """
    folder = spool_place(host)
    home = folder.parent if host.dialect.layout.state else host.workspace / ROOT
    if not os.path.isdir(home):
        shown = host.surroundings.short(home)
        raise Refusal(
            f"{host.dialect.product} is not here: there is no folder {shown}.",
            "`--dialect` names another host, `--workspace` another project.",
        )
    return folder


def spool_place(host: Host) -> Path:
    """Where the spool is, or would be."""
    if not host.dialect.layout.state:
        return state_folder() / "tap" / spool_folder_name(host.workspace)
    (folder,) = _folders(host, host.dialect.system_of("folder"))
    return folder.path.parent / SPOOL_FOLDER


def events_heard(host: Host, kind: EventKind) -> tuple[str, ...]:
    """What a tap of that kind asks for: families where the host calls families, else single events."""
    catalogue = host.dialect.catalogue()
    sent = [event for event in catalogue.events if event.kind == kind and event.emitted]
    if kind == "stream":
        return (EVERY,)
    if kind == "plugin":
        return tuple(event.key for event in sent if event.policy == OBSERVES)
    families = (event.key.partition(":")[0] for event in sent)
    asked = (
        family if catalogue.sends(family, kind) else event.key
        for event, family in zip(sent, families, strict=True)
    )
    return tuple(dict.fromkeys(asked))


def _tap(host: Host, kind: EventKind, language: TapLanguage, root: Path, spool: Path) -> Tap:
    own = root.parent if kind == "stream" else root
    module = own / MODULE[kind][language]
    events = events_heard(host, kind)
    # A project is built, and its modules run from elsewhere; a state folder may be seen under another name.
    seen = str(spool) if kind == "stream" else os.path.relpath(os.path.realpath(spool), os.path.realpath(own))
    filling = TapTexts(seen, host.dialect.name, events)
    files = {module: module_of(kind, language, filling)}
    system = host.dialect.system_of(kind)
    if isinstance(system, FolderSystem):
        files[own / MANIFEST] = manifest_of(system.shape.namespace, filling)
    if isinstance(system, PluginSystem):
        files[own / system.shape.manifest] = plugin_manifest()
    name = PLUGIN_NAME if kind == "plugin" else NAME
    return Tap(kind, language, name, module if kind == "stream" else root, module, events, files)
