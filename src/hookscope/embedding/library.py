"""The functions that a Python agent embeds: one engine per process, handlers in this process.

Every handler that `load_hooks` registers runs in the caller's process, with its rights, and without
a time limit unless one is given, as in the hosts. To run hooks of strangers, use the command line
or a HookEngine with worker executors.
"""

import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar, overload

from hookscope.embedding.host import embedded_host
from hookscope.engine import argument_checks
from hookscope.engine.discovery import discover
from hookscope.engine.hook_engine import HookEngine
from hookscope.engine.registry import LoadReport
from hookscope.hosts.dialects import DEFAULT
from hookscope.model.hook import Hook, LogLine
from hookscope.model.hook_event import HookEvent
from hookscope.model.hook_status import Verdict
from hookscope.model.machine import Machine, real_machine
from hookscope.model.run import EventHandler, Registration, Run
from hookscope.model.text import printable
from hookscope.model.uncalled_hooks import event_kind

H = TypeVar("H", bound=EventHandler)
log = logging.getLogger("hookscope")
LEVELS = {"info": logging.INFO, "warn": logging.WARNING, "error": logging.ERROR}


class HookFailure(Exception):
    """A handler failed and its event fails closed. `run` has all results.

    No event of HOOK.md folders fails closed. Plugin hooks such as `before_tool_call` do, under the
    dialects of shipped programs. Recorded in openclaw plug-02.
    """

    def __init__(self, run: Run) -> None:
        super().__init__(run.ending.failure)
        self.run = run


@argument_checks.names_guide_keywords
def discover_hooks(
    workspace_path: str | Path | None = None,
    bundled_dir: str | Path | None = None,
    extra_dirs: Iterable[str | Path] = (),
    internal_config: Mapping[str, Any] | None = None,
    host_config: Mapping[str, Any] | None = None,
    dialect: str = DEFAULT.name,
    *,
    surroundings: Machine | None = None,
) -> tuple[Hook, ...]:
    """Return the winning hooks in the order in which they would register. Imports nothing.

    Takes the arguments of `load_hooks` and raises the same errors; a missing folder counts as
    empty.
    Source: guides 000 and 001, "Hook Discovery"; 004, section 6.
    """
    host = embedded_host(
        workspace_path,
        bundled_dir,
        extra_dirs,
        internal_config,
        host_config,
        dialect,
        surroundings=surroundings,
    )
    return discover(host).load_order


@argument_checks.names_guide_keywords
def check_eligibility(
    hook: Hook,
    host_config: Mapping[str, Any] | None = None,
    internal_config: Mapping[str, Any] | None = None,
    dialect: str = DEFAULT.name,
    *,
    platform: str | None = None,
    env: Mapping[str, str] | None = None,
    surroundings: Machine | None = None,
) -> Verdict:
    """Return all checks of one hook. `verdict.eligible` ignores whether the hook is enabled.

    `platform` ("linux", "darwin", "win32") and `env` replace the real ones; the other arguments and
    errors are those of `load_hooks`. A hook registered by code, or of a kind that the dialect
    lacks, has no checks.
    Source: guides 000 ("Eligibility Fields"), 001 ("Eligibility Checks"), 004 (section 6).
    """
    argument_checks.expect_hook(hook)
    argument_checks.expect(
        platform, (str, argument_checks.NONE_TYPE), "platform must be a name such as `linux`"
    )
    argument_checks.expect_mapping(env, "env")
    argument_checks.expect_machine(surroundings)
    machine = surroundings or real_machine()
    machine = replace(
        machine,
        platform=machine.platform if platform is None else platform,
        env=machine.env if env is None else dict(env),
    )
    host = embedded_host(
        internal_config=internal_config, host_config=host_config, dialect=dialect, surroundings=machine
    )
    kind = event_kind(hook)
    if hook.kind == "code" or kind not in host.dialect.kinds:
        return Verdict(())
    return Verdict(host.dialect.system_of(kind).gates(hook, host))


class _ProcessEngine:
    """The engine of this process, created on first use."""

    engine: HookEngine | None = None


def process_engine() -> HookEngine:
    """Return the engine that the functions of this module share."""
    if _ProcessEngine.engine is None:
        _ProcessEngine.engine = HookEngine(embedded_host(host_config={}))
    return _ProcessEngine.engine


