"""Where a new hook is put: its workspace, and the folder that it gets there."""

from __future__ import annotations

from pathlib import Path

from hookscope.core.dialect import Host
from hookscope.systems.folders.places import MANAGED as MANAGED_SOURCE
from hookscope.systems.streams.slots import HOOKS
from hookscope.values import dataclass
from hookscope.workbench.making.wish import MANAGED, OF_KIND, WORKSPACE, Kind, Wish
from hookscope.workbench.refusal import Refusal

PLUGINS = "plugins"  # below a workspace
AGENT = "agent"


@dataclass(frozen=True, slots=True)
class Where:
    """The folder that the new one is put into, and the workspace that its saved event belongs to."""

    parent: Path
    workspace: Path


def workspace_of(host: Host) -> Path:
    """The workspace in force. The current folder where its host has none yet: so it becomes one."""
    here = host.surroundings.cwd
    files = host.surroundings.files
    nowhere = host.choices.workspace is None and files.facts(host.workspace) is None
    return here if nowhere and here != host.surroundings.home else host.workspace


def where_of(wish: Wish, kind: Kind, host: Host) -> Where:
    """Raises Refusal where no such folder can be had."""
    workspace = workspace_of(host)
    if wish.where not in ("", WORKSPACE, MANAGED):
        parent = host.surroundings.absolute(wish.where)
        facts = host.surroundings.files.facts(parent)
        if facts is not None and not facts.folder:
            raise Refusal(f"{parent} is a file.", "--in wants a folder, workspace or managed.", code=2)
        return Where(parent, parent / wish.name if kind == "pack" else workspace)
    if kind == "pack":
        here = host.surroundings.cwd if wish.where == "" else None
        parent = here or _folder(wish.where, kind, host, workspace)
        return Where(parent, parent / wish.name)
    return Where(_folder(wish.where or WORKSPACE, kind, host, workspace), workspace)


def _folder(where: str, kind: Kind, host: Host, workspace: Path) -> Path:
    if where == MANAGED:
        managed = (folder for folder in host.folders_of(OF_KIND[kind]) if folder.source == MANAGED_SOURCE)
        folder = next(managed, None)
        if folder is None:
            raise Refusal(
                f"{host.dialect.product} has no managed {OF_KIND[kind]} hooks.",
                "They go into the workspace.",
                code=2,
            )
        return folder.path
    if kind == "stream":
        return workspace / AGENT / HOOKS.folder
    return workspace / (PLUGINS if kind == "plugin" else "hooks")
