"""Adds more files of the workspace to the files from which the system prompt is built."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hookscope import HookEvent

NAME = "bootstrap-extra-files"
FILES = 20
SIZE = 64 * 1024  # bytes of one file
# File names that OpenClaw 2026.9 accepts; its guide does not mention that.
TAKEN = ("AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md", "BOOTSTRAP.md", "MEMORY.md")


def handler(event: HookEvent) -> None:
    """Add the files that match the configured patterns to `bootstrapFiles` of the context."""
    patterns = wanted_patterns(own_settings(event))
    if not patterns:
        print(f"No patterns are configured (hooks.internal.entries.{NAME}.paths).")
        return
    files = event.context.setdefault("bootstrapFiles", [])
    if not isinstance(files, list):
        raise TypeError(f"`bootstrapFiles` of the context is a {type(files).__name__}, not a list")
    workspace = real(workspace_of(event))
    known = known_files(files, workspace)
    found = {path for pattern in patterns for path in matches(workspace, pattern)}
    strict = os.environ.get("HOOKSCOPE_HOST_DIALECT", "").startswith("openclaw@")
    added = 0
    for path in sorted(found - known):
        if strict and path.name not in TAKEN:
            refuse(path, f"OpenClaw adds only files of these names: {', '.join(TAKEN)}")
            continue
        if added == FILES:
            refuse(path, f"this file and the following ones are not added: the limit is {FILES} files")
            break
        text = text_of(path)
        if text is not None:
            name = path.relative_to(workspace).as_posix()
            named = {"name": path.name, "missing": False} if strict else {"name": name, "type": "extra"}
            files.append({**named, "path": str(path), "content": text})
            added += 1
    print(f"Added {added} of {len(found)} matching files.")


def matches(workspace: Path, pattern: str) -> Iterator[Path]:
    """Yield the real paths of matching regular files inside the workspace."""
    parts = Path(pattern).parts
    if not parts or ".." in parts or Path(pattern).is_absolute():
        refuse(pattern, "is not a pattern for files below the workspace")
        return
    try:
        hits = sorted(workspace.glob(pattern))
    except (OSError, ValueError) as error:
        refuse(pattern, str(error))
        return
    for hit in hits:
        path = real(hit)
        if path.is_file():
            if workspace in path.parents:
                yield path
            else:
                refuse(hit, "leads out of the workspace")


def text_of(path: Path) -> str | None:
    """Return the file's text; print why and return None if it cannot be used."""
    try:
        with path.open("rb") as file:
            data = file.read(SIZE + 1)
        if len(data) <= SIZE:
            return data.decode()
        refuse(path, f"is larger than {SIZE // 1024} KiB")
    except UnicodeDecodeError:
        refuse(path, "is not UTF-8 text")
    except OSError as error:
        refuse(path, f"cannot be read: {error.strerror}")
    return None


def refuse(what: object, why: str) -> None:
    print(f"{NAME}: {what}: {why}", file=sys.stderr)


def known_files(files: list[Any], workspace: Path) -> set[Path]:
    """Return the real paths of the files that are listed already, by path or name."""
    named = [entry.get(field) for entry in files if isinstance(entry, dict) for field in ("path", "name")]
    return {real(workspace / name) for name in named if isinstance(name, str)}


def real(path: Path) -> Path:
    """Return the path with links resolved. Unlike Path.resolve, this accepts circular links."""
    try:
        return Path(os.path.realpath(path))
    except ValueError:  # a path that is impossible on a disk
        return path


def wanted_patterns(settings: dict[str, Any]) -> list[str]:
    """Return the patterns in `paths`, `patterns` and `files`, each of which is a list or one string."""
    patterns = []
    for name in ("paths", "patterns", "files"):
        value = settings.get(name, [])
        for pattern in value if isinstance(value, list) else [value]:
            if isinstance(pattern, str) and pattern.strip():
                patterns.append(pattern.strip())
            else:
                refuse(name, f"must contain strings, not {pattern!r}")
    return patterns


def own_settings(event: HookEvent) -> dict[str, Any]:
    """Return this hook's entry in the host's settings. Milady also allows it directly under `hooks`."""
    hooks = value_at(event.context, "cfg", "hooks")
    own = value_at(hooks, "internal", "entries", NAME) or value_at(hooks, "entries", NAME)
    return own if isinstance(own, dict) else {}


def workspace_of(event: HookEvent) -> Path:
    """Return the workspace of the event, else of the settings, else the one in the host's state folder."""
    for named in (
        event.context.get("workspaceDir"),
        value_at(event.context, "cfg", "workspace", "dir"),
        value_at(event.context, "cfg", "agents", "defaults", "workspace"),
    ):
        if isinstance(named, str) and named:
            return Path(os.path.expanduser(named))
    return Path(os.environ.get("HOOKSCOPE_HOST_STATE") or Path.home() / ".openclaw") / "workspace"


def value_at(tree: Any, *names: str) -> Any:
    """Return the value at a path of names, such as `a.b.c`; None if there is none."""
    for name in names:
        tree = tree.get(name) if isinstance(tree, dict) else None
    return tree
