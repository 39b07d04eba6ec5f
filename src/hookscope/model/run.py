"""What happens when an event is fired: registrations, plans, policies, steps, results and runs.

Data, and the policy protocol.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from hookscope.model.failure import Failure, InjectedFault
from hookscope.model.hook import Hook, Language, LogLine, SiblingDefinition
from hookscope.model.hook_event import HookEvent
from hookscope.model.sandbox_result import SandboxResult
from hookscope.values import dataclass

EventKind = Literal["folder", "stream", "plugin"]
Status = Literal["ok", "error", "timeout", "crashed", "cancelled"]
Handler: TypeAlias = Callable[[Any], Awaitable[object] | object]
Patch: TypeAlias = tuple[Mapping[str, Any], ...]  # RFC 6902, of the event as the handler got it
# What a module is, and so how it is loaded and called: a handler of one event; a handler of two arguments;
# a stream hook, channel or dynamic resolver with its handlers by event; a plugin that registers handlers; a
# tool; an agent with its scripted model.
ModuleShape = Literal["hook", "arguments", "stream", "plugin", "tool", "input", "model"]

# Did who fired the event leave it out: for others that were asked for, or by itself. Else its host does.
Exclusion = Literal["", "unasked", "chosen"]

ASYNC_REGISTER = "promise"  # a plugin whose `register` is not done when it returns
UNNAMED = "unnamed"  # one that registers a hook of folder events without a name
MISNAMED = "misnamed\n"  # one whose code has another id than its manifest: both follow, a line each
SKIPPED_BY_HAND = "passed over by hand"
EVENT_NOT_RECORDED = "the event could not be recorded"  # why hooks of a stream did not run


@dataclass(frozen=True, slots=True)
class Event:
    """One event as `HookEngine.fire` takes it. Of a stream or plugin event, `context` is its payload.

    `timestamp` is UTC where it names no zone. Source: guides 000 ("HookEvent Interface"), 002 and 003.
    """

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
    shape: ModuleShape = "hook"
    member: str = ""  # which of the module's handlers; empty: the module as a whole
    beside: tuple[SiblingDefinition, ...] = ()  # what the module may name by its definition
    plugin: str = ""  # the id of the plugin that it is
    config: Mapping[str, Any] = field(default_factory=dict)  # what the settings say to a plugin itself
    tools: tuple[str, ...] = ()  # that a plugin's manifest declares
    settings: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)  # and all of them
    within: Path | None = None  # the real folder or file that was found trusted; a load checks it again


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
    breakage: InjectedFault | None = None  # a fault that its worker puts in its place, on purpose
    hears: EventKind | None = None  # the kind of its events; None: that of its hook
    lasting: bool = False  # registered by code, and no load forgets it
    limit_from: str = ""  # where `limit` was said; empty: in its HOOK.md


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
    asked: frozenset[str] = frozenset()  # of the ways that some host fails: PROMISE, UNNAMED, BESIDE…


@dataclass(frozen=True, slots=True)
class CallGroup:
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
    left_out: Exclusion = ""


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
        """The state before the first handler: nothing answered, the event as it was given."""
        ...

    def view(self, fold: Fold, call: Registration) -> Any:
        """What this handler is called with: the event itself, a copy, or the two arguments of its kind."""
        ...

    def take(self, fold: Fold, result: Result) -> tuple[Fold, Next]:
        """The state behind a result, and whether to go on."""
        ...

    def finish(self, fold: Fold) -> Ending:
        """What the results add up to: the merged answer, a failure, and the events that follow."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """For one event: who would run, grouped and in order, and who would not. Making it runs nothing.

    Where a policy stops early, the calls left over end as `not_run` of the Run.
    """

    event: Event
    generation: int
    groups: tuple[CallGroup, ...]
    not_run: tuple[NotRun, ...]
    policy: Policy
    delivers: bool = False  # does the host hand pushed messages to the user
    forced: frozenset[Registration] = frozenset()  # called although they would not run
    assumed: frozenset[str] = frozenset()  # what of the surroundings is a what-if
    only: str | None = None  # the one hook that is fired at; by what its event causes, too
    needs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # as EventType.needs has it
    left_out: frozenset[str] = frozenset()  # hooks by name, by request; of what its event causes, too
    notes: tuple[str, ...] = ()  # what its Run says of how it was called

    @property
    def calls(self) -> tuple[Registration, ...]:
        """All calls in order."""
        if len(self.groups) == 1:
            return self.groups[0].calls
        return tuple(call for group in self.groups for call in group.calls)

    def of(self, event: Event, policy: Policy) -> Plan:
        """The same plan for another event. Not by `replace`: that takes five times as long for each event."""
        return Plan(
            event,
            self.generation,
            self.groups,
            self.not_run,
            policy,
            self.delivers,
            self.forced,
            self.assumed,
            self.only,
            self.needs,
            self.left_out,
            self.notes,
        )


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
    loaded: float = 0.0  # seconds of importing it before it ran; not in `took`
    messages: tuple[str, ...] = ()
    returned: object = None
    stdout: str = ""
    stderr: str = ""
    error: Failure | None = None
    patch: Patch = ()
    notes: tuple[str, ...] = ()  # cut output, asked-for cancels, late output: said, not hidden
    forced: bool = False
    stale: Failure | None = None  # why the saved version did not load: this ran the last good one
    asked: tuple[str, ...] = ()  # of its host, by its `ctx`: cancel; or `promise`, see Arguments


@dataclass(frozen=True, slots=True)
class Slow:
    """A step: this handler runs for longer than expected. Times in seconds."""

    call: Registration
    after: float
    limit: float | None  # when it will be stopped; None: never


@dataclass(frozen=True, slots=True)
class Paused:
    """A step: the run waits for somebody's word before this handler. `at` as in Started."""

    call: Registration
    at: float
    beside: tuple[Registration, ...] = ()  # those that begin together with it
    event: object = None  # as it would get it, as JSON values


@dataclass(frozen=True, slots=True)
class Skipped:
    """A step: this handler was passed over by hand."""

    call: Registration


Step: TypeAlias = Started | Slow | Result | Paused | Skipped
OnStep: TypeAlias = Callable[[Step], None]


@dataclass(frozen=True, slots=True)
class Run:
    """All that one event caused: every planned handler is a result or a `not_run`. Times in seconds.

    `messages` and `context` are those of the event afterwards; `ending` is what the answers added up to.
    """

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
    guarded: SandboxResult | None = None  # it ran on copies

    @property
    def failed(self) -> tuple[Result, ...]:
        """The results that are no `ok`."""
        return tuple(result for result in self.results if result.status != "ok")


RUN_NOT_RECORDED = "This run could not be recorded"


def not_recorded_message(why: str) -> str:
    """The sentence for a run that the record has not taken."""
    return f"{RUN_NOT_RECORDED}: {why}"


def reported_log(run: Run) -> tuple[LogLine, ...]:
    """What the host logs of a stream or plugin event. Of a folder's it is what the results say already, but
    for a record that is missing: nobody finds such a run again."""
    if run.event.kind != "folder" or any(result.call.breakage is not None for result in run.results):
        return run.ending.log
    return tuple(line for line in run.ending.log if line.text.startswith(RUN_NOT_RECORDED))
