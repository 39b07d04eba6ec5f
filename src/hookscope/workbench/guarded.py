"""Firing on copies of HOME, the host's state folder and the workspace: what handlers did to them is told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
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
    """Copies for one run. Blocks while it copies. Raises OSError where there is no room for them.

    Without walls the hooks' own folders are copied too, since a handler may write beside itself.
    """
    program = find_program("bwrap", [host.workspace, host.surroundings.cwd])  # a what-if chooses none
    bwrap = find_bwrap(str(Path(program).parent)) if program is not None else None
    hooks = [] if bwrap is not None else needs_of(host)
    folders = [host.workspace, host.state, *hooks, host.surroundings.home]
    apart = [state_folder()]  # our journal is no matter of handlers
    return Sandbox(folders, bwrap=bwrap, apart=apart, also=[host.surroundings.cwd])


def needs_of(host: Host) -> list[Path]:
    """What handlers and their workers read outside of the copies."""
    return [folder.path for folder in host.folders]


KEPT = "Some of the copies could not be removed from the folder for temporary files"


class Guard:
    """A sandbox and its lanes: of one run, which `complete` ends, or of several, until `close`.

    `warn` is called before handlers run, with each sentence about what is not protected.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        functions: Lane,
        lanes: Mapping[str, ProcessLane],
        warn: Callable[[str], object] | None = None,
    ) -> None:
        self._sandbox = sandbox
        self._lanes = lanes
        self._warn = warn
        self._warned: dict[str, None] = {}
        if sandbox.walls.warning:
            self._unprotected(sandbox.walls.warning)
        code = {
            language: CopiesLane(lanes[name], sandbox, self._unprotected)
            for language, name in WORKERS.items()
            if name in lanes
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

    def _unprotected(self, sentence: str) -> None:
        if sentence not in self._warned and self._warn is not None:
            self._warn(sentence)
        self._warned[sentence] = None

    def _told(self) -> Guarded:
        walls = self._sandbox.walls
        changes = self._sandbox.changes()
        originals = self._sandbox.originals()
        notes = [*(text for text in self._warned if text != walls.warning), *walls.left_out]
        if changes.unseen:
            notes.append(f"{changes.unseen} folders could not be looked into: more may have changed there")
        listed: tuple[FileChange, ...] = changes.listed
        guarded = Guarded(
            walls.text,
            walls.network,
            walls.disk,
            listed,
            changes.more,
            tuple(notes),
            sockets=walls.sockets,
            complete=not changes.unseen,
            originals=originals,
        )
        return replace(guarded, notes=(*guarded.notes, *guarded.touched))
