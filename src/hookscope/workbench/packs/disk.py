"""The disk as it would be after an install: folders that are not there yet, others that are gone."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from hookscope.core.surroundings import Facts, Files, FolderItem, Program


class PackDisk:
    """A disk with more files, and without some folders. Implements core's Files."""

    def __init__(self, files: Files, added: Mapping[Path, bytes | None], gone: Collection[Path] = ()) -> None:
        """`added`: by path the bytes of files; None: the file is gone."""
        self._files = files
        self._added = added
        self._gone = frozenset(gone)
        self._folders: dict[Path, dict[str, Path]] = {}
        for path, content in added.items():
            child = path
            while content is not None and child != child.parent:
                if child.name in self._folders.setdefault(child.parent, {}):
                    break
                self._folders[child.parent][child.name] = child
                child = child.parent

    def children(self, folder: Path) -> list[FolderItem]:
        found = {child.name: child for child in self._real_children(folder)}
        for name, path in self._folders.get(folder, {}).items():
            found[name] = FolderItem(name, path, linked=False, folder=path in self._folders)
        return sorted(found.values(), key=lambda child: os.fsencode(child.name))

    def names(self, folder: Path) -> list[str]:
        return [child.name for child in self.children(folder)]

    def _real_children(self, folder: Path) -> list[FolderItem]:
        try:
            found = [] if self._is_gone(folder) else self._files.children(folder)
        except FileNotFoundError:
            if folder not in self._folders:
                raise
            found = []
        return [child for child in found if not self._is_gone(child.path)]

    def facts(self, path: Path) -> Facts | None:
        content = self._added.get(path)
        if content is not None or path in self._folders:
            size = len(content) if content is not None else 0
            return Facts(content is None, content is not None, size, 1, linked=False, foreign=False)
        return None if self._is_gone(path) else self._files.facts(path)

    def trouble(self, path: Path) -> OSError | None:
        known = path in self._added or path in self._folders or self._is_gone(path)
        return None if known else self._files.trouble(path)

    def read(self, path: Path, limit: int = -1) -> bytes:
        content = self._added.get(path)
        if content is not None:
            return content if limit < 0 else content[:limit]
        if self._is_gone(path):
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return self._files.read(path, limit)

    def real(self, path: Path) -> Path:
        return self._files.real(path)

    def program(self, name: str, folders: tuple[str, ...], *, folders_too: bool = False) -> Program:
        return self._files.program(name, folders, folders_too=folders_too)

    def _is_gone(self, path: Path) -> bool:
        if path in self._added:
            return self._added[path] is None
        return path in self._gone or any(folder in self._gone for folder in path.parents)
