"""One event fired at several hosts, one after another, each with a run of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from hookscope.core.dialect import Dialect
from hookscope.core.runs import Event
from hookscope.core.side.runs import RunThere
from hookscope.core.trust import TrustTarget
from hookscope.runtime import Firing
from hookscope.workbench.asking import check_key
from hookscope.workbench.bench import Workbench
from hookscope.workbench.hosts import bench_at
from hookscope.workbench.left_out import could_not, waiting_for_trust
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.saved import is_saved_event, read_saved_event
from hookscope.workbench.view import View

EventOf = Callable[[Workbench, View], Event]


def written_event(item: str) -> EventOf:
    """A key, as a realistic event of each host; or a file with a saved one."""

    def event_of(bench: Workbench, view: View) -> Event:
        if is_saved_event(item):
            return read_saved_event(bench, view, Path(item))
        return bench.template(view, item)

    return event_of


def this_event(event: Event) -> EventOf:
    """Exactly this event, where the host knows its key or somebody listens to it."""

    def event_of(bench: Workbench, view: View) -> Event:
        check_key(view, event.key)
        return event

    return event_of


class HostsFiring:
    """Fires at each host in its own workers. What a host refuses is a sentence in its place."""

    def __init__(
        self,
        bench: Workbench,
        dialects: Sequence[Dialect],
        event_of: EventOf,
        *,
        only: str | None = None,
        trust_all: bool = False,
        sandbox: bool = False,
    ) -> None:
        self.benches = [bench_at(bench, dialect, trust_all=trust_all) for dialect in dialects]
        self.untrusted: dict[TrustTarget, None] = {}  # folders whose handlers were not allowed to run
        self._event_of, self._only, self._sandbox = event_of, only, sandbox
        self._firing: Firing | None = None
        self._cancelled = False

    def would_need(self) -> tuple[TrustTarget, ...]:
        """The folders that would have to be trusted for all listeners to run. Raises the first host's Refusal
        where none of them takes the event."""
        folders: dict[TrustTarget, None] = {}
        refused: list[Refusal] = []
        for bench in self.benches:
            try:
                view = bench.look()
                event = self._event_of(bench, view)
                if event.kind in bench.dialect.kinds:
                    plan = bench.plan(view, event, only=self._only)
                    folders |= dict.fromkeys(waiting_for_trust(view, plan))
            except Refusal as error:
                refused.append(error)
        if len(refused) == len(self.benches):
            raise refused[0]
        return tuple(folders)

    async def run(self) -> tuple[RunThere, ...]:
        """One after another; after a cancel the rest is not fired."""
        return tuple([await self._there(bench) for bench in self.benches])

    def cancel(self) -> None:
        """Cancel the run on its way, and fire at no other host. From the loop's own thread."""
        self._cancelled = True
        if self._firing is not None:
            self._firing.cancel()

    async def _there(self, bench: Workbench) -> RunThere:
        if self._cancelled:
            return RunThere(bench.dialect, problem="cancelled before it")
        try:
            return await self._fired(bench)
        except Refusal as refused:
            return RunThere(bench.dialect, problem=str(refused))
        except OSError as error:
            return RunThere(bench.dialect, problem=f"no copies could be made: {error}")
        finally:
            self._firing = None
            await bench.close()

    async def _fired(self, bench: Workbench) -> RunThere:
        view = await asyncio.to_thread(bench.look)
        event = self._event_of(bench, view)
        if event.kind not in bench.dialect.kinds:
            problem = f"{bench.dialect.product} has no {event.kind} hooks"
            return RunThere(bench.dialect, problem=problem)
        view = await bench.ready(view, event.kind)
        plan = bench.plan(view, event, only=self._only)
        self.untrusted |= dict.fromkeys(waiting_for_trust(view, plan))
        left = could_not(view, plan, only=self._only)
        self._firing = await bench.fire_guarded(view, plan) if self._sandbox else bench.fire(view, plan)
        if self._cancelled:
            self._firing.cancel()
        run = await self._firing
        return RunThere(bench.dialect, replace(plan, event=run.event), run, left=left)
