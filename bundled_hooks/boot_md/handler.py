"""Passes the BOOT.md of each agent's workspace to a configured command when the gateway has started."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookscope import HookEvent

NAME = "boot-md"
SECONDS = 60.0  # time limit of the command in each workspace


class BootFailed(Exception):
    """The command failed in at least one workspace."""


async def handler(event: HookEvent) -> None:
    """Run the command once for each workspace that has a BOOT.md, even if it fails in one of them."""
    settings = own_settings(event)
    command = wanted_command(settings)
    seconds = float(settings.get("timeoutSeconds", SECONDS))
    failures = []
    for workspace in workspaces(event):
        try:  # in a thread, so that the event loop keeps running
            await asyncio.to_thread(boot, workspace, command, seconds)
        except subprocess.TimeoutExpired:
            failures.append(f"BOOT.md of {workspace}: {command[0]} took longer than {seconds:g} s")
        except (OSError, subprocess.CalledProcessError) as error:
            failures.append(f"BOOT.md of {workspace}: {error}")
    if failures:
        raise BootFailed("; ".join(failures))


def boot(workspace: Path, command: list[str], seconds: float) -> None:
    """Run the command with BOOT.md as its input. Raises what `subprocess.run` raises if that fails."""
    path = workspace / "BOOT.md"
    if not os.path.isfile(path):  # unlike Path.is_file, accepts impossible names too
        print(f"There is no {path}.")
        return
    text = path.read_bytes()
    if not text.strip():
        print(f"{path} is empty.")
    elif not command:
        print(f"{path} was not run: no command is configured (hooks.internal.entries.{NAME}.command).")
    else:
        print(f"{path} goes to {command[0]}.", flush=True)  # before the output of the command
        subprocess.run(command, input=text, cwd=workspace, timeout=seconds, check=True)


def wanted_command(settings: dict[str, Any]) -> list[str]:
    """Return the configured command; empty if there is none. Raises ValueError if it is invalid."""
    command = settings.get("command") or []
    if isinstance(command, list) and all(isinstance(part, str) for part in command):
        return command
    raise ValueError(f'`command` must be a list of strings, as in ["prog", "arg"], not {command!r}')


def workspaces(event: HookEvent) -> list[Path]:
    """Return each agent's workspace once. Agents without one have the default workspace."""
    entries = value_at(event.context, "cfg", "agents", "entries")
    listed = value_at(event.context, "cfg", "agents", "list")
    agents = list(entries.values()) if isinstance(entries, dict) else listed
    named = [value_at(agent, "workspace") for agent in agents] if isinstance(agents, list) else []
    paths = [
        Path(os.path.expanduser(name)) if isinstance(name, str) and name else default_workspace(event)
        for name in named or [None]
    ]
    return list(dict.fromkeys(map(without_links, paths)))


def without_links(path: Path) -> Path:
    """Return the path with links resolved; a path that is impossible on a disk is unchanged."""
    try:
        return Path(os.path.realpath(path))
    except ValueError:
        return path


def own_settings(event: HookEvent) -> dict[str, Any]:
    """Return this hook's entry in the host's settings. Milady also allows it directly under `hooks`."""
    hooks = value_at(event.context, "cfg", "hooks")
    own = value_at(hooks, "internal", "entries", NAME) or value_at(hooks, "entries", NAME)
    return own if isinstance(own, dict) else {}


def default_workspace(event: HookEvent) -> Path:
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
