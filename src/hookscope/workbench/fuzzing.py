"""A search for events that a hook fails at, and for the smallest of each failure."""

from __future__ import annotations

import asyncio
import os
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.core.failure import Failure
from hookscope.core.runs import Event, Registration, Result, Run, Status
from hookscope.runtime import Firing
from hookscope.runtime.waiting import until_over
from hookscope.values import dataclass
from hookscope.workbench.fuzz_search import Mark, Place, Search, Seen, check_hypothesis, mark_of
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.saved import EVENTS, read_saved_event
from hookscope.workbench.saving import save_event

if TYPE_CHECKING:
    from hookscope.workbench.bench import Workbench
    from hookscope.workbench.guarded import Guard
    from hookscope.workbench.view import View

EXAMPLES = 200  # events for each hook, where nobody says otherwise; shrinking takes more
LIMIT = 1.0  # seconds for each handler, likewise
EXPECT = {"errors": 0}  # of a kept event: it passes once its hook is mended


@dataclass(frozen=True, slots=True)
class FoundFailure:
    """One failure of a hook, and the smallest event that led to it."""

    hook: str
    status: Status
    type: str  # of its error
    place: Place | None  # of the handler's own line; None where it hung or died
    error: Failure | None  # as it was for this event
    event: Event
    times: int  # how many events led to it
    run: Run | None = None  # of this event, fired once more and on record; None where that was not to be
    again: bool = True  # did it fail so once more
    file: Path | None = None  # that keeps the event
    not_kept: str = ""  # why there is none, as a sentence


@dataclass(frozen=True, slots=True)
class Searched:
    """One hook: how many events it was fired at, and what it failed at."""

    hook: str
    fired: int
    found: tuple[FoundFailure, ...] = ()
    why: str = ""  # why the search ended before its time; empty: it did not


@dataclass(frozen=True, slots=True)
class Fuzzed:
    """What came of a search. The same seed gives the same events."""

    template: Event  # what the strange events are made of
    seed: int
    examples: int
    hooks: tuple[Searched, ...]
    stopped: bool = False

    @property
    def found(self) -> tuple[FoundFailure, ...]:
        """All events that some hook failed at."""
        return tuple(one for searched in self.hooks for one in searched.found)


