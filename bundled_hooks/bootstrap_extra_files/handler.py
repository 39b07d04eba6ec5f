"""Adds more of the workspace's files to those that become the system prompt."""

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
# What OpenClaw as it ships (2026.9) takes besides; its guide says nothing of names.
TAKEN = ("AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md", "BOOTSTRAP.md", "MEMORY.md")


def handler(event: HookEvent) -> None:
    """Add what the patterns of the settings find to `bootstrapFiles` of the context."""
    patterns = wanted_patterns(own_settings(event))
    if not patterns:
        print(f"No patterns are configured (hooks.internal.entries.{NAME}.paths).")
        return
    files = event.context.setdefault("bootstrapFiles", [])
    if not isinstance(files, list):
        raise TypeError(f"bootstrapFiles of the context is a {type(files).__name__}, not a list")
    workspace = real(workspace_of(event))
    known = known_files(files, workspace)
    found = {path for pattern in patterns for path in matches(workspace, pattern)}
    strict = os.environ.get("HOOKSCOPE_HOST_DIALECT", "").startswith("openclaw@")
    added = 0
    for path in sorted(found - known):
        if strict and path.name not in TAKEN:
            refuse(path, f"OpenClaw adds files of these names alone: {', '.join(TAKEN)}")
            continue
        if added == FILES:
            refuse(path, f"neither this file nor the later ones are added: {FILES} is the most")
            break
        text = text_of(path)
        if text is not None:
            name = path.relative_to(workspace).as_posix()
            named = {"name": path.name, "missing": False} if strict else {"name": name, "type": "extra"}
            files.append({**named, "path": str(path), "content": text})
            added += 1
    print(f"Added {added} of {len(found)} matching files.")


def matches(workspace: Path, pattern: str) -> Iterator[Path]:
    """The real paths of the regular files that match, all of them inside the workspace."""
    parts = Path(pattern).parts
    if not parts or ".." in parts or Path(pattern).is_absolute():
        refuse(pattern, "is not a pattern of files below the workspace")
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
    """The file's text; None, and a line that says why, where it cannot be used."""
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
    """Where the files lie that are there already: their path says it, else their name."""
    named = [entry.get(field) for entry in files if isinstance(entry, dict) for field in ("path", "name")]
    return {real(workspace / name) for name in named if isinstance(name, str)}


def real(path: Path) -> Path:
    """The path without links. Unlike Path.resolve it takes links in a circle; they lead to no file."""
    try:
        return Path(os.path.realpath(path))
    except ValueError:  # a name that no disk can hold
        return path


def wanted_patterns(settings: dict[str, Any]) -> list[str]:
    """`paths`, `patterns` and `files` mean the same; each is a list or one text."""
    patterns = []
    for name in ("paths", "patterns", "files"):
        value = settings.get(name, [])
        for pattern in value if isinstance(value, list) else [value]:
            if isinstance(pattern, str) and pattern.strip():
                patterns.append(pattern.strip())
            else:
                refuse(name, f"must be texts, not {pattern!r}")
    return patterns


def own_settings(event: HookEvent) -> dict[str, Any]:
    """This hook's entry in the host's settings; Milady may have it under `hooks` itself."""
    hooks = value_at(event.context, "cfg", "hooks")
    own = value_at(hooks, "internal", "entries", NAME) or value_at(hooks, "entries", NAME)
    return own if isinstance(own, dict) else {}


def workspace_of(event: HookEvent) -> Path:
    """The event's workspace, else the one of the settings, else the one in the host's state folder."""
    for named in (
        event.context.get("workspaceDir"),
        value_at(event.context, "cfg", "workspace", "dir"),
        value_at(event.context, "cfg", "agents", "defaults", "workspace"),
    ):
        if isinstance(named, str) and named:
            return Path(os.path.expanduser(named))
    return Path(os.environ.get("HOOKSCOPE_HOST_STATE") or Path.home() / ".openclaw") / "workspace"


def value_at(tree: Any, *names: str) -> Any:
    """What stands at `a.b.c`; None where there is no such place."""
    for name in names:
        tree = tree.get(name) if isinstance(tree, dict) else None
    return tree
