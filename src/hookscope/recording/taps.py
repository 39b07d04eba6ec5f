"""The taps of a host: their files from `bundled_hooks/event-tap`, and the record of those installed.

Only recorded files are ever removed.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from hookscope.hosts.folders import FolderSystem
from hookscope.hosts.folders.hook_discovery import MANIFEST
from hookscope.hosts.folders.search_paths import MANAGED
from hookscope.hosts.plugins import PluginSystem
from hookscope.installation import shipped_hooks
from hookscope.model.event_catalogue import ALL_EVENTS
from hookscope.model.failure import Refusal
from hookscope.model.hook import Folder, Hook
from hookscope.model.hook_event import from_iso, iso
from hookscope.model.host import HookSystem, Host
from hookscope.model.machine import path_from_text, path_to_text
from hookscope.model.run import CallGroup, EventKind, NotRun, Plan
from hookscope.model.text import error_reason
from hookscope.storage.state_files import merged_state, state_folder, state_members
from hookscope.values import dataclass

TAP_NAME = "event-tap"  # of every tap; a plugin tap adds a suffix, so that it can be switched alone
TAP_KINDS: tuple[EventKind, ...] = ("folder", "stream", "plugin")
TAPS_MEMBER = "taps"  # the only member of its file
PATIENCE = 10  # seconds to wait for another of our processes


@dataclass(frozen=True, slots=True)
class InstalledTap:
    """A tap as it was written."""

    at: datetime  # when it was first installed, in any version
    kind: EventKind
    language: str
    name: str  # of the hook or plugin
    events: tuple[str, ...]  # the events that it subscribes to
    files: Mapping[Path, str]  # SHA-256 of what was written
    created_folders: tuple[Path, ...]  # folders that the install created
    spool: Path


@dataclass(frozen=True, slots=True)
class InstalledTaps:
    """`installed.json`: a tap's root → what was written. Merged by key under a lock, replaced atomically."""

    file: Path

    def all(self) -> Mapping[Path, InstalledTap]:
        """Return all records; none if the file is unreadable."""
        found = {
            path_from_text(root): _tap_from_document(entry)
            for root, entry in state_members(self.file, TAPS_MEMBER).items()
        }
        return {root: entry for root, entry in found.items() if entry is not None}

    def put(self, root: Path, entry: InstalledTap | None) -> None:
        """Record a tap, or its removal. Raises Refusal if that fails."""
        try:
            with merged_state(self.file, TAPS_MEMBER, patience=PATIENCE) as members:
                members[TAPS_MEMBER].pop(path_to_text(root), None)
                if entry is not None:
                    members[TAPS_MEMBER][path_to_text(root)] = {
                        "at": iso(entry.at),
                        "kind": entry.kind,
                        "language": entry.language,
                        "name": entry.name,
                        "events": list(entry.events),
                        "files": {path_to_text(path): digest for path, digest in entry.files.items()},
                        "made": [path_to_text(path) for path in entry.created_folders],
                        "spool": path_to_text(entry.spool),
                    }
        except OSError as error:
            raise Refusal(
                f"Cannot record the tap in {self.file}: {error_reason(error)}.",
                "Set HOOKSCOPE_STATE_DIR to another folder.",
            ) from None


def is_tap(hook: Hook, modules: Collection[Path]) -> bool:
    """Return True if the hook is a tap whose handler is one of `modules`, also if links lead to it."""
    if hook.handler is None or not hook.name.rpartition("/")[2].startswith(TAP_NAME):
        return False
    real = os.path.realpath(hook.handler)
    return hook.handler in modules or any(os.path.realpath(module) == real for module in modules)


def installed_taps_record() -> InstalledTaps:
    """Return the record file of installed taps."""
    return InstalledTaps(state_folder() / "tap" / "installed.json")