class Fuzz:
    """Fires strange events at each hook that hears them, alone, and looks for the smallest that fails.

    Handlers really run, in their workers, hundreds of times; with `sandbox` on copies that are thrown away
    at the end. Bundled hooks, which would fill logs and memories, are left out unless they are named, or
    have copies. Only the smallest failing events get on record. Raises Refusal where hypothesis is not
    installed, or nobody hears the event; `run` raises OSError where copies cannot be made.

    Args:
        template: a realistic event of the key.
        only: this hook alone.
        told: hears of each failure when it is seen first. From the event loop's thread.
    """

    def __init__(
        self,
        bench: Workbench,
        view: View,
        template: Event,
        *,
        only: str | None = None,
        examples: int = EXAMPLES,
        seed: int,
        sandbox: bool = False,
        told: Callable[[Result], None] | None = None,
    ) -> None:
        check_hypothesis()
        self._bench, self._view, self._template = bench, view, template
        self._examples, self._seed, self._sandbox = examples, seed, sandbox
        self._told = told
        self._stop = threading.Event()
        self._firing: Firing | None = None
        self._guard: Guard | None = None
        calls = bench.plan(view, template, only=only).calls
        meant = (call for call in calls if only is not None or sandbox or not _is_bundled(call))
        self.hooks = tuple(dict.fromkeys(call.name for call in meant))
        if not self.hooks:
            who = f"{only} does not run" if only is not None else "no hook of yours runs"
            raise Refusal(
                f"There is nothing to fuzz: {who} for {template.key}.",
                f"`hookscope plan {template.key}` says why.",
            )

    def stop(self) -> None:
        """End the search; what it has found is the answer. From the event loop's thread."""
        self._stop.set()
        if self._firing is not None:
            self._firing.cancel()

    async def run(self) -> Fuzzed:
        """All hooks, one after another. A cancel stops it, and leaves when nothing of it runs any more."""
        task = asyncio.get_running_loop().create_task(self._run())
        await until_over(task, self.stop)
        return task.result()

    async def _run(self) -> Fuzzed:
        self._guard = await self._bench.guard(self._view) if self._sandbox else None
        done: list[Searched] = []
        try:
            for name in self.hooks:
                if self._stop.is_set():
                    break
                done.append(await self._searched(name))
        finally:
            if self._guard is not None:
                await self._guard.close()
        stopped = self._stop.is_set()
        return Fuzzed(self._template, self._seed, self._examples, tuple(done), stopped)

    async def _searched(self, name: str) -> Searched:
        loop = asyncio.get_running_loop()

        def fire(event: Event) -> Run | None:
            return asyncio.run_coroutine_threadsafe(self._fired(event, name), loop).result()

        def told(result: Result) -> None:
            if self._told is not None:
                loop.call_soon_threadsafe(self._told, result)

        search = Search(self._template, fire, self._stop, told)
        await asyncio.to_thread(self._search, search)
        found = [await self._confirmed(_found(mark, seen)) for mark, seen in search.seen.items()]
        return Searched(name, search.fired, tuple(found), search.why)

    def _search(self, search: Search) -> None:
        from hookscope.workbench.strange_events import events_like  # here: it needs hypothesis

        known = self._view.host.dialect.catalogue().find(self._template.key)
        search.run(events_like(self._template, known), self._examples, self._seed)

    async def _fired(self, event: Event, name: str) -> Run | None:
        """The run of one event, on no record; None where the host could not have sent it."""
        try:
            plan = self._bench.plan(self._view, event, only=name)
        except Refusal:
            return None
        self._firing = self._bench.fire_aside(self._view, plan, self._guard)
        try:
            return await self._firing
        finally:
            self._firing = None

    async def _confirmed(self, found: FoundFailure) -> FoundFailure:
        """With its run, this time on record: it can be looked at, and replayed."""
        if self._stop.is_set():
            return found
        event = replace(found.event, timestamp=datetime.now(UTC))
        plan = self._bench.plan(self._view, event, only=found.hook)
        if self._guard is not None:
            self._firing = self._bench.fire_on(self._view, plan, self._guard)
        else:
            self._firing = self._bench.fire(self._view, plan)
        try:
            run = await self._firing
        finally:
            self._firing = None
        marks = {mark_of(result) for result in run.failed}
        return replace(found, run=run, again=(found.hook, found.type, found.place) in marks)


def _is_bundled(call: Registration) -> bool:
    return call.hook is not None and call.hook.folder.source == "bundled"


def _found(mark: Mark, seen: Seen) -> FoundFailure:
    hook, type_, place = mark
    return FoundFailure(hook, seen.result.status, type_, place, seen.result.error, seen.event, seen.times)


def kept(bench: Workbench, view: View, fuzzed: Fuzzed, name: str | None = None) -> Fuzzed:
    """The same, with each failing event kept as a saved one that expects no errors, or the reason why not.

    They stand in `.hookscope/events`, as `fuzz-KEY-HOOK` where no name is given, with a number behind it
    where there is another file of that name; never over another.
    """

    def keep(found: FoundFailure) -> FoundFailure:
        try:
            return replace(found, file=_keep(bench, view, found, name))
        except Refusal as error:
            return replace(found, not_kept=str(error))

    hooks = (replace(one, found=tuple(map(keep, one.found))) for one in fuzzed.hooks)
    return replace(fuzzed, hooks=tuple(hooks))


def _keep(bench: Workbench, view: View, found: FoundFailure, name: str | None) -> Path:
    """A file that holds this event: a new one, or the one that does already. Raises Refusal."""
    wanted = (name or f"fuzz-{found.event.key}-{found.hook}").removesuffix(".yaml")
    bare = re.sub(r"[^\w.-]+", "-", wanted).strip("-.") or "fuzz"
    template = bench.template(view, found.event.key)
    for number in count(1):
        file = view.host.workspace / EVENTS / f"{bare}{f'-{number}' if number > 1 else ''}.yaml"
        if not os.path.exists(file):
            save_event(found.event, template, file, bench.redaction_of(view.host), expect=EXPECT)
            return file
        if _holds(bench, view, file, found.event):
            return file
    raise AssertionError("numbers end")


def _holds(bench: Workbench, view: View, file: Path, event: Event) -> bool:
    """Is this the event of that file."""
    try:
        saved = read_saved_event(bench, view, file)
    except Refusal:
        return False
    return (saved.key, saved.session_key, saved.context, saved.ctx) == (
        event.key,
        event.session_key,
        event.context,
        event.ctx,
    )
