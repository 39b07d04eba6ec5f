"""Registrations, plans, policies, steps, results and runs: data, and the policy protocol."""

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
from hookscope.values import dataclass

MOST_NAMED = 20  # changed originals listed one by one


@dataclass(frozen=True, slots=True)
class FileChange:
    """The change of one file or link. Its texts are untrusted and may hold control characters."""

    path: Path
    kind: Literal["written", "changed", "deleted"]
    before: int | None  # bytes; None: it did not exist
    after: int | None
    diff: str = ""  # unified; empty if long or no text; a link's target
    digest: str = ""  # of the new content, hexadecimal; empty: unknown


@dataclass(frozen=True, slots=True)
class TouchedFile:
    """An original file that changed during the run, by a handler or by another program."""

    path: Path
    kind: Literal["written", "changed", "deleted"]


@dataclass(frozen=True, slots=True)
class OriginalsCheck:
    """The comparison of the original files before and after the run."""

    compared: int  # files, links and folders
    changed: tuple[TouchedFile, ...] = ()
    unlisted: int = 0  # changed originals that are not listed


@dataclass(frozen=True, slots=True)
class SandboxResult:
    """The changes of a sandboxed run, and the isolation that was in place."""

    isolation: str  # for display
    no_network: bool  # there was no network
    read_only_disk: bool  # read-only outside the copies
    changes: tuple[FileChange, ...] = ()  # with the originals' paths
    more: int = 0  # changes that are not listed
    notes: tuple[str, ...] = ()  # files not copied, and changes outside the copies
    no_unix_sockets: bool = False  # no Unix socket could be opened
    complete: bool = False  # every copy was compared; False if a record lacks it
    originals: OriginalsCheck | None = None  # None: they were not compared

    @property
    def unchanged_text(self) -> str:
        """See `unchanged_summary`."""
        return unchanged_summary(read_only_disk=self.read_only_disk, complete=self.complete)

    @property
    def originals_text(self) -> tuple[str, ...]:
        """Sentences on the originals that handlers could write: how many were compared, changed."""
        if self.originals is None or self.read_only_disk:
            return ()
        check = self.originals
        if not check.changed:
            return (f"{check.compared:,} original files and folders were compared: none has changed.",)
        suspects = "by a handler that did not use its copy, or by another program"
        lines = [
            f"{one.path} itself was {one.kind} during the run, {suspects}."
            for one in check.changed[:MOST_NAMED]
        ]
        if more := len(check.changed[MOST_NAMED:]) + check.unlisted:
            lines.append(f"{more:,} more originals have changed.")
        return tuple(lines)


def unchanged_summary(*, read_only_disk: bool, complete: bool) -> str:
    """Return what is known about the files if no copy changed; it claims only what was checked."""
    if not complete:
        return "no change was found, but not everything could be compared"
    if read_only_disk:
        return "none was written, changed or deleted"
    return "none was written, changed or deleted in the copies; other files were not all checked"


EventKind = Literal["folder", "stream", "plugin"]
Status = Literal["ok", "error", "timeout", "crashed", "cancelled"]
Handler: TypeAlias = Callable[[Any], Awaitable[object] | object]
EventHandler: TypeAlias = Callable[[HookEvent], Awaitable[object] | object]  # of a folder event
Patch: TypeAlias = tuple[Mapping[str, Any], ...]  # RFC 6902, relative to the handler's payload
# How a module is loaded and called: a handler of one argument; a handler of two arguments;
# a stream hook, channel or dynamic resolver with its handlers by event; a plugin that registers handlers; a
# tool; an agent with its scripted model.
ModuleShape = Literal["hook", "arguments", "stream", "plugin", "tool", "input", "model"]

# Excluded by the user: not requested, or excluded by name. Empty: by its host.
Exclusion = Literal["", "unasked", "chosen"]

ASYNC_REGISTER = "promise"  # a plugin with an async `register`
UNNAMED = "unnamed"  # a plugin that registers a folder-event hook without a name
NOT_TEXT = "not text"  # a plugin that registers such a hook for an event that is not a text
MISNAMED = "misnamed\n"  # a plugin with another id than its manifest; the manifest's id and its own follow
SKIPPED_BY_HAND = "skipped by the user"
EVENT_NOT_RECORDED = "the event could not be recorded"  # why hooks of a stream did not run


