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
from hookscope.model.run import Run, SandboxResult
from hookscope.runtime.background_work import NO_BACKGROUND_WORK, BackgroundWork, WaitTime
from hookscope.runtime.executors import Executors
from hookscope.runtime.process_executor import ProcessExecutor
from hookscope.runtime.sandbox import Sandbox, find_bwrap
from hookscope.runtime.sandboxed_executor import SandboxedExecutor
from hookscope.storage.state_files import state_folder

WORKERS: Mapping[Language, str] = {"python": "python", "typescript": "node", "javascript": "node"}


class RunWorkers:
    """The executors of one run, by worker name: python or node. `complete` ends them with the run."""

    def __init__(self, functions: Executor, process_executors: Mapping[str, ProcessExecutor]) -> None:
        self._process_executors = process_executors
        code: dict[Language, Executor] = {
            language: self._executor_for(process_executors[name])
            for language, name in WORKERS.items()
            if name in process_executors
        }
        self.executors = Executors(functions, code)

    def _executor_for(self, executor: ProcessExecutor) -> Executor:
        return executor

    def process_executors(self) -> tuple[ProcessExecutor, ...]:
        return tuple(self._process_executors.values())

    async def with_sandbox_result(self, run: Run) -> Run:
        """Return the run unchanged."""
        return run

    async def complete(self, run: Run) -> Run:
        """End the workers, and return the run unchanged."""
        await self.close()
        return run

    async def close(self) -> None:
        """End the executors."""
        for executor in self._process_executors.values():
            await executor.close()


def make_sandbox(host: Host) -> Sandbox:
    """Make copies for one run. Blocks while copying. Raises OSError if they cannot be made.

    Without isolation the hooks' own folders are copied too, since a handler may write beside itself.
    """
    program = find_program("bwrap", [host.workspace, host.machine.cwd])  # a what-if must not choose it
    bwrap = find_bwrap(str(Path(program).parent)) if program is not None else None
    hooks = [] if bwrap is not None else sandbox_needs(host)
    folders = [host.workspace, host.state, *hooks, host.machine.home]
    excluded = [state_folder()]  # handlers must not see our journal
    return Sandbox(folders, bwrap=bwrap, excluded=excluded, start_folders=[host.machine.cwd])


def sandbox_needs(host: Host) -> list[Path]:
    """Return what handlers and their workers read outside the copies."""
    return [folder.path for folder in host.folders]


COPIES_LEFT = "Some copies could not be removed from the temporary folder"


class SandboxedWorkers(RunWorkers):
    """A sandbox and its executors: for one run, which `complete` ends, or for several, until `close`.

    `warn` is called before handlers run, with each sentence about what is not protected.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        functions: Executor,
        process_executors: Mapping[str, ProcessExecutor],
        warn: Callable[[str], object] | None = None,
    ) -> None:
        self._sandbox = sandbox
        self._warn = warn
        self._warned: dict[str, None] = {}
        if sandbox.isolation.warning:
            self._warn_once(sandbox.isolation.warning)
        super().__init__(functions, process_executors)

    def _executor_for(self, executor: ProcessExecutor) -> Executor:
        return SandboxedExecutor(executor, self._sandbox, self._warn_once)

    async def complete(self, run: Run) -> Run:
        """Return the run with the changes to the copies, and remove the copies."""
        await super().close()
        result = await asyncio.to_thread(self._sandbox_result)
        kept = () if await asyncio.to_thread(self._sandbox.close) else (COPIES_LEFT,)
        return replace(run, guarded=replace(result, notes=(*result.notes, *kept)))

    async def with_sandbox_result(self, run: Run) -> Run:
        """Return the run with all changes since the copies were made. The copies stay for the next run."""
        return replace(run, guarded=await asyncio.to_thread(self._sandbox_result))

    async def close(self) -> None:
        """End the executors and remove the copies."""
        await super().close()
        await asyncio.to_thread(self._sandbox.close)

    def _warn_once(self, sentence: str) -> None:
        if sentence not in self._warned and self._warn is not None:
            self._warn(sentence)
        self._warned[sentence] = None

    def _sandbox_result(self) -> SandboxResult:
        isolation = self._sandbox.isolation
        changes = self._sandbox.changes()
        originals = self._sandbox.check_originals()
        notes = [*(text for text in self._warned if text != isolation.warning), *isolation.skipped_notes]
        if changes.unreadable:
            notes.append(f"unreadable folders: {changes.unreadable}; more may have changed there")
        result = SandboxResult(
            isolation.text,
            no_network=isolation.level != "copies",
            read_only_disk=isolation.level != "copies",
            changes=changes.listed,
            more=changes.more,
            notes=tuple(notes),
            no_unix_sockets=isolation.level == "bubblewrap with socket filter",
            complete=not changes.unreadable,
            originals=originals,
        )
        return replace(result, notes=(*result.notes, *result.originals_text))


async def background_work_done(executors: Iterable[ProcessExecutor], waits: WaitTime) -> BackgroundWork:
    """Wait for the work that handlers left running, and return what it did."""
    background_work = NO_BACKGROUND_WORK
    for executor in tuple(executors):
        background_work += await executor.wait_for_background_work(waits)
    return background_work


async def with_background_work(run: Run, executors: Iterable[ProcessExecutor], waits: WaitTime) -> Run:
    """Return the run with what its handlers did after their results. A cancelled run waits for nothing."""
    if run.cancelled:
        return run
    messages = tuple(background_work_messages(await background_work_done(executors, waits), waits.seconds))
    return replace(run, notes=(*run.notes, *messages)) if messages else run


def background_work_messages(background_work: BackgroundWork, seconds: float) -> Iterator[str]:
    """Yield a sentence for each late output and each piece of work that still runs."""
    for handler, text in background_work.late_notes:
        yield f"{handler} {text}"
    for handler, work in background_work.running_notes:
        yield (
            f"{handler} left {work} running, still active {seconds:g} s later: "
            "it ends with its worker here, but would continue in a host"
        )
