"""What happens when an event is fired: plans, policies, lanes, results. Data and protocols only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from hookscope.core.breakage import Breakage
from hookscope.core.event import HookEvent
from hookscope.core.hooks import Beside, Hook, Language, LogLine
from hookscope.values import dataclass

EventKind = Literal["folder", "stream", "plugin"]
Status = Literal["ok", "error", "timeout", "crashed", "cancelled"]
Handler: TypeAlias = Callable[[Any], Awaitable[object] | object]
Patch: TypeAlias = tuple[Mapping[str, Any], ...]  # RFC 6902, of the event as the handler got it
# What a module is, and so how it is loaded and called: a handler of one event; a handler of two arguments;
# a stream hook, channel or dynamic resolver with its handlers by event; a plugin that registers handlers; a
# tool; an agent with its scripted model.
Shape = Literal["hook", "arguments", "stream", "plugin", "tool", "model"]


UNRECORDED = "the event could not be recorded"  # why hooks of a stream did not run


@dataclass(frozen=True, slots=True)
class Event:
    """One event as it is fired. Of a stream or plugin event, `context` is its payload."""

    type: str
    action: str = ""
    session_key: str = ""
    context: Mapping[str, Any] = field(default_factory=dict)
    messages: tuple[str, ...] = ()
    timestamp: datetime = field(default_factory=lambda: datetime.now(UTC))
    kind: EventKind = "folder"
    meta: Mapping[str, Any] = field(default_factory=dict)  # a stream's envelope: id, at
    ctx: Mapping[str, Any] = field(default_factory=dict)  # the second argument of stream and plugin handlers
    live: HookEvent | None = None  # the embedding program's own object, changed in place

    @property
    def key(self) -> str:
        """`type:action`, or `type` alone where the event has no action."""
        return f"{self.type}:{self.action}" if self.action else self.type


@dataclass(frozen=True, slots=True)
class Code:
    """Where a handler's code lies. `digest` stands for the folder's content; lanes load by it."""

    path: Path
    export: str
    root: Path  # the hook's folder: heads its import path
    language: Language
    digest: str = ""  # empty: not yet taken
    env: Mapping[str, str] = field(default_factory=dict)  # laid over the handler's environment
    plain: bool = False  # nothing is repaired, stubbed or transformed that its language would refuse
    shape: Shape = "hook"
    member: str = ""  # which of the module's handlers; empty: the module as a whole
    beside: tuple[Beside, ...] = ()  # what the module may name by its definition


@dataclass(frozen=True, slots=True, eq=False)
class Registration:
    """One handler under one event key. Equal to itself only: a hook may stand under a key twice."""

    key: str
    name: str  # the hook's name, for people and logs
    target: Handler | Code
    hook: Hook | None = None  # None: registered by code alone
    priority: float = 0
    limit: float | None = None  # seconds to run; None: the lane's own limit, 0: none
    load_limit: float | None = None  # seconds to load
    options: Mapping[str, Any] = field(default_factory=dict)  # what else was said when it registered
    breakage: Breakage | None = None  # a fault that its worker puts in its place, on purpose


@dataclass(frozen=True, slots=True)
class Declared:
    """One handler that a module brings. `key` as it was written, known to the host or not."""

    key: str
    target: Handler | Code
    priority: float = 0
    limit: float | None = None  # seconds; None: not said
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Module:
    """A module with any number of handlers, loaded: a stream hook, a plugin."""

    declares: tuple[Declared, ...] = ()
    log: tuple[LogLine, ...] = ()  # what the loader says of it: unknown names, a refused registration


@dataclass(frozen=True, slots=True)
class Registry:
    """Who listens to what, in order of registration. Replaced, never edited."""

    generation: int = 0
    registrations: tuple[Registration, ...] = ()
    by_key: Mapping[str, tuple[Registration, ...]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        index: dict[str, list[Registration]] = {}
        for registration in self.registrations:
            index.setdefault(registration.key, []).append(registration)
        object.__setattr__(self, "by_key", {key: tuple(calls) for key, calls in index.items()})

    def keys(self) -> tuple[str, ...]:
        """The event keys that somebody listens to, in order of first registration."""
        return tuple(self.by_key)

    def listeners(self, keys: Sequence[str]) -> tuple[Registration, ...]:
        """All registrations of these keys: key after key, each in order of registration."""
        return tuple(call for key in keys for call in self.by_key.get(key, ()))

    def with_registrations(self, registrations: Sequence[Registration]) -> Registry:
        """The next generation."""
        return Registry(self.generation + 1, tuple(registrations))


@dataclass(frozen=True, slots=True)
class Group:
    """Calls that belong together. `after_record` is False for what runs before the event is on
    record: a stream's own channel handler, and nothing else (recorded in eve 20)."""

    calls: tuple[Registration, ...]
    together: bool = False  # started at once
    after_record: bool = True
    label: str = ""  # what the host calls them, where an event has several groups: channel, typed, *