def _tap_from_document(entry: Any) -> InstalledTap | None:
    try:
        return InstalledTap(
            at=from_iso(entry["at"]),
            kind=TAP_KINDS[TAP_KINDS.index(entry["kind"])],
            language=str(entry["language"]),
            name=str(entry["name"]),
            events=tuple(map(str, entry["events"])),
            files={path_from_text(path): str(digest) for path, digest in entry["files"].items()},
            created_folders=tuple(map(path_from_text, entry["made"])),
            spool=path_from_text(entry["spool"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None  # written by another program


TAP_SKIPPED = "skipped: a tap records only what its host sends"


def without_taps(plan: Plan) -> Plan:
    """Return the plan without installed taps: they need no trust and no worker."""
    installed = installed_taps_record().all()
    if not installed:
        return plan
    modules = frozenset(file for entry in installed.values() for file in entry.files)
    groups = tuple(_without(group, modules) for group in plan.groups)
    gone = [call for call in plan.calls if call.hook is not None and is_tap(call.hook, modules)]
    return replace(
        plan,
        groups=tuple(group for group in groups if group.calls),
        not_run=(
            *(NotRun(call.name, TAP_SKIPPED, call.hook, exclusion="chosen") for call in gone),
            *(
                replace(item, reason=TAP_SKIPPED, exclusion="chosen")
                if item.subscribed and item.hook is not None and is_tap(item.hook, modules)
                else item
                for item in plan.not_run
            ),
        ),
    )


def _without(group: CallGroup, modules: frozenset[Path]) -> CallGroup:
    kept = (call for call in group.calls if call.hook is None or not is_tap(call.hook, modules))
    return replace(group, calls=tuple(kept))


TapLanguage = Literal["typescript", "python"]
PLUGIN_NAME = f"{TAP_NAME}-plugin"
TAP_SUFFIX: Mapping[TapLanguage, str] = {"typescript": ".ts", "python": ".py"}
TAP_MODULE: Mapping[EventKind, Mapping[TapLanguage, str]] = {
    "folder": {"typescript": "handler.ts", "python": "handler.py"},
    "plugin": {"typescript": "index.ts", "python": "plugin.py"},
    "stream": {"typescript": f"{TAP_NAME}.ts", "python": f"{TAP_NAME}.py"},
}
SPOOL_IMPORT: Mapping[TapLanguage, str] = {
    "typescript": 'import { tap } from "./spool.ts";\n',
    "python": "from .spool import tap\n",
}
PYTHON_HEAD = r'(?s)\A""".*?"""\n\nfrom __future__ import annotations\n\n'
EVENT_PLACEHOLDER = '"EVENT"'  # placeholder in the template line that is repeated for each event


@dataclass(frozen=True, slots=True)
class TapTemplateValues:
    """The values that an install writes into the templates."""

    spool: str  # the spool's folder: absolute, or as seen from the module
    host: str  # the dialect
    events: Sequence[str]


def tap_module(kind: EventKind, language: TapLanguage, values: TapTemplateValues) -> bytes:
    """Return the module that a host loads: one self-contained file."""
    folder = shipped_hooks() / TAP_NAME / language
    form = (folder / f"{kind}{TAP_SUFFIX[language]}").read_text(encoding="utf-8")
    spool = (folder / f"spool{TAP_SUFFIX[language]}").read_text(encoding="utf-8")
    spool = re.sub(PYTHON_HEAD, "", spool).replace("export function tap(", "function tap(")
    for name, value in (("SPOOL", values.spool), ("HOST", values.host)):
        spool = spool.replace(f'{name} = ""', f"{name} = {json.dumps(value)}", 1)
    lines = form.splitlines(keepends=True)
    filled = (
        line.replace(EVENT_PLACEHOLDER, json.dumps(event))
        for line in lines
        for event in (values.events if EVENT_PLACEHOLDER in line else ("",))
    )
    return "".join(filled).replace(SPOOL_IMPORT[language], spool.rstrip() + "\n", 1).encode()


def tap_manifest(namespace: str, values: TapTemplateValues) -> bytes:
    """Return the HOOK.md: its metadata is one line of JSON, which all hosts can read."""
    text = (shipped_hooks() / TAP_NAME / "HOOK.template.md").read_text(encoding="utf-8")
    metadata = {namespace: {"emoji": "🚰", "events": list(values.events)}}
    return text.replace("metadata: {}", f"metadata: {json.dumps(metadata, ensure_ascii=False)}", 1).encode()


def spool_folder_name(workspace: Path) -> str:
    """Return a readable and unique spool name for a project."""
    from hashlib import sha256  # a scan needs no digest

    return (
        f"{workspace.name or 'project'}-{sha256(str(workspace).encode('utf-8', 'replace')).hexdigest()[:12]}"
    )


SPOOL_FOLDER = "hookscope"  # in the host's state folder
OBSERVING_POLICY = "observe"  # the policy of plugin hooks whose answers are ignored


@dataclass(frozen=True, slots=True)
class Tap:
    """One tap as it will be installed."""

    kind: EventKind
    language: TapLanguage
    name: str  # of the hook or plugin, as lists show it
    root: Path  # its own folder; a stream's module itself
    module: Path
    events: tuple[str, ...]
    files: Mapping[Path, bytes]


def taps_for(host: Host, language: TapLanguage, *, plugin_hooks: bool) -> tuple[Tap, ...]:
    """Return the taps that receive every event that this host sends.

    `plugin_hooks`: also plugin hooks that only observe. Raises Refusal if the host is not installed, or
    supports no tap.
    """
    spool = spool_folder(host)
    if plugin_hooks and "plugin" not in host.dialect.kinds:
        raise Refusal(
            f"{host.dialect.product} has no plugin hooks.", "Install without --plugin-hooks.", code=2
        )
    kinds: tuple[EventKind, ...] = ("folder", "stream", *(("plugin",) if plugin_hooks else ()))
    return tuple(
        _tap_at(host, kind, language, root, spool)
        for kind in kinds
        if kind in host.dialect.kinds
        for root in tap_roots_of(host, kind)
    )


def tap_roots_of(host: Host, kind: EventKind) -> tuple[Path, ...]:
    """Return where taps of that kind are or would be: folders, or for streams module paths without suffix."""
    if kind not in host.dialect.kinds:
        return ()
    name = PLUGIN_NAME if kind == "plugin" else TAP_NAME
    return tuple(folder.path / name for folder in _tap_folders(host, host.dialect.system_of(kind)))


def _tap_folders(host: Host, system: HookSystem) -> Iterator[Folder]:
    """Yield the host's own folder of hooks or plugins, and the hooks folder of every agent of a project."""
    folders, _ = system.folders(host)
    if system.kind == "stream":
        yield from (folder for folder in folders if not folder.incidental)
    else:
        yield from [folder for folder in folders if folder.source == MANAGED][:1]


def spool_folder(host: Host) -> Path:
    """Return where this host's taps write: beside its hooks in its state folder, else in Hookscope's.

    Raises Refusal if the host is not installed, so that its folders are not created.
    """
    from hookscope.hosts.streams.agent_layout import ROOT  # a scan writes no tap

    folder = spool_path(host)
    home = folder.parent if host.dialect.layout.state else host.workspace / ROOT
    if not os.path.isdir(home):
        shown = host.machine.short(home)
        raise Refusal(
            f"{host.dialect.product} is not here: there is no folder {shown}.",
            "`--dialect` names another host, `--workspace` another project.",
        )
    return folder


def spool_path(host: Host) -> Path:
    """Return where the spool is, or would be."""
    if not host.dialect.layout.state:
        return state_folder() / "tap" / spool_folder_name(host.workspace)
    (folder,) = _tap_folders(host, host.dialect.system_of("folder"))
    return folder.path.parent / SPOOL_FOLDER


def events_recorded_by(host: Host, kind: EventKind) -> tuple[str, ...]:
    """Return the events of a tap of that kind: families if the host sends families, else single events."""
    catalogue = host.dialect.catalogue()
    sent = [event for event in catalogue.events if event.kind == kind and event.emitted]
    if kind == "stream":
        return (ALL_EVENTS,)
    if kind == "plugin":
        return tuple(event.key for event in sent if event.policy == OBSERVING_POLICY)
    families = (event.key.partition(":")[0] for event in sent)
    keys = (
        family if catalogue.sends(family, kind) else event.key
        for event, family in zip(sent, families, strict=True)
    )
    return tuple(dict.fromkeys(keys))


def _tap_at(host: Host, kind: EventKind, language: TapLanguage, root: Path, spool: Path) -> Tap:
    own = root.parent if kind == "stream" else root
    module = own / TAP_MODULE[kind][language]
    events = events_recorded_by(host, kind)
    # A project is built, and its modules run from elsewhere; a state folder may be seen under another name.
    seen = str(spool) if kind == "stream" else os.path.relpath(os.path.realpath(spool), os.path.realpath(own))
    values = TapTemplateValues(seen, host.dialect.name, events)
    files = {module: tap_module(kind, language, values)}
    system = host.dialect.system_of(kind)
    if isinstance(system, FolderSystem):
        files[own / MANIFEST] = tap_manifest(system.shape.namespace, values)
    if isinstance(system, PluginSystem):
        files[own / system.shape.manifest] = (
            shipped_hooks() / TAP_NAME / "plugin.template.json"
        ).read_bytes()
    name = PLUGIN_NAME if kind == "plugin" else TAP_NAME
    return Tap(kind, language, name, module if kind == "stream" else root, module, events, files)
