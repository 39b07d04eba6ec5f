"""Between the screen and the workbench. The only place that starts workers; none touches a widget."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Generator, Sequence
from contextlib import aclosing
from functools import partial
from pathlib import Path
from secrets import token_hex
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from textual.message import Message
from textual.message_pump import MessagePump
from textual.widget import Widget

from hookscope.console.messages import (
    Answered,
    Changed,
    Failed,
    FilesChanged,
    FiringOver,
    FiringStarted,
    LateCame,
    PastRuns,
    PlayOver,
    Said,
    SettingsWritten,
    StepsCame,
    TogglePlanned,
    Trusted,
    UndoPlanned,
)
from hookscope.console.state import LookBegan, Looked, LookFailed, Source, SourceRead
from hookscope.core.breakage import breakage_of
from hookscope.core.runs import Event, Plan, Run, Step

if TYPE_CHECKING:
    from hookscope.console.fire.otherwise import Otherwise
    from hookscope.core.repeated import Repetition
    from hookscope.core.surroundings import Surroundings
    from hookscope.workbench import PastRun, Toggle, Undoing, View, Watch, Workbench
    from hookscope.workbench.play import Playing
    from hookscope.workbench.testing import Checked

T = TypeVar("T")
FRAME = 0.1  # seconds between two reports of a run's steps
LARGEST_SOURCE = 262_144  # bytes of a file that is shown beside a hook


class Firing(Protocol):
    """One event on its way, as the workbench hands it out."""

    def cancel(self) -> None: ...

    def __aiter__(self) -> AsyncIterator[Step]: ...

    def __await__(self) -> Generator[Any, None, Run]: ...


class Bridge:
    """Asks the workbench, and posts what it answers. A failure is a message, never an exception."""

    def __init__(self, screen: Widget, bench: Workbench) -> None:
        self.screen = screen
        self.bench = bench
        self._asked = 0  # looks asked for
        self._looking = False
        self._again = False
        self._runs = 0
        self._firing: Firing | Playing | None = None
        self._preparing = False  # copies are made for a guarded run, or modules loaded
        self._watch: Watch | None = None

    def look(self) -> None:
        """Look at everything, in a thread: one look runs, one waits."""
        if self._looking:
            self._again = True
            return
        self._looking = True
        self._asked += 1
        number = self._asked
        _post(self.screen, Changed(LookBegan()))
        self.screen.run_worker(
            lambda: self._look(number), name="look", group="look", thread=True, exit_on_error=False
        )

    def _look(self, number: int) -> None:
        began = perf_counter()
        try:
            view = self.bench.look()
        except Exception as error:  # the console lives on; what went wrong is said
            _post(self.screen, Changed(LookFailed(_said(error))))
        else:
            _post(self.screen, Changed(Looked(number, view, perf_counter() - began)))

    def follow(self, view: View) -> str:
        """Watch the files of this view from now on; what is watched, in words."""
        if self._watch is None:
            self._watch = self.bench.watch(lambda paths: _post(self.screen, FilesChanged(paths)))
        return self._watch.follow(view.host)

    def hear_late(self) -> None:
        """Post what handlers print or throw after they have answered."""
        self.bench.crew.told_late = lambda who, text: _post(self.screen, LateCame(who, text))

    def close(self) -> None:
        """Watch nothing any more."""
        if self._watch is not None:
            self._watch.close()

    @property
    def looking(self) -> bool:
        """Is a look on its way or waiting: what is shown may be older than the last wish."""
        return self._looking

    def look_ended(self) -> None:
        """An answer came: start the look that waited, if one did."""
        self._looking = False
        if self._again:
            self._again = False
            self.look()

    def read(self, row: str, path: Path, surroundings: Surroundings) -> None:
        """Read a file that belongs beside a row, in a thread."""

        def reading() -> None:
            source = read_source(row, path, surroundings)
            _post(self.screen, Changed(SourceRead(source)))

        self.screen.run_worker(
            reading, name="read", group="read", thread=True, exclusive=True, exit_on_error=False
        )

    def trust(self, folders: tuple[Path, ...]) -> None:
        """Record that these folders may run."""

        def trusting() -> None:
            try:
                done = tuple(self.bench.trust(folder) for folder in folders)
            except Exception as error:
                _post(self.screen, Trusted((), _said(error)))
            else:
                _post(self.screen, Trusted(done))

        self.screen.run_worker(trusting, name="trust", group="trust", thread=True, exit_on_error=False)

    def plan_toggle(self, view: View, name: str, on: bool) -> None:
        """Find out what switching a hook would write."""

        def planning() -> None:
            try:
                toggle = self.bench.toggle(view, name, on)
            except Exception as error:
                _post(self.screen, TogglePlanned(None, _said(error)))
            else:
                _post(self.screen, TogglePlanned(toggle))

        self._write(planning)

    def apply_toggle(self, toggle: Toggle) -> None:
        """Write what was planned."""

        def applying() -> None:
            try:
                self.bench.apply(toggle)
            except Exception as error:
                _post(self.screen, SettingsWritten(toggle.name, "", _said(error)))
            else:
                said = f"{toggle.after}: {toggle.change.meaning}"
                _post(self.screen, SettingsWritten(toggle.name, said))

        self._write(applying)

    def plan_undo(self) -> None:
        """Find out what taking back the last change would write."""

        def planning() -> None:
            try:
                undoing = self.bench.undoing()
            except Exception as error:
                _post(self.screen, UndoPlanned(None, _said(error)))
            else:
                _post(self.screen, UndoPlanned(undoing))

        self._write(planning)

    def apply_undo(self, undoing: Undoing) -> None:
        """Write what was planned."""

        def applying() -> None:
            try:
                self.bench.undo(undoing)
            except Exception as error:
                _post(self.screen, SettingsWritten("undo", "", _said(error)))
            else:
                _post(self.screen, SettingsWritten("undo", f"taken back: {undoing.change.meaning}"))

        self._write(applying)

    def _write(self, work: Callable[[], None]) -> None:
        self.screen.run_worker(work, name="settings", group="settings", thread=True, exit_on_error=False)

    def ask(self, name: str, work: Callable[[], T], then: Callable[[T], object]) -> None:
        """Do what reads or writes files in a thread; its answer comes back to the screen's own.

        A Refusal, like every other failure, becomes a line for the user.
        """

        def asking() -> None:
            try:
                answer = work()
            except Exception as error:
                _post(self.screen, Said(_said(error), "warning"))
            else:
                _post(self.screen, Answered(lambda: then(answer)))

        self.screen.run_worker(asking, name=name, group=name, thread=True, exit_on_error=False)

    def test(self, files: Sequence[Path], told: Callable[[Checked], object]) -> bool:
        """Fire saved events one after another, each compared with its file. False where a run is going on."""
        if self._firing is not None or self._preparing:
            return False
        self._preparing = True
        self.screen.run_worker(self._test(files, told), name="test", group="fire", exit_on_error=False)
        return True

    async def _test(self, files: Sequence[Path], told: Callable[[Checked], object]) -> None:
        from hookscope.workbench.testing import checked  # here: few test

        try:
            for file in files:
                done = await checked(self.bench, file)
                _post(self.screen, Answered(partial(told, done)))
        except Exception as error:
            _post(self.screen, Said(_said(error), "warning"))
        finally:
            self._preparing = False

    def remember(self, view: View) -> None:
        """Find out what was fired here before this sitting. New runs are numbered behind it."""

        def remembering() -> None:
            try:
                past = self.bench.past_runs(view)
            except Exception as error:
                _post(self.screen, Failed("the journal", _said(error)))
                return
            self._runs = max(self._runs, *(run.id for run in past), 0)
            _post(self.screen, PastRuns(past))

        self.screen.run_worker(remembering, name="journal", group="journal", thread=True, exit_on_error=False)

    def fire(self, view: View, plan: Plan, again: Callable[[View], Plan], guarded: bool = False) -> bool:
        """Run a plan; on copies if `guarded`. False where one is running already.

        `again` plans anew for a view in which modules were loaded that tell more.
        """
        if self._firing is not None or self._preparing:
            return False
        self._runs += 1
        number = self._runs
        if guarded or plan.event.kind != "folder":
            self._preparing = True
            self.screen.run_worker(
                self._fire_prepared(number, view, plan, again, guarded),
                name=f"run {number}",
                group="fire",
                exit_on_error=False,
            )
            return True
        try:
            self._firing = self.bench.fire(view, plan)
        except Exception as error:
            _post(self.screen, FiringOver(number, None, _said(error)))
            return True
        _post(self.screen, FiringStarted(number, plan))
        self.screen.run_worker(
            self._follow(number, self._firing), name=f"run {number}", group="fire", exit_on_error=False
        )
        return True

    async def _fire_prepared(
        self, number: int, view: View, plan: Plan, again: Callable[[View], Plan], guarded: bool
    ) -> None:
        try:
            ready = await self.bench.ready(view, plan.event.kind)
            if ready is not view:
                view, plan = ready, again(ready)
                self.look()  # the rows show what the load has found out
            fire = self.bench.fire_guarded
            self._firing = await fire(view, plan) if guarded else self.bench.fire(view, plan)
        except Exception as error:
            _post(self.screen, FiringOver(number, None, _said(error)))
            return
        finally:
            self._preparing = False
        _post(self.screen, FiringStarted(number, plan))
        await self._follow(number, self._firing)

    def fire_otherwise(
        self, view: View, event: Event, only: str | None, way: Otherwise, told: Callable[[Repetition], object]
    ) -> bool:
        """Fire as it was chosen: forced, with a fault, several times, on copies. `told` hears what several
        runs did again. False where a run is going on already."""
        if self._firing is not None or self._preparing:
            return False
        self._preparing = True
        work = self._fire_otherwise(view, event, only, way, told)
        self.screen.run_worker(work, name="fire otherwise", group="fire", exit_on_error=False)
        return True

    async def _fire_otherwise(
        self, view: View, event: Event, only: str | None, way: Otherwise, told: Callable[[Repetition], object]
    ) -> None:
        from hookscope.workbench.repeating import firings, repetition  # here: few repeat

        runs: list[Run] = []
        try:
            ready = await self.bench.ready(view, event.kind)
            if ready is not view:
                self.look()
            plan = await self._otherwise(ready, event, only, way)
            async with aclosing(firings(self.bench, ready, plan, way.times, sandbox=way.guarded)) as fired:
                async for firing in fired:
                    self._runs += 1
                    self._firing = firing
                    _post(self.screen, FiringStarted(self._runs, plan))
                    run = await self._follow(self._runs, firing)
                    runs += [run] if run is not None else []
        except Exception as error:
            _post(self.screen, Said(_said(error), "warning"))
        finally:
            self._firing, self._preparing = None, False
        if len(runs) > 1:
            _post(self.screen, Answered(partial(told, repetition(runs))))

    async def _otherwise(self, view: View, event: Event, only: str | None, way: Otherwise) -> Plan:
        from hookscope.workbench.breaking import broken_plan
        from hookscope.workbench.forcing import forced_plan

        if way.forced and only is not None:
            plan = await forced_plan(self.bench, view, event, only)
        else:
            plan = self.bench.plan(view, event, only=only)
        return broken_plan(view, plan, {way.broken: breakage_of(way.fault)}) if way.broken else plan

    def replay(self, past: PastRun, start: str | None, told: Callable[[int], object]) -> bool:
        """Fire an earlier run again, from a handler on where `start` names one; `told` hears the number of
        the new run when it has ended. False where a run is going on."""
        if self._firing is not None or self._preparing:
            return False
        self._preparing = True
        work = self._replay(past, start, told)
        self.screen.run_worker(work, name="replay", group="fire", exit_on_error=False)
        return True

    async def _replay(self, past: PastRun, start: str | None, told: Callable[[int], object]) -> None:
        from hookscope.workbench.replay import prepared  # here: few replay

        try:
            ready = await prepared(self.bench, past, start=start)
            fire = self.bench.fire_guarded
            plan, view = ready.plan, ready.view
            self._firing = await fire(view, plan) if ready.guarded else self.bench.fire(view, plan)
            self._runs += 1
            number = self._runs
            _post(self.screen, FiringStarted(number, plan))
            if await self._follow(number, self._firing) is not None:
                _post(self.screen, Answered(partial(told, number)))
        except Exception as error:
            _post(self.screen, Said(_said(error), "warning"))
        finally:
            self._firing, self._preparing = None, False

    def play(self, message: str) -> bool:
        """Play a session that begins with this message. False where a run is going on."""
        if self._firing is not None or self._preparing:
            return False
        self._preparing = True
        self.screen.run_worker(self._play(message), name="play", group="fire", exit_on_error=False)
        return True

    async def _play(self, message: str) -> None:
        from hookscope.workbench.play import Playing, Wanted  # here: few play

        try:
            engine, _ = await self.bench.stage()
            self._firing = playing = Playing(engine, Wanted((message,), token_hex(8)))
            async for scene in playing:
                self._runs += 1
                _post(self.screen, FiringStarted(self._runs, scene.plan))
                _post(self.screen, FiringOver(self._runs, scene.run))
            played = await playing
        except Exception as error:
            _post(self.screen, PlayOver(None, _said(error)))
        else:
            _post(self.screen, PlayOver(played))
        finally:
            self._firing, self._preparing = None, False

    def cancel(self) -> bool:
        """Stop the run on its way. False where there is none."""
        if self._firing is None:
            return False
        self._firing.cancel()
        return True

    async def _follow(self, number: int, firing: Firing) -> Run | None:
        """The run, once the screen has been told of it; None where there is none."""
        try:
            await _report(self.screen, number, firing)
            run = await firing
        except Exception as error:
            _post(self.screen, FiringOver(number, None, _said(error)))
            return None
        else:
            _post(self.screen, FiringOver(number, run))
            return run
        finally:
            self._firing = None

    def failed(self, name: str, error: BaseException | None) -> None:
        """A worker ended in a way that nobody foresaw."""
        if name == "look":
            self.look_ended()
        _post(self.screen, Failed(name, _said(error)))


async def _report(screen: MessagePump, number: int, firing: Firing) -> None:
    """All steps in order, gathered so that the screen hears of them ten times a second at most."""
    gathered: list[Step] = []

    def flush() -> None:
        if gathered:
            _post(screen, StepsCame(number, tuple(gathered)))
            gathered.clear()

    loop = asyncio.get_running_loop()
    due: asyncio.TimerHandle | None = None
    try:
        async for step in firing:
            gathered.append(step)
            if due is None or due.when() <= loop.time():
                due = loop.call_later(FRAME, flush)
    finally:
        if due is not None:
            due.cancel()
        flush()


def read_source(row: str, path: Path, surroundings: Surroundings) -> Source:
    """The text of a file, or why it is not shown. Regular files of a bounded size only."""
    facts = surroundings.files.facts(path)
    if facts is None or not facts.file:
        return Source(row, path, problem="it is gone, or no ordinary file")
    if facts.size > LARGEST_SOURCE:
        return Source(row, path, problem=f"{facts.size:,} bytes: too large to be shown here; E opens it")
    try:
        return Source(row, path, surroundings.files.read(path).decode("utf-8", "replace"))
    except OSError as error:
        return Source(row, path, problem=f"cannot be read: {error.strerror or error}")


def _post(
    screen: MessagePump,
    message: Message,
) -> None:
    """Safe from any thread; nobody listens any more once the screen is gone."""
    screen.post_message(message)


def _said(error: BaseException | None) -> str:
    return str(error) or type(error).__name__