@dataclass(frozen=True, slots=True)
class NotRun:
    """A handler that does not run, and the reason."""

    name: str
    reason: str
    hook: Hook | None = None
    listens: bool = True  # it listens to the event, so its author expects it to run
    near: str = ""  # it nearly heard the event: what it listens to instead, and what it would take


@dataclass(frozen=True, slots=True)
class Fold:
    """What the results so far add up to. One class for all policies."""

    event: Any
    answer: Mapping[str, Any] = field(default_factory=dict)
    failure: str | None = None
    log: tuple[LogLine, ...] = ()
    follow_ups: tuple[Event, ...] = ()
    by: tuple[str, ...] = ()  # the names of those whose answers count, in the order of answering
    taken: int = 0  # results so far, answers or not


class Next(Enum):
    """What comes after a result."""

    GO = "go"
    STOP = "stop"  # the rest is not asked
    FAIL = "fail"  # the event fails closed


@dataclass(frozen=True, slots=True)
class Ending:
    """What an event came to."""

    answer: Mapping[str, Any] | None = None
    failure: str | None = None
    follow_ups: tuple[Event, ...] = ()
    log: tuple[LogLine, ...] = ()
    verdict: str = ""  # one line for people: allowed; changed params; blocked by guard: no
    context: Mapping[str, Any] | None = None  # of the event afterwards; None: the fold's event has it