@argument_checks.names_guide_keywords
async def load_hooks(
    workspace_path: str | Path | None = None,
    bundled_dir: str | Path | None = None,
    extra_dirs: Iterable[str | Path] = (),
    internal_config: Mapping[str, Any] | None = None,
    host_config: Mapping[str, Any] | None = None,
    dialect: str = DEFAULT.name,
    *,
    strict: bool = False,
    surroundings: Machine | None = None,
) -> LoadReport:
    """Find, check, import and register all hooks; earlier registrations are removed.

    Args:
        workspace_path: the agent's workspace; its `hooks/` is searched. None: the one in the
            settings.
        bundled_dir: the folder of hooks that ship with the program. None: there is none.
        extra_dirs: more folders, lowest in rank; unlike those of the settings they are not checked.
        internal_config: the `hooks.internal` settings. None: those in `host_config`.
        host_config: all settings, for `requires.config`. None, like internal_config: the host's own
            settings file is read.
        dialect: whose rules apply: "openclaw", "milady" or "eliza", or a shipped version of one
            ("milady@2.0.0-alpha.76").
        strict: one hook that fails to load leaves everything unchanged; see `LoadReport.committed`.

    An entry's `env` counts for eligibility, and reaches TypeScript and JavaScript handlers. It
    reaches no Python handler: those share this process's environment.

    Files are read in a thread, and other tasks of the loop get their turns between the imports.

    Returns the report: counts, `skipped` with reasons, `failed` names. Never raises for the
    contents of a hook file or a missing folder. Raises LookupError for an unknown dialect,
    TypeError for an argument of another type. With `enabled: false`, "openclaw" and "eliza" remove
    all registrations, "openclaw@2026.9" removes those of a load, and all others keep them.
    Source: guides 000 ("loadHooks"), 001 ("Loading"), 004 ("Loading Process").
    """
    import asyncio  # imported late: a program may only need the types

    from hookscope.runtime.async_helpers import running_loop

    running_loop("hooks are loaded", "load_hooks()")
    host = embedded_host(
        workspace_path,
        bundled_dir,
        extra_dirs,
        internal_config,
        host_config,
        dialect,
        surroundings=surroundings,
    )
    await asyncio.sleep(0)
    engine = process_engine()
    await asyncio.sleep(0)  # the first call imports the runtime
    report = await engine.load(host, strict=strict)
    log_lines(report.log)
    return report


@argument_checks.names_guide_keywords
@asynccontextmanager
async def hooks(
    workspace_path: str | Path | None = None,
    bundled_dir: str | Path | None = None,
    extra_dirs: Iterable[str | Path] = (),
    internal_config: Mapping[str, Any] | None = None,
    host_config: Mapping[str, Any] | None = None,
    dialect: str = DEFAULT.name,
    *,
    strict: bool = False,
    limit: float | None = None,
    surroundings: Machine | None = None,
) -> AsyncIterator[HookEngine]:
    """Load all hooks into a new engine, and close it at the end: `async with hooks(…) as engine:`.

    Takes the arguments of `load_hooks` and raises the same errors; `engine.report` is the report.
    `limit` is in seconds, for each handler without a limit of its own. The functions of this
    module do not see this engine.
    """
    host = embedded_host(
        workspace_path,
        bundled_dir,
        extra_dirs,
        internal_config,
        host_config,
        dialect,
        surroundings=surroundings,
    )
    async with HookEngine(host, limit=limit) as engine:
        log_lines((await engine.load(strict=strict)).log)
        yield engine


@overload
def register_hook(event_key: str, handler: None = None) -> Callable[[H], H]: ...


@overload
def register_hook(event_key: str, handler: EventHandler) -> Registration: ...


def register_hook(event_key: str, handler: EventHandler | None = None) -> Registration | Callable[[H], H]:
    """Call `handler(event)`, sync or async, for `type` (all its events) or `type:action`.

    `remove()` of the returned Registration undoes it. Without a handler this is a decorator, which
    returns the function as it is: `@register_hook("command:new")`.

    A handler that is registered several times is called as often. Raises TypeError for a key that
    is not text and a handler that is not callable, ValueError for an empty key. Source: guides 000
    ("Programmatic Hook Registration"), 001 ("Registration").
    """
    engine = process_engine()
    return engine.register(event_key) if handler is None else engine.register(event_key, handler)