@dataclass(frozen=True, slots=True)
class Event:
    """One event as `HookEngine.fire` takes it.

    `context` is the payload of a stream or plugin event. A `timestamp` without a zone is UTC.
    Source: guides 000 ("HookEvent Interface"), 002 and 003.
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
    live: HookEvent | None = None  # the caller's own object, changed in place

    @property
    def key(self) -> str:
        """`type:action`, or `type` for an event without an action."""
        return f"{self.type}:{self.action}" if self.action else self.type


@dataclass(frozen=True, slots=True)
class Code:
    """The location of a handler's code. Executors load by `digest`, which identifies the content."""

    path: Path
    export: str
    root: Path  # the hook's folder: first on its import path
    language: Language
    digest: str = ""  # empty: not computed yet
    env: Mapping[str, str] = field(default_factory=dict)  # added to the handler's environment
    unmodified: bool = False  # loaded without repairs, stubs or transforms
    shape: ModuleShape = "hook"
    member: str = ""  # one of the module's handlers; empty: the module
    siblings: tuple[SiblingDefinition, ...] = ()  # definitions that the module may pass to `toolResultFrom`
    plugin: str = ""  # the plugin's id
    config: Mapping[str, Any] = field(default_factory=dict)  # a plugin's own settings
    tools: tuple[str, ...] = ()  # declared in a plugin's manifest
    settings: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)  # of the host
    trusted_root: Path | None = None  # the trusted real path; a load checks it again


@dataclass(frozen=True, slots=True, eq=False)
class Registration:
    """One handler under one event key. Compared by identity: a hook may register twice for a key."""

    key: str
    name: str  # the hook's name
    target: Handler | Code
    hook: Hook | None = None  # None: registered by code
    priority: float = 0
    limit: float | None = None  # seconds to run; None: the executor's limit, 0: none
    load_limit: float | None = None  # seconds to load
    options: Mapping[str, Any] = field(default_factory=dict)  # other options of the registration
    injected_fault: InjectedFault | None = None  # the fault that replaces the handler
    event_kind: EventKind | None = None  # None: the kind of its hook
    permanent: bool = False  # registered by code; outlives loads
    limit_source: str = ""  # the source of `limit`; empty: HOOK.md
    remover: Callable[[], bool] | None = field(default=None, repr=False)  # None: a load made it

    def remove(self) -> bool:
        """Remove this registration; return False if it is gone or made by a load. Active runs keep it."""
        return self.remover is not None and self.remover()


@dataclass(frozen=True, slots=True)
class Declared:
    """One handler that a module declares. `key` is as written, whether the host knows it or not."""

    key: str
    target: Handler | Code
    priority: float = 0
    limit: float | None = None  # seconds; None: not specified
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Module:
    """A loaded module with any number of handlers: a stream hook or a plugin."""

    declares: tuple[Declared, ...] = ()
    log: tuple[LogLine, ...] = ()  # loader messages: unknown names, refused registrations
    findings: frozenset[str] = frozenset()  # causes of failure under some hosts: PROMISE, UNNAMED, …


@dataclass(frozen=True, slots=True)
class CallGroup:
    """Calls that belong together.

    `after_record` is False for calls that run before the event is recorded: a stream's own channel
    handler, and nothing else (recorded in eve 20).
    """

    calls: tuple[Registration, ...]
    concurrent: bool = False  # started concurrently
    after_record: bool = True
    label: str = ""  # the host's name of the group: channel, typed, *


@dataclass(frozen=True, slots=True)
class NotRun:
    """A handler that does not run, and the reason."""

    name: str
    reason: str
    hook: Hook | None = None
    subscribed: bool = True  # its author expects it to run
    near_miss: str = ""  # the hook's similar event, and the change that would make it run
    exclusion: Exclusion = ""


@dataclass(frozen=True, slots=True)
class Fold:
    """The accumulated effect of one event's results so far, the same for every policy."""

    event: Any
    answer: Mapping[str, Any] = field(default_factory=dict)
    failure: str | None = None
    log: tuple[LogLine, ...] = ()
    follow_ups: tuple[Event, ...] = ()
    answered_by: tuple[str, ...] = ()  # hooks whose answers count, in order
    result_count: int = 0  # results so far, with or without answers


class Next(Enum):
    """What happens after a result."""

    GO = "go"
    STOP = "stop"  # the remaining calls are not made
    FAIL = "fail"  # the event fails closed


@dataclass(frozen=True, slots=True)
class Ending:
    """The outcome of an event."""

    answer: Mapping[str, Any] | None = None
    failure: str | None = None
    follow_ups: tuple[Event, ...] = ()
    log: tuple[LogLine, ...] = ()
    verdict: str = ""  # one line: allowed; changed params; blocked by guard: no
    context: Mapping[str, Any] | None = None  # of the event afterwards; None: as in the fold's event