class Policy(Protocol):
    """What the handlers of one event see of each other, and what their answers add up to."""

    @property
    def batched(self) -> bool:
        """May a lane run a whole group on one shared event? Never where one can stop or fail it."""
        ...

    def start(self, event: Event) -> Fold:
        """The state before the first handler."""
        ...

    def view(self, fold: Fold, call: Registration) -> Any:
        """What this handler gets."""
        ...

    def take(self, fold: Fold, result: Result) -> tuple[Fold, Next]:
        """The state behind a result, and whether to go on."""
        ...

    def finish(self, fold: Fold) -> Ending:
        """What it all came to."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """For one event: who would run, grouped and in order, and who would not. Making it runs nothing.

    Where a policy stops early, the calls left over end as `not_run` of the Run.
    """

    event: Event
    generation: int
    groups: tuple[Group, ...]
    not_run: tuple[NotRun, ...]
    policy: Policy
    delivers: bool = False  # does the host hand pushed messages to the user
    forced: frozenset[Registration] = frozenset()  # called although they would not run
    assumed: frozenset[str] = frozenset()  # what of the surroundings is a what-if
    only: str | None = None  # the one hook that is fired at; by what its event causes, too

    @property
    def calls(self) -> tuple[Registration, ...]:
        """All calls in order."""
        return tuple(call for group in self.groups for call in group.calls)


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a traceback."""

    file: str
    line: int
    function: str
    source: str = ""
    column: int = 0  # from 1; 0: not known


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong in a handler."""

    type: str  # KeyError, SyntaxError, Timeout, Crashed, …
    message: str
    frames: tuple[Frame, ...] = ()  # outermost first; the last 40 at most
    phase: Literal["spawn", "load", "run"] = "run"
    plain: str | None = None  # the thrown thing's own text, where `message` says it in other words
    chain: tuple[str, ...] = ()  # bare messages, of the error and then of its causes; empty: not known

    @property
    def own_text(self) -> str:
        """What the thrown thing says of itself, and nothing beside it: what hosts log."""
        return self.message if self.plain is None else self.plain


@dataclass(frozen=True, slots=True)
class Started:
    """A step: this handler has begun. `at` is in seconds from the start of the run."""

    call: Registration
    at: float


@dataclass(frozen=True, slots=True)
class Result:
    """A step: what one handler did. Times in seconds, `started` from the start of the run."""

    call: Registration
    status: Status
    started: float = 0.0
    took: float = 0.0
    loaded: float = 0.0  # of `took`'s neighbourhood: seconds spent importing it before it ran
    messages: tuple[str, ...] = ()
    returned: object = None
    stdout: str = ""
    stderr: str = ""
    error: Failure | None = None
    patch: Patch = ()
    notes: tuple[str, ...] = ()  # cut output, asked-for cancels, late output: said, not hidden
    forced: bool = False
    stale: Failure | None = None  # why the saved version did not load: this ran the last good one
    asked: tuple[
        str, ...
    ] = ()  # what it asked its host for by its `ctx`: cancel; or `promise`, see Arguments


@dataclass(frozen=True, slots=True)
class Slow:
    """A step: this handler runs for longer than expected. Times in seconds."""

    call: Registration
    after: float
    limit: float | None  # when it will be stopped; None: never


Step: TypeAlias = Started | Slow | Result
OnStep: TypeAlias = Callable[[Step], None]


@dataclass(frozen=True, slots=True)
class FileChange:
    """What became of one file or link. It is foreign text, controls and all."""

    path: Path
    kind: Literal["written", "changed", "deleted"]
    before: int | None  # bytes; None: there was none
    after: int | None
    diff: str = ""  # unified; empty for what is no text, or long; of a link, where it leads
    digest: str = ""  # of what it holds now, hexadecimal; empty: not known


@dataclass(frozen=True, slots=True)
class Guarded:
    """What a run on copies did to them, and which walls stood meanwhile."""

    walls: str  # for people
    network: bool  # there was none
    disk: bool  # outside of the copies it was read-only
    changes: tuple[FileChange, ...] = ()  # with the originals' paths
    more: int = 0  # changes that are not listed
    notes: tuple[str, ...] = ()  # what was not copied; what changed beside the copies


@dataclass(frozen=True, slots=True)
class Run:
    """All that one event caused."""

    id: int
    event: Event
    results: tuple[Result, ...]
    not_run: tuple[NotRun, ...]
    ending: Ending
    messages: tuple[str, ...] = ()  # of the event, afterwards
    context: Mapping[str, Any] = field(default_factory=dict)  # of the event, afterwards
    caused: tuple[Run, ...] = ()
    took: float = 0.0  # seconds
    cancelled: bool = False
    delivers: bool = False
    notes: tuple[str, ...] = ()
    assumed: frozenset[str] = frozenset()  # what of the surroundings was a what-if
    guarded: Guarded | None = None  # it ran on copies

    @property
    def failed(self) -> tuple[Result, ...]:
        """The results that are no `ok`."""
        return tuple(result for result in self.results if result.status != "ok")


class Lane(Protocol):
    """Where handlers run. Owns what it starts; `close` ends it and waits until it is gone."""

    async def run(self, batch: Sequence[Registration], view: Any, step: OnStep) -> None:
        """Run the batch in order on one view of the event.

        Results travel by `step` alone, so that they survive a cancel: every call of the batch
        that was begun gets exactly one Result, also when this is cancelled.
        """
        ...

    async def run_in_turn(self, calls: Sequence[Registration], views: Iterator[Any], step: OnStep) -> None:
        """Run calls one after another, each on a view of its own; otherwise as `run`.

        `views` makes each view when its call's turn comes, when the call before has given its result, and
        ends where the rest is not asked. It is asked once more behind the last call.
        """
        ...

    async def run_together(self, calls: Sequence[tuple[Registration, Any]], step: OnStep) -> None:
        """Start all calls at once, in order, each on its own view; otherwise as `run`.

        Steps of several calls come in between each other. Calls that cannot run beside each other here run
        one after another.
        """
        ...

    async def load(self, code: Code) -> Handler | Code | Module | Failure:
        """Load a handler without running it: what to register for it, or why it cannot be.

        A Module for the shapes `stream` and `plugin`, whose declared targets can be registered and run.
        What comes back stands for the code as it was loaded: a later edit of the file, even one that
        breaks it, does not change what a registration calls.
        """
        ...

    async def close(self) -> None:
        """End what runs handlers here, and wait until it is gone."""
        ...


LaneOf: TypeAlias = Callable[[Registration], Lane]


class Recorder(Protocol):
    """The durable record of runs."""

    async def begin(self, event: Event) -> int:
        """The run's id, given once the event is on disk. Raises OSError where it cannot be."""
        ...

    async def end(self, run: Run) -> None:
        """Keep what came of a run that was begun. Raises OSError where it cannot be kept."""
        ...


@runtime_checkable
class PlanRecorder(Recorder, Protocol):
    """A Recorder that keeps too who was to run."""

    async def begin_plan(self, plan: Plan) -> int:
        """As `begin`, of the plan's event."""
        ...


class RunListener(Protocol):
    """Hears of every run of an engine, and of those that it causes. It is not to raise."""

    def begins(self, plan: Plan, dialect: str) -> Callable[[Run], object]:
        """Called in the run's own task before anything runs; what it returns, with the Run at the end."""
        ...


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What a load did. Source: guide 000, "LoadHooksResult"."""

    discovered: int = 0  # hooks found in all folders, winners only
    eligible: int = 0
    registered: int = 0  # hooks and legacy handlers that were loaded
    skipped: tuple[str, ...] = ()  # "name: reason, reason"
    failed: tuple[str, ...] = ()  # names
    log: tuple[LogLine, ...] = ()
    failures: Mapping[str, Failure] = field(default_factory=dict)  # by name, with file and line
    committed: bool = True  # False: a strict load met a failure and left everything as it was
    refusal: str = ""  # then: the host's own sentence of the first failure
    stopped: str = ""  # what ended the load before its end; hooks before it are registered, later ones not
