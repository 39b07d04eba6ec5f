"""A host scanned as if changes were written: an overlay over the disk, in memory."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from hookscope.engine.discovery import discover
from hookscope.engine.examination import examine
from hookscope.hosts.settings.host_opener import open_host
from hookscope.model.hook import Hook
from hookscope.model.hook_status import HookStatus, Inventory, RejectedHook
from hookscope.model.host import Host
from hookscope.model.machine import Files, FolderItem, FoundProgram, PathFacts, RealFiles
from hookscope.storage.edits.change import Change, combined_changes
from hookscope.values import dataclass


class OverlaidFiles:
    """A disk with some files, names and permissions replaced. Implements model.machine's Files."""

    def __init__(self, files: Files, changes: Iterable[Change]) -> None:
        self._files = files
        self._bytes: dict[Path, bytes | None] = {}
        self._from: dict[Path, Path] = {}  # new name → the file with the content
        self._runnable: set[str] = set()
        for change in changes:
            if change.modes is not None:
                self._runnable.add(str(change.path))
            elif change.renamed_to is not None:
                self._bytes[change.renamed_to] = self._bytes.get(change.path, change.new)
                self._bytes[change.path] = None
                self._from[change.renamed_to] = change.path
            else:
                self._bytes[change.path] = change.new
        written = (path for path, content in self._bytes.items() if content is not None)
        above = {folder for path in written for folder in path.parents}
        self._folders = {folder for folder in above if files.facts(folder) is None}
        self._names: defaultdict[Path, dict[Path, bytes | None]] = defaultdict(dict)  # by folder
        for path, content in self._bytes.items():
            self._names[path.parent][path] = content

    def children(self, folder: Path) -> list[FolderItem]:
        new = folder in self._folders
        found = {} if new else {child.name: child for child in self._files.children(folder)}
        for path in self._folders:
            if path.parent == folder:
                found[path.name] = FolderItem(path.name, path, linked=False, folder=True)
        for path, content in self._names.get(folder, {}).items():
            if content is None:
                found.pop(path.name, None)
            else:
                found.setdefault(path.name, FolderItem(path.name, path, linked=False, folder=False))
        return sorted(found.values(), key=lambda child: os.fsencode(child.name))

    def names(self, folder: Path) -> list[str]:
        found = dict.fromkeys([] if folder in self._folders else self._files.names(folder))
        found |= dict.fromkeys(path.name for path in self._folders if path.parent == folder)
        for path, content in self._names.get(folder, {}).items():
            if content is None:
                found.pop(path.name, None)
            else:
                found[path.name] = None
        return list(found)

    def facts(self, path: Path) -> PathFacts | None:
        if path in self._folders:
            return PathFacts(folder=True, file=False, size=0, links=1, linked=False, foreign=False)
        if path not in self._bytes:
            return self._files.facts(path)
        content = self._bytes[path]
        if content is None:
            return None
        before = self._files.facts(self._from.get(path, path))
        whole = PathFacts(folder=False, file=True, size=0, links=1, linked=False, foreign=False)
        return (before or whole)._replace(size=len(content))

    def access_error(self, path: Path) -> OSError | None:
        known = path in self._folders or path in self._bytes
        return None if known else self._files.access_error(path)

    def read(self, path: Path, limit: int = -1) -> bytes:
        if path not in self._bytes:
            return self._files.read(path, limit)
        content = self._bytes[path]
        if content is None:
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return content if limit < 0 else content[:limit]

    def real(self, path: Path) -> Path:
        return self._files.real(path)

    def program(self, name: str, folders: tuple[str, ...], *, folders_too: bool = False) -> FoundProgram:
        for folder in folders:
            path = os.path.join(folder, name)
            found = self._files.program(name, (folder,), folders_too=folders_too)
            if found.path is not None or path in self._runnable:
                return FoundProgram(path, None)
        return self._files.program(name, folders, folders_too=folders_too)


class OneHookFiles(OverlaidFiles):
    """Overlaid files whose hooks folders list nothing but one folder, so that a scan takes little time."""

    def __init__(self, changes: Iterable[Change], hooks_folders: frozenset[Path], only: Path) -> None:
        super().__init__(RealFiles(), changes)
        self._hooks_folders, self._only = hooks_folders, only

    def children(self, folder: Path) -> list[FolderItem]:
        if folder not in self._hooks_folders or folder == self._only:
            return super().children(folder)
        if not self._only.is_relative_to(folder):
            return []
        child = folder / self._only.relative_to(folder).parts[0]
        facts = self.facts(child)
        return [FolderItem(child.name, child, facts.linked, facts.folder)] if facts is not None else []


@dataclass(frozen=True, slots=True)
class SimulatedHost:
    """A host and its inventory after these changes.

    `only`: the one hook folder that is scanned; None: all hook folders are scanned.
    """

    host: Host
    inventory: Inventory
    changes: tuple[Change, ...] = ()
    only: Path | None = None

    def with_changes(self, *more: Change) -> SimulatedHost:
        """Return the host with more changes, each based on the ones before it."""
        if not more:
            return self
        changes = (*combined_changes(self.changes), *more)
        host = self.host
        files = OverlaidFiles(RealFiles(), changes)
        if self.only is not None:
            hooks_folders = frozenset(folder.path for folder in host.folders_of("folder"))
            files = OneHookFiles(changes, hooks_folders, self.only)
        machine = replace(host.machine, files=files)
        host_then = open_host(host.dialect, machine, host.overrides, trust=host.trust)
        return SimulatedHost(host_then, examine(discover(host_then), host_then), changes, self.only)

    def read(self, path: Path) -> bytes | None:
        """Return a file's bytes after the changes; None if it does not exist. Raises OSError."""
        files = self.host.machine.files
        try:
            return files.read(path)
        except FileNotFoundError:
            if (trouble := files.access_error(path)) is not None:
                raise trouble from None
            return None

    def find(self, sought: HookStatus | RejectedHook) -> HookStatus | RejectedHook | None:
        """Return the same item after the changes: a hook by folder or name, a rejected folder by path."""
        if isinstance(sought, HookStatus):
            return next((row for row in self.inventory.hooks if _same_hook(row.hook, sought.hook)), None)
        row = next((row for row in self.inventory.hooks if row.hook.path == sought.path), None)
        same = (item for item in self.inventory.rejected if item.path == sought.path)
        return row or next(same, None)


def _same_hook(one: Hook, other: Hook) -> bool:
    if one.kind != other.kind:
        return False
    if one.path is not None or other.path is not None:
        return one.path == other.path and (one.kind == "folder" or one.name == other.name)
    return (one.name, one.meta.events) == (other.name, other.meta.events)
