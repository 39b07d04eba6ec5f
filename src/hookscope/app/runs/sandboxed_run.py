"""Workers of one run, for the debugger or in a sandbox, and the work that handlers leave running."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from hookscope.helpers import find_program
from hookscope.model.executor import Executor
from hookscope.model.hook import Language
from hookscope.model.host import Host
from hookscope.model.run import Run
from hookscope.model.sandbox_result import FileChange, SandboxResult
from hookscope.runtime.background_work import NO_BACKGROUND_WORK, BackgroundWork, WaitTime
from hookscope.runtime.executors import Executors
from hookscope.runtime.process_executor import ProcessExecutor
from hookscope.runtime.sandbox import Sandbox, find_bwrap
from hookscope.runtime.sandboxed_executor import SandboxedExecutor
from hookscope.storage.state_files import state_folder

WORKERS: Mapping[Language, str] = {"python": "python", "typescript": "node", "javascript": "node"}


class RunWorkers:
    """The executors of one run, by worker name: python or node. `complete` ends them with the run."""

    def __init__(self, functions: Executor, lanes: Mapping[str, ProcessExecutor]) -> None:
        self._lanes = lanes
        code: dict[Language, Executor] = {
            language: lanes[name] for language, name in WORKERS.items() if name in lanes
        }
        self.lanes = Executors(functions, code)

    def running(self) -> tuple[ProcessExecutor, ...]:
        """Return the process executors."""
        return tuple(self._lanes.values())

    async def tell(self, run: Run) -> Run:
        """Return the run unchanged."""
        return run

    async def complete(self, run: Run) -> Run:
        """End the workers, and return the run unchanged."""
        for lane in self._lanes.values():
            await lane.close()
        return run


def make_sandbox(host: Host) -> Sandbox:
    """Make copies for one run. Blocks while copying. Raises OSError if there is no room for them.

    Without isolation the hooks' own folders are copied too, since a handler may write beside itself.
    """
    program = find_program("bwrap", [host.workspace, host.surroundings.cwd])  # a what-if must not choose it
    bwrap = find_bwrap(str(Path(program).parent)) if program is not None else None
    hooks = [] if bwrap is not None else sandbox_needs(host)
    folders = [host.workspace, host.state, *hooks, host.surroundings.home]
    apart = [state_folder()]  # handlers must not see our journal
    return Sandbox(folders, bwrap=bwrap, apart=apart, also=[host.surroundings.cwd])


def sandbox_needs(host: Host) -> list[Path]:
    """Return what handlers and their workers read outside the copies."""
    return [folder.path for folder in host.folders]


KEPT_VARIABLES = "Some of the copies could not be removed from the folder for temporary files"


class SandboxedWorkers:
    """A sandbox and its executors: for one run, which `complete` ends, or for several, until `close`.

    `warn` is called before handlers run, with each sentence about what is not protected.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        functions: Executor,
        lanes: Mapping[str, ProcessExecutor],
        warn: Callable[[str], object] | None = None,
    ) -> None:
        self._sandbox = sandbox
        self._lanes = lanes
        self._warn = warn
        self._warned: dict[str, None] = {}
        if sandbox.walls.warning:
            self._unprotected(sandbox.walls.warning)
        code = {
            language: SandboxedExecutor(lanes[name], sandbox, self._unprotected)
            for language, name in WORKERS.items()
            if name in lanes
        }
        self.lanes = Executors(functions, dict(code))

    def running(self) -> tuple[ProcessExecutor, ...]:
        """Return the process executors."""
        return tuple(self._lanes.values())

    async def complete(self, run: Run) -> Run:
        """Return the run with the changes to the copies, and remove the copies."""
        for lane in self._lanes.values():
            await lane.close()
        guarded = await asyncio.to_thread(self._told)
        kept = () if await asyncio.to_thread(self._sandbox.close) else (KEPT_VARIABLES,)
        return replace(run, guarded=replace(guarded, notes=(*guarded.notes, *kept)))

    async def tell(self, run: Run) -> Run:
        """Return the run with all changes since the copies were made. The copies stay for the next run."""
        return replace(run, guarded=await asyncio.to_thread(self._told))

    async def close(self) -> None:
        """End the executors and remove the copies."""
        for lane in self._lanes.values():
            await lane.close()
        await asyncio.to_thread(self._sandbox.close)

    def _unprotected(self, sentence: str) -> None:
        if sentence not in self._warned and self._warn is not None:
            self._warn(sentence)
        self._warned[sentence] = None

    def _told(self) -> SandboxResult:
        walls = self._sandbox.walls
        changes = self._sandbox.changes()
        originals = self._sandbox.originals()
        notes = [*(text for text in self._warned if text != walls.warning), *walls.left_out]
        if changes.unseen:
            notes.append(f"{changes.unseen} folders could not be looked into: more may have changed there")
        listed: tuple[FileChange, ...] = changes.listed
        guarded = SandboxResult(
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


async def background_work_done(lanes: Iterable[ProcessExecutor], waits: WaitTime) -> BackgroundWork:
    """Wait for the work that handlers left running, and return what it did."""
    rest = NO_BACKGROUND_WORK
    for lane in tuple(lanes):
        rest += await lane.settle(waits)
    return rest


async def with_background_work(run: Run, lanes: Iterable[ProcessExecutor], waits: WaitTime) -> Run:
    """Return the run with what its handlers did after their results. A cancelled run waits for nothing."""
    if run.cancelled:
        return run
    said = tuple(background_work_messages(await background_work_done(lanes, waits), waits.seconds))
    return replace(run, notes=(*run.notes, *said)) if said else run


def background_work_messages(rest: BackgroundWork, seconds: float) -> Iterator[str]:
    """Yield a sentence for each late output and each piece of work that still runs."""
    for who, text in rest.late:
        yield f"{who} {text}"
    for who, left in rest.lasting:
        yield (
            f"{who} left {left} running, not over {seconds:g} s later: "
            "that ends with its worker here, and goes on in a host"
        )
