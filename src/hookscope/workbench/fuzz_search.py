"""One search of hypothesis for events that a hook fails at. Blocks: it is for a thread of its own."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import field
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeAlias

from hookscope.bringing import brings
from hookscope.core.failure import Frame
from hookscope.core.runs import Event, Result, Run
from hookscope.values import dataclass
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.state_files import state_folder

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

MOST_HANGS = 20  # of one hook: then what is known is enough
MOST_FAILURES = 10  # of one hook, likewise

Place: TypeAlias = tuple[str, int]  # file, line
Mark: TypeAlias = tuple[str, str, Place | None]  # one failure: hook, type of the error, where it was thrown


def check_hypothesis() -> None:
    """Raises Refusal where hypothesis is not installed."""
    if find_spec("hypothesis") is None:
        raise Refusal("Fuzzing needs hypothesis, which is not installed.", f"`{brings('fuzz')}` brings it.")


def mark_of(result: Result) -> Mark:
    """What tells one failure of a hook from another. Where a handler hung, or its worker died, is no part."""
    error = result.error
    frame: Frame | None = error.frames[-1] if error is not None and error.frames else None
    if frame is None or result.status != "error":
        return result.call.name, error.type if error is not None else result.status, None
    return result.call.name, error.type if error is not None else "", (frame.file, frame.line)


@dataclass(slots=True)
class Seen:
    """What is known of one failure while the search goes on."""

    result: Result
    event: Event
    size: tuple[int, str]
    times: int = 0


@dataclass(slots=True)
class Search:
    """One search, in a thread of its own. `fire` answers None for an event that cannot be."""

    template: Event  # what the events are made of
    fire: Callable[[Event], Run | None]
    stop: threading.Event
    told: Callable[[Result], None]
    fired: int = 0
    hangs: int = 0
    why: str = ""
    seen: dict[Mark, Seen] = field(default_factory=dict)  # in the order of first appearance
    known: set[Mark] = field(default_factory=set)  # of earlier rounds
    errors: dict[Mark, type[Exception]] = field(default_factory=dict)

    def run(self, events: SearchStrategy[Event], examples: int, seed: int) -> None:
        """Fire events, and shrink what fails. What it found is in `seen`.

        Hypothesis stops soon after a failure; so it begins again, and what is known is no failure any more.
        """
        try:
            while len(self.known) < MOST_FAILURES:
                self._round(events, examples, seed + len(self.known))
                if self.known >= self.seen.keys():
                    return
                self.known |= self.seen.keys()
            self.why = f"it fails in {len(self.known)} ways"
        except _Stopped:
            return

    def _round(self, events: SearchStrategy[Event], examples: int, seed: int) -> None:
        import hypothesis
        from hypothesis import configuration, strategies

        # What it keeps, it would keep in the folder where somebody works.
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

        def fails(given: _Given) -> None:
            run = self._tried(given.event)
            if run is None:
                hypothesis.reject()
            self._raise_for(given.event, run)

        test = settings(hypothesis.given(strategies.composite(_given)(events))(fails))
        seeded = hypothesis.seed(seed)
        try:
            seeded(test)()
        except (_Fails, hypothesis.errors.Flaky, hypothesis.errors.Unsatisfiable):
            pass  # what failed is in `seen`, whether or not it fails every time
        except ExceptionGroup as group:
            others = group.split(_Fails)[1]
            if others is not None:  # ours
                raise others from None
        finally:
            configuration.set_hypothesis_home_dir(None)

    def _tried(self, event: Event) -> Run | None:
        if self.stop.is_set():
            raise _Stopped
        if self.hangs >= MOST_HANGS:
            self.why = f"it hung {self.hangs} times"
            raise _Stopped
        run = self.fire(event)
        self.fired += run is not None
        if run is not None and run.cancelled:
            raise _Stopped
        return run

    def _raise_for(self, event: Event, run: Run) -> None:
        for result in run.failed:
            self.hangs += result.status == "timeout"
            mark = mark_of(result)
            size = _size(event, self.template)
            known = self.seen.get(mark)
            if known is None:
                self.told(result)
                known = self.seen[mark] = Seen(result, event, size)
            elif size < known.size:
                known.result, known.event, known.size = result, event, size
            known.times += 1
        for mark in map(mark_of, run.failed):
            if mark not in self.known:
                raise self.errors.setdefault(mark, type("Fails", (_Fails,), {}))()


class _Fails(Exception):
    """A failure, for hypothesis: it tells failures apart by their classes."""


class _Stopped(KeyboardInterrupt):
    """Ends a search of hypothesis, which takes every other exception for a failure."""


class _Given:
    """An event that hypothesis does not print: it may be huge."""

    def __init__(self, event: Event) -> None:
        self.event = event


def _given(draw: DrawFn, events: SearchStrategy[Event]) -> _Given:
    return _Given(draw(events))


def _size(event: Event, template: Event) -> tuple[int, str]:
    """The smaller of two events takes fewer characters: of its context, and of what is not as always."""
    session = [event.session_key] if event.session_key != template.session_key else []
    ctx = {name: value for name, value in event.ctx.items() if template.ctx.get(name) != value}
    text = json.dumps([event.context, ctx, *session], sort_keys=True)
    return len(text), text
