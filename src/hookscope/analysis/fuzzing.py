"""Fuzzing: a search for events that make a hook fail, and for the smallest event of each failure."""

from __future__ import annotations

import asyncio
import json
import os
import re
import threading
from collections.abc import Callable
from dataclasses import field, replace
from datetime import UTC, datetime
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from hookscope.app.project_config import EVENTS_FOLDER
from hookscope.app.variables import folders_of
from hookscope.authoring.testing.saved_events import read_saved_event, save_event
from hookscope.installation import install_command
from hookscope.model.failure import Failure, Frame, Refusal
from hookscope.model.run import Event, Result, Run, Status
from hookscope.runtime.async_helpers import wait_until_done
from hookscope.runtime.firing import Firing
from hookscope.storage.state_files import state_folder
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

    from hookscope.app.runs.sandboxed_run import SandboxedWorkers
    from hookscope.app.snapshot import Snapshot
    from hookscope.app.workbench import Workbench

MOST_HANGS = 20  # hangs of one hook after which the search stops
MOST_FAILURES = 10  # failures of one hook after which the search stops

FailurePlace: TypeAlias = tuple[str, int]  # file, line
FailureMark: TypeAlias = tuple[str, str, FailurePlace | None]  # hook, error type, position


def check_hypothesis() -> None:
    """Raise Refusal if hypothesis is not installed."""
    if find_spec("hypothesis") is None:
        raise Refusal(
            "Fuzzing needs hypothesis, which is not installed.", f"Run `{install_command('fuzz')}`."
        )


def failure_mark(result: Result) -> FailureMark:
    """Return what identifies a failure of a hook. A hang or a dead worker has no position."""
    error = result.error
    frame: Frame | None = error.frames[-1] if error is not None and error.frames else None
    if frame is None or result.status != "error":
        return result.call.name, error.type if error is not None else result.status, None
    return result.call.name, error.type if error is not None else "", (frame.file, frame.line)


@dataclass(slots=True)
class SeenFailure:
    """What is known about one failure during the search."""

    result: Result
    event: Event
    size: tuple[int, str]
    times: int = 0


@dataclass(slots=True)
class FailureSearch:
    """One search, in a thread of its own. `fire` returns None for an event that cannot be fired."""

    template: Event  # the template of the events
    fire: Callable[[Event], Run | None]
    stop: threading.Event
    on_failure: Callable[[Result], None]
    fired: int = 0
    hangs: int = 0
    stop_reason: str = ""
    seen: dict[FailureMark, SeenFailure] = field(default_factory=dict)  # in the order of first appearance
    known: set[FailureMark] = field(default_factory=set)  # of earlier rounds
    errors: dict[FailureMark, type[Exception]] = field(default_factory=dict)

    def run(self, events: SearchStrategy[Event], examples: int, seed: int) -> None:
        """Fire events and shrink the failing ones. The failures are in `seen`.

        Hypothesis stops soon after a failure, so it is started again, with known failures ignored.
        """
        try:
            while len(self.known) < MOST_FAILURES:
                self._round(events, examples, seed + len(self.known))
                if self.known >= self.seen.keys():
                    return
                self.known |= self.seen.keys()
            self.stop_reason = f"it fails in {len(self.known)} ways"
        except _SearchStopped:
            return

    def _round(self, events: SearchStrategy[Event], examples: int, seed: int) -> None:
        import hypothesis
        from hypothesis import configuration, strategies

        # By default, Hypothesis stores files in the current folder.
        configuration.set_hypothesis_home_dir(state_folder() / "hypothesis")
        settings = hypothesis.settings(
            max_examples=examples,
            database=None,
            deadline=None,
            derandomize=False,
            phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
            suppress_health_check=list(hypothesis.HealthCheck),
            verbosity=hypothesis.Verbosity.quiet,
            print_blob=False,
            report_multiple_bugs=True,
        )

        def fails(given: _FuzzedEvent) -> None:
            run = self._try(given.event)
            if run is None:
                hypothesis.reject()
            self._raise_for(given.event, run)

        test = settings(hypothesis.given(strategies.composite(_fuzzed_event)(events))(fails))
        seeded = hypothesis.seed(seed)
        try:
            seeded(test)()
        except (_FuzzFailure, hypothesis.errors.Flaky, hypothesis.errors.Unsatisfiable):
            pass  # failures are in `seen`, even flaky ones
        except ExceptionGroup as group:
            others = group.split(_FuzzFailure)[1]
            if others is not None:  # errors of Hookscope's own code
                raise others from None
        finally:
            configuration.set_hypothesis_home_dir(None)

    def _try(self, event: Event) -> Run | None:
        if self.stop.is_set():
            raise _SearchStopped
        if self.hangs >= MOST_HANGS:
            self.stop_reason = f"it hung {self.hangs} times"
            raise _SearchStopped
        run = self.fire(event)
        self.fired += run is not None
        if run is not None and run.cancelled:
            raise _SearchStopped
        return run

    def _raise_for(self, event: Event, run: Run) -> None:
        for result in run.failed:
            self.hangs += result.status == "timeout"
            mark = failure_mark(result)
            size = _event_size(event, self.template)
            known = self.seen.get(mark)
            if known is None:
                self.on_failure(result)
                known = self.seen[mark] = SeenFailure(result, event, size)
            elif size < known.size:
                known.result, known.event, known.size = result, event, size
            known.times += 1
        for mark in map(failure_mark, run.failed):
            if mark not in self.known:
                raise self.errors.setdefault(mark, type("Fails", (_FuzzFailure,), {}))()


