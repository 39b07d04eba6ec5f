"""Firing on copies of HOME, the host's state folder and the workspace: what handlers did to them is told."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hookscope.core.copies import FileChange, Guarded
from hookscope.core.dialect import Host
from hookscope.core.lanes import Lane
from hookscope.core.runs import Run
from hookscope.helpers import find_program
from hookscope.runtime.copies import CopiesLane
from hookscope.runtime.process_lane import ProcessLane
from hookscope.runtime.sandbox import Sandbox, find_bwrap
from hookscope.runtime.which_lane import Lanes
from hookscope.workbench.apart import WORKERS
from hookscope.workbench.state_files import state_folder


def sandbox_of(host: Host) -> Sandbox:
    """Copies for one run. Blocks while it copies. Raises OSError where there is no room for them."""
    program = find_program("bwrap", [host.workspace, host.surroundings.cwd])  # a what-if chooses none
    bwrap = find_bwrap(str(Path(program).parent)) if program is not None else None
    folders = [host.workspace, host.state, host.surroundings.home]
    return Sandbox(folders, bwrap=bwrap, apart=[state_folder()])  # our journal is no matter of handlers


def needs_of(host: Host) -> list[Path]:
    """What handlers and their workers read outside of the copies."""
    return [folder.path for folder in host.folders]


KEPT = "Some of the copies could not be removed from the folder for temporary files"


class Guard:
    """A sandbox and its lanes: of one run, which `complete` ends, or of several, until `close`."""

    def __init__(self, sandbox: Sandbox, functions: Lane, lanes: Mapping[str, ProcessLane]) -> None:
        self._sandbox = sandbox
        self._lanes = lanes
        code = {
            language: CopiesLane(lanes[name], sandbox) for language, name in WORKERS.items() if name in lanes
        }
        self.lanes = Lanes(functions, dict(code))

    def running(self) -> tuple[ProcessLane, ...]:
        """The lanes of worker processes."""
        return tuple(self._lanes.values())

    async def complete(self, run: Run) -> Run:
        """The run with what its handlers did to the copies, which are gone then."""
        for lane in self._lanes.values():
            await lane.close()
        guarded = await asyncio.to_thread(self._told)
        kept = () if await asyncio.to_thread(self._sandbox.close) else (KEPT,)
        return replace(run, guarded=replace(guarded, notes=(*guarded.notes, *kept)))

    async def tell(self, run: Run) -> Run:
        """The run with what was done to the copies since they were made. They stay, for the next run."""
        return replace(run, guarded=await asyncio.to_thread(self._told))

    async def close(self) -> None:
        """End the lanes and remove the copies."""
        for lane in self._lanes.values():
            await lane.close()
        await asyncio.to_thread(self._sandbox.close)

    def _told(self) -> Guarded:
        walls = self._sandbox.walls
        changes = self._sandbox.changes()
        touched = self._sandbox.touched()
        notes = list(walls.left_out)
        if changes.unseen:
            notes.append(f"{changes.unseen} folders could not be looked into: more may have changed there")
        past = "itself has changed meanwhile, by a handler past its copy or by others"
        notes += [f"{path} {past}" for path in touched]
        listed: tuple[FileChange, ...] = changes.listed
        return Guarded(walls.text, walls.network, walls.disk, listed, changes.more, tuple(notes))