def unregister_hook(event_key: str, handler: EventHandler) -> bool:
    """Remove one registration of this handler; return False if there is none.

    A run in progress still calls it. Raises TypeError for a key that is not text, ValueError for an
    empty one. Recorded in openclaw disp-04.
    """
    return process_engine().unregister(event_key, handler)


def registered_keys() -> tuple[str, ...]:
    """Return the event keys with a handler, in order of first registration. Recorded in openclaw disp-04."""
    return process_engine().registry.keys()


def has_listeners(type: str, action: str = "") -> bool:  # noqa: A002  (the seeds' name)
    """Return whether a handler is registered for this event, under its own key or its type.

    `HookRunner.has_hooks` does the same for plugin hooks. Raises TypeError for a value that is not a string,
    ValueError for an empty type. Recorded in openclaw disp-04.
    """
    return process_engine().has_listeners(type, action)


def clear_hooks() -> None:
    """Remove every registration, also those made by code. Workers stay until `close_hooks`.

    Source: guide 000 ("loadHooks").
    """
    process_engine().clear()


async def close_hooks() -> None:
    """End the workers of TypeScript and JavaScript handlers, and remove every registration.

    Waits for no handler: those that run in a worker are killed. The workers end with the program in
    any case; this is for a program that continues without hooks. Later registrations and loads
    start anew. Does nothing if no engine is open.
    """
    engine, _ProcessEngine.engine = _ProcessEngine.engine, None
    if engine is not None:
        await engine.close()


def set_limit(seconds: float | None) -> None:
    """Set the limit, in seconds, of every handler without a limit of its own; None, the default: no limit.

    The guides have no limit. Raises TypeError for anything but a number and None, ValueError for a
    negative or infinite number.
    """
    process_engine().limit = seconds


def set_enabled(enabled: bool) -> None:
    """Switch dispatch on or off; registrations stay. A run then lists each handler with the reason.

    Plugin hooks still run. Raises TypeError for anything but True and False.
    """
    argument_checks.expect(enabled, bool, "set_enabled takes True or False")
    process_engine().enabled = enabled


@argument_checks.names_guide_keywords
def create_hook_event(
    type: str,  # noqa: A002  (the seeds' name)
    action: str,
    session_key: str = "",
    context: Mapping[str, Any] | None = None,
    *,
    timestamp: datetime | None = None,
) -> HookEvent:
    """Return a new event with the current time (UTC) and no messages.

    Raises TypeError if a text is not a string, `context` not a mapping or `timestamp` not a datetime;
    ValueError for an empty `type`. Source: guides 000 and 001, "Creating Events".
    """
    argument_checks.expect_parts(type, action, session_key)
    argument_checks.expect_mapping(context, "the context of an event")
    argument_checks.expect(
        timestamp, (datetime, argument_checks.NONE_TYPE), "the timestamp of an event must be a datetime"
    )
    return HookEvent(type, action, session_key, dict(context or {}), timestamp)


async def trigger_hook(event: HookEvent, *, limit: float | None = None) -> Run:
    """Call every handler of `event.type` and `event.type:event.action`; return the Run.

    Handlers run one after another on this event and may change its `messages` and `context`. A
    failure is a result; the other handlers still run. The dialect decides which key goes first.

    Args:
        limit: seconds for each handler, from its own start. None, the default: its own limit, else
            that of `set_limit`; 0 waits for ever, as the hosts do. It ends a handler at its next
            `await`; only a worker can end one without any.

    Times in the Run are in seconds.

    Raises:
        HookFailure: the event fails closed and a handler failed; `failure.run` has all results.
        TypeError: `event` is not a HookEvent, or a part of it or `limit` has another type.
        ValueError: the event has no type, or `limit` is negative or infinite.

    If the caller is cancelled, the running handler is cancelled and the rest do not run.
    Source: guides 000 ("Creating and Dispatching Events"), 004 ("Execution Engine").
    """
    argument_checks.expect_hook_event(event)
    argument_checks.expect_seconds(limit, "limit")
    engine = process_engine()
    run = await engine.fire(engine.plan(event, limit=limit))
    log_lines(run.ending.log)
    if run.ending.failure is not None:
        raise HookFailure(run)
    return run


def log_lines(lines: Iterable[LogLine]) -> None:
    """Log what the host would log, with control characters escaped: a log may be a terminal."""
    for line in lines:
        log.log(LEVELS.get(line.level, logging.INFO), "%s", printable(line.text))