class _FuzzFailure(Exception):
    """A failure, for hypothesis, which distinguishes failures by their classes."""


class _SearchStopped(KeyboardInterrupt):
    """Ends a hypothesis search, which treats every other exception as a failure."""


class _FuzzedEvent:
    """Wraps an event so that hypothesis does not print it: it may be huge."""

    def __init__(self, event: Event) -> None:
        self.event = event


def _fuzzed_event(draw: DrawFn, events: SearchStrategy[Event]) -> _FuzzedEvent:
    return _FuzzedEvent(draw(events))


def _event_size(event: Event, template: Event) -> tuple[int, str]:
    """Return the sort key for an event's size: its context, and its differences from the template."""
    session = [event.session_key] if event.session_key != template.session_key else []
    ctx = {name: value for name, value in event.ctx.items() if template.ctx.get(name) != value}
    text = json.dumps([event.context, ctx, *session], sort_keys=True)
    return len(text), text


MOST_EXAMPLES = 200  # default events per hook; shrinking fires more
LIMIT = 1.0  # default seconds per handler
FUZZ_EXPECTATION = {"errors": 0}  # of a saved event: it passes once its hook is fixed


@dataclass(frozen=True, slots=True)
class FoundFailure:
    """One failure of a hook, and the smallest event that caused it."""

    hook: str
    status: Status
    type: str  # of its error
    place: FailurePlace | None  # the failing line; None if the handler hung or died
    error: Failure | None  # as it was for this event
    event: Event
    times: int  # number of events that caused it
    run: Run | None = None  # run of this event, fired again and recorded; None if the search was stopped
    reproduced: bool = True  # the failure occurred again
    file: Path | None = None  # the file with the saved event
    save_problem: str = ""  # why it could not be saved, as a sentence


@dataclass(frozen=True, slots=True)
class FuzzedHook:
    """One hook: how many events were fired at it, and its failures."""

    hook: str
    fired: int
    failures: tuple[FoundFailure, ...] = ()
    stop_reason: str = ""  # why the search stopped early; empty: it did not


@dataclass(frozen=True, slots=True)
class FuzzResult:
    """The result of a search. The same seed gives the same events."""

    template: Event  # the template of the malformed events
    seed: int
    examples: int
    hooks: tuple[FuzzedHook, ...]
    stopped: bool = False

    @property
    def failures(self) -> tuple[FoundFailure, ...]:
        """The failures of all hooks."""
        return tuple(one for searched in self.hooks for one in searched.failures)


