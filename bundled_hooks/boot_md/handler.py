"""Hands BOOT.md of each agent's workspace to a configured command when the gateway has started."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookscope import HookEvent

NAME = "boot-md"
SECONDS = 60.0  # for the command, in each workspace


class BootFailed(Exception):
    """The command could not do its work in one workspace or more."""


async def handler(event: HookEvent) -> None:
    """Run the command once for each workspace that has a BOOT.md. One that fails stops no other."""
    settings = own_settings(event)
    command = wanted_command(settings)
    seconds = float(settings.get("timeoutSeconds", SECONDS))
    failures = []
    for workspace in workspaces(event):
        try:  # in a thread: an embedding program goes on meanwhile
            await asyncio.to_thread(boot, workspace, command, seconds)
        except subprocess.TimeoutExpired:
            failures.append(f"BOOT.md of {workspace}: {command[0]} took longer than {seconds:g} s")
        except (OSError, subprocess.CalledProcessError) as error:
            failures.append(f"BOOT.md of {workspace}: {error}")
    if failures:
        raise BootFailed("; ".join(failures))


def boot(workspace: Path, command: list[str], seconds: float) -> None:
    """Raises what `subprocess.run` raises where the command cannot start, fails or takes too long."""
    path = workspace / "BOOT.md"
    if not os.path.isfile(path):  # unlike Path's, for names that no disk can hold too
        print(f"There is no {path}.")
        return
    text = path.read_bytes()
    if not text.strip():
        print(f"{path} is empty.")
    elif not command:
        print(f"{path} was not run: no command is configured (hooks.internal.entries.{NAME}.command).")
    else:
        print(f"{path} goes to {command[0]}.", flush=True)  # before what the command prints
        subprocess.run(command, input=text, cwd=workspace, timeout=seconds, check=True)


def wanted_command(settings: dict[str, Any]) -> list[str]:
    """Empty where none is configured. Raises ValueError for what is not a command."""
    command = settings.get("command") or []
    if isinstance(command, list) and all(isinstance(part, str) for part in command):
        return command
    raise ValueError(f'`command` must be a list of strings, as in ["prog", "arg"], not {command!r}')


def workspaces(event: HookEvent) -> list[Path]:
    """Each agent's workspace, once; that of the settings or the event for agents that name none."""
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
    """Where it leads; a name that no disk can hold leads nowhere, and stays as it is."""
    try:
        return Path(os.path.realpath(path))
    except ValueError:
        return path


def own_settings(event: HookEvent) -> dict[str, Any]:
    """This hook's entry in the host's settings; Milady may have it under `hooks` itself."""
    hooks = value_at(event.context, "cfg", "hooks")
    own = value_at(hooks, "internal", "entries", NAME) or value_at(hooks, "entries", NAME)
    return own if isinstance(own, dict) else {}


def default_workspace(event: HookEvent) -> Path:
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