class Policy(Protocol):
    """The rules for one event: what each handler receives, and how the results are merged."""

    @property
    def batched(self) -> bool:
        """Whether an executor may run a whole group on one shared event.

        Never True if a result can stop the group or fail the event.
        """
        ...

    def start(self, event: Event) -> Fold:
        """Return the state before the first handler: no answers, the event as fired."""
        ...

    def view(self, fold: Fold, call: Registration) -> Any:
        """Return this handler's payload: the event, a copy, or the two arguments of its kind."""
        ...

    def take(self, fold: Fold, result: Result) -> tuple[Fold, Next]:
        """Return the state after a result, and whether to continue."""
        ...

    def finish(self, fold: Fold) -> Ending:
        """Return the outcome: the merged answer, a failure, and the events that follow."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """The handlers that would run for one event, grouped and in order, and those that would not.

    Making a plan runs nothing. If the policy stops early, the Run lists the remaining calls as
    `not_run`.
    """

    event: Event
    generation: int
    groups: tuple[CallGroup, ...]
    not_run: tuple[NotRun, ...]
    policy: Policy
    delivers: bool = False  # whether the host delivers pushed messages
    forced: frozenset[Registration] = frozenset()  # called by `--force`
    assumed: frozenset[str] = frozenset()  # parts of the machine that a what-if assumes
    only: str | None = None  # the only hook to run, also for follow-up events
    required_item_members: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # see EventType
    excluded_hooks: frozenset[str] = frozenset()  # hooks excluded by name, also for follow-up events
    notes: tuple[str, ...] = ()  # notes for its Run on how it was called

    @property
    def calls(self) -> tuple[Registration, ...]:
        """All calls in order."""
        if len(self.groups) == 1:
            return self.groups[0].calls
        return tuple(call for group in self.groups for call in group.calls)

    def for_event(self, event: Event, policy: Policy) -> Plan:
        """Return the same plan for another event. Five times faster than `dataclasses.replace`."""
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
            self.required_item_members,
            self.excluded_hooks,
            self.notes,
        )


@dataclass(frozen=True, slots=True)
class Started:
    """A step: this handler has started. `at` is in seconds from the start of the run."""

    call: Registration
    at: float


@dataclass(frozen=True, slots=True)
class Result:
    """A step: the result of one handler. Times are in seconds, `started` from the start of the run."""

    call: Registration
    status: Status
    started: float = 0.0
    took: float = 0.0
    loaded: float = 0.0  # seconds to import it; not in `took`
    messages: tuple[str, ...] = ()
    returned: object = None
    stdout: str = ""
    stderr: str = ""
    error: Failure | None = None
    patch: Patch = ()
    notes: tuple[str, ...] = ()  # cut output, requested cancels, late output
    forced: bool = False
    stale: Failure | None = None  # why the saved version did not load; the previous one ran
    asked: tuple[str, ...] = ()  # requests to its host: cancel; or `promise`, see Arguments

    @property
    def hook(self) -> str:
        """The name of the hook whose handler this was."""
        return self.call.name

    @property
    def failure(self) -> Failure | None:
        """Why the handler failed, with its stack; None if it did not. The same as `error`."""
        return self.error


@dataclass(frozen=True, slots=True)
class Slow:
    """A step: this handler takes longer than expected. Times are in seconds."""

    call: Registration
    after: float
    limit: float | None  # when it will be stopped; None: never


@dataclass(frozen=True, slots=True)
class Paused:
    """A step: the run waits for a command before this handler. `at` is as in Started."""

    call: Registration
    at: float
    starting_together: tuple[Registration, ...] = ()  # calls that start with it
    event: object = None  # the event it would get, as JSON values


@dataclass(frozen=True, slots=True)
class Skipped:
    """A step: the user skipped this handler."""

    call: Registration


Step: TypeAlias = Started | Slow | Result | Paused | Skipped
OnStep: TypeAlias = Callable[[Step], None]


@dataclass(frozen=True, slots=True)
class Run:
    """Everything that one event caused: each planned handler is a result or a `not_run`.

    `messages` and `context` are those of the event after the run; `ending` is the merged outcome.
    Times are in seconds.
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
    assumed: frozenset[str] = frozenset()  # parts of the machine that a what-if assumed
    guarded: SandboxResult | None = None  # set if it ran in the sandbox

    @property
    def failed(self) -> tuple[Result, ...]:
        """The results whose status is not `ok`."""
        return tuple(result for result in self.results if result.status != "ok")


RUN_NOT_RECORDED = "This run could not be recorded"


def not_recorded_message(reason: str) -> str:
    """Return the sentence for a run that could not be recorded."""
    return f"{RUN_NOT_RECORDED}: {reason}"


def reported_log(run: Run) -> tuple[LogLine, ...]:
    """Return the host's log lines that the results do not show already.

    These are all lines of stream and plugin events, and for folder events the line about a run that could
    not be recorded.
    """
    if run.event.kind != "folder" or any(result.call.injected_fault is not None for result in run.results):
        return run.ending.log
    return tuple(line for line in run.ending.log if line.text.startswith(RUN_NOT_RECORDED))