class Fuzzer:
    """Fires malformed events at one hook after another, and finds the smallest event that makes it fail.

    Handlers really run, in their workers, hundreds of times; with `sandbox`, on copies that are removed at
    the end. Bundled hooks would fill logs and memories: they are skipped unless `only` names one or they
    run on copies. Only the smallest failing events are recorded. Raises Refusal if hypothesis is not
    installed or no hook subscribes to the event; `run` raises OSError if copies cannot be made.

    Args:
        template: a realistic event of the key.
        only: fuzz only this hook.
        on_failure: called with each failure when first seen, in the event loop's thread.
    """

    def __init__(
        self,
        bench: Workbench,
        view: Snapshot,
        template: Event,
        *,
        only: str | None = None,
        examples: int = MOST_EXAMPLES,
        seed: int,
        sandbox: bool = False,
        on_failure: Callable[[Result], None] | None = None,
    ) -> None:
        check_hypothesis()
        self._bench, self._view, self._template = bench, view, template
        self._examples, self._seed, self._sandbox = examples, seed, sandbox
        self._on_failure = on_failure
        self._stop = threading.Event()
        self._firing: Firing | None = None
        self._sandboxed_workers: SandboxedWorkers | None = None
        calls = bench.plan(view, template, only=only).calls
        all_sources = only is not None or sandbox
        selected = (
            call for call in calls if all_sources or not call.hook or call.hook.folder.source != "bundled"
        )
        self.hooks = tuple(dict.fromkeys(call.name for call in selected))
        if not self.hooks:
            reason = f"{only} does not run" if only is not None else "none of your hooks runs"
            raise Refusal(
                f"There is nothing to fuzz: {reason} for {template.key}.",
                f"`hookscope plan {template.key}` shows why.",
            )

    def stop(self) -> None:
        """Stop the search; its findings so far are the result. Call it in the event loop's thread."""
        self._stop.set()
        if self._firing is not None:
            self._firing.cancel()

    async def run(self) -> FuzzResult:
        """Search all hooks, one after another. If cancelled, it first waits until its handlers have ended."""
        task = asyncio.get_running_loop().create_task(self._run())
        await wait_until_done(task, self.stop)
        return task.result()

    async def _run(self) -> FuzzResult:
        self._sandboxed_workers = await self._bench.open_sandbox(self._view) if self._sandbox else None
        done: list[FuzzedHook] = []
        try:
            for name in self.hooks:
                if self._stop.is_set():
                    break
                done.append(await self._search_hook(name))
        finally:
            if self._sandboxed_workers is not None:
                await self._sandboxed_workers.close()
        stopped = self._stop.is_set()
        return FuzzResult(self._template, self._seed, self._examples, tuple(done), stopped)

    async def _search_hook(self, name: str) -> FuzzedHook:
        loop = asyncio.get_running_loop()

        def fire(event: Event) -> Run | None:
            return asyncio.run_coroutine_threadsafe(self._fire(event, name), loop).result()

        def report(result: Result) -> None:
            if self._on_failure is not None:
                loop.call_soon_threadsafe(self._on_failure, result)

        search = FailureSearch(self._template, fire, self._stop, report)
        await asyncio.to_thread(self._search, search)
        failures = (
            FoundFailure(hook, seen.result.status, kind, place, seen.result.error, seen.event, seen.times)
            for (hook, kind, place), seen in search.seen.items()
        )
        found = [await self._confirm(failure) for failure in failures]
        return FuzzedHook(name, search.fired, tuple(found), search.stop_reason)

    def _search(self, search: FailureSearch) -> None:
        from hookscope.analysis.strange_events import events_like  # it needs hypothesis

        known = self._view.host.dialect.catalogue().find(self._template.key)
        search.run(events_like(self._template, known), self._examples, self._seed)

    async def _fire(self, event: Event, name: str) -> Run | None:
        """Fire an event without recording it, and return its run; None if no host could send the event."""
        try:
            plan = self._bench.plan(self._view, event, only=name)
        except Refusal:
            return None
        self._firing = self._bench.fire_unrecorded(self._view, plan, self._sandboxed_workers)
        try:
            return await self._firing
        finally:
            self._firing = None

    async def _confirm(self, found: FoundFailure) -> FoundFailure:
        """Fire the smallest event again, record the run, and return the failure with it."""
        if self._stop.is_set():
            return found
        event = replace(found.event, timestamp=datetime.now(UTC))
        plan = self._bench.plan(self._view, event, only=found.hook)
        if self._sandboxed_workers is not None:
            self._firing = self._bench.fire_in_sandbox(self._view, plan, self._sandboxed_workers)
        else:
            self._firing = self._bench.fire(self._view, plan)
        try:
            run = await self._firing
        finally:
            self._firing = None
        marks = {failure_mark(result) for result in run.failed}
        return replace(found, run=run, reproduced=(found.hook, found.type, found.place) in marks)


def save_failures(
    bench: Workbench, view: Snapshot, fuzzed: FuzzResult, name: str | None = None
) -> FuzzResult:
    """Save each failing event as a test that expects no errors. Return the result with files or reasons.

    The files are `.hookscope/events/fuzz-KEY-HOOK.yaml` by default, with a number if the name is taken;
    no file is overwritten.
    """

    def keep(found: FoundFailure) -> FoundFailure:
        try:
            return replace(found, file=_save_failure(bench, view, found, name))
        except Refusal as error:
            return replace(found, save_problem=str(error))

    hooks = (replace(one, failures=tuple(map(keep, one.failures))) for one in fuzzed.hooks)
    return replace(fuzzed, hooks=tuple(hooks))


def _save_failure(bench: Workbench, view: Snapshot, found: FoundFailure, name: str | None) -> Path:
    """Return a file with this event: a new one, or an existing one with the same event. Raises Refusal."""
    file_name = (name or f"fuzz-{found.event.key}-{found.hook}").removesuffix(".yaml")
    bare = re.sub(r"[^\w.-]+", "-", file_name).strip("-.") or "fuzz"
    template = bench.template(view, found.event.key)
    for number in count(1):
        file = view.host.workspace / EVENTS_FOLDER / f"{bare}{f'-{number}' if number > 1 else ''}.yaml"
        if not os.path.exists(file):
            redaction, folders = bench.redaction_of(view.host), folders_of(view.host)
            write = bench.edits.write_new_file
            save_event(
                found.event, template, file, redaction, folders=folders, expect=FUZZ_EXPECTATION, write=write
            )
            return file
        if _is_same_event(bench, view, file, found.event):
            return file
    raise AssertionError("unreachable")


def _is_same_event(bench: Workbench, view: Snapshot, file: Path, event: Event) -> bool:
    try:
        saved = read_saved_event(bench, view, file)
    except Refusal:
        return False
    known, found = ((one.key, one.session_key, one.context, one.ctx) for one in (saved, event))
    return known == found
