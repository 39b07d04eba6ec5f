"""HookEngine: scan, load, plan and fire for one Host. Executors and recorder are passed in."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypedDict, TypeVar, Unpack, overload

from hookscope.engine import argument_checks
from hookscope.engine.discovery import discover
from hookscope.engine.examination import examine
from hookscope.engine.loading import (
    FirstImports,
    Loading,
    kept_registrations,
    registrations_left_on,
    without_folder_hooks,
)
from hookscope.engine.planning import (
    NO_REASONS,
    all_switched_off,
    injected_faults,
    late_registrations,
    make_plan,
    registrations_of,
    with_default_limit,
    with_injected_faults,
    with_limit,
    without_hooks,
)
from hookscope.engine.registry import LoadReport, PlanCache, Registry
from hookscope.model.executor import Recorder, RunListener
from hookscope.model.hook import Language, LogLine
from hookscope.model.hook_event import HookEvent
from hookscope.model.hook_status import Inventory, StrictLoadState
from hookscope.model.host import Host
from hookscope.model.run import Code, Event, EventHandler, Plan, Registration, Run
from hookscope.otel import listener as of_process
from hookscope.runtime.executors import NODE_LANGUAGES, Executors, in_process_executors, with_node_executor

if TYPE_CHECKING:
    import asyncio

    from hookscope.runtime.debugger import Stepper
    from hookscope.runtime.firing import Firing


H = TypeVar("H", bound=EventHandler)


class RegisterOptions(TypedDict, total=False):
    """The options of `HookEngine.register`."""

    priority: float
    limit: float | None
    options: Mapping[str, Any] | None
    permanent: bool


class HookEngine:
    """The hooks of one host: discover, load, register, plan and fire.

    The registry is replaced as a whole: a run keeps the generation that it started with. Call
    `look`, `plan` and `fire` from one thread at a time; a closed engine neither loads nor fires.

    Source: guides 000 ("loadHooks") and 004 ("Execution Engine").
    """

    def __init__(
        self,
        host: Host,
        executors: Executors | None = None,
        recorder: Recorder | None = None,
        *,
        without: Mapping[Language, str] = NO_REASONS,
        listener: RunListener | None = None,
        limit: float | None = None,
    ) -> None:
        """Without executors, Python handlers run in this process, others in Node if one is found.

        `without` has the reason why a language has no executor. `listener` observes
        every run; by default the process's OpenTelemetry does, if it is set up. `limit` is in
        seconds, for each handler that has none of its own; None: no limit, as in the hosts. Raises
        TypeError if `host` is not a Host.

        `async with HookEngine(host) as engine:` closes it at the end.
        """
        argument_checks.expect_host(host, "a HookEngine takes a Host")
        self.host = host
        self.executors = executors or in_process_executors()
        self._may_add_node = executors is None
        self._without = without
        self.recorder = recorder
        self.listener = listener
        self.inventory = Inventory()
        self.registry = Registry()
        self.enabled = True
        self.report = LoadReport()  # of the last load
        self.limit = limit
        self._closed = False
        self._load_lock: asyncio.Lock | None = None
        self._strict_state = StrictLoadState()
        self._first_imports = FirstImports(_with_digest)
        self._plans = PlanCache()
        self._late_count = 0  # late handlers at the last check

    async def __aenter__(self) -> Self:
        self._expect_open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def limit(self) -> float | None:
        """Seconds for each handler without a limit of its own; None: no limit."""
        return self._limit

    @limit.setter
    def limit(self, seconds: float | None) -> None:
        argument_checks.expect_seconds(seconds, "limit")
        self._limit = seconds

    def look(self, host: Host | None = None) -> Inventory:
        """Scan the host's hooks and handler sources, and register the hooks that may run.

        Runs nothing.

        `host` replaces the engine's host. Its settings are read when it is opened, and not here.
        """
        self._use_host(host)
        self.inventory = examine(discover(self.host), self.host)
        self._add_node_executor(self.inventory)
        self.registry = self.registry.with_registrations(registrations_of(self.inventory, self.host))
        return self.inventory

    async def load(
        self, host: Host | None = None, *, strict: bool = False, only: str | None = None
    ) -> LoadReport:
        """Scan, import every hook that may run, and register those that load.

        Replaces all registrations, also those made by code (guide 000, "loadHooks") unless the host
        keeps them. With `strict`, one hook that fails to load leaves everything unchanged (recorded
        in openclaw load-03); the report's `refusal` is the host's message. With `only`, loads the
        hooks of that name. Other tasks of the loop get their turns; a second load waits for the
        first. Raises RuntimeError if the engine is closed, TypeError if `host` is not a Host.
        """
        self._expect_open()
        if host is not None:
            argument_checks.expect_host(host, "the host of a HookEngine must be a Host")
        import asyncio  # imported late: a scan does not need it

        from hookscope.runtime.async_helpers import running_loop

        running_loop("hooks are loaded", "load()")
        if self._load_lock is None or not self._load_lock.locked():
            self._load_lock = asyncio.Lock()  # for this loop
        async with self._load_lock:
            self.report = await self._load(host, strict=strict, only=only)
            return self.report

    async def _load(self, host: Host | None, *, strict: bool, only: str | None) -> LoadReport:
        import asyncio  # imported late: as above

        previous_host = self.host
        self._use_host(host)
        strict = strict and self.host.dialect.load_rules.has_strict_loads
        off = self.host.hooks_setting("enabled")[0] is False
        inventory = await asyncio.to_thread(discover, self.host)  # reads thousands of files, imports none
        if only is not None:
            chosen = tuple(hook for hook in inventory.load_order if hook.name == only)
            inventory = replace(inventory, load_order=chosen)
        if off:
            self._switch_off()
            inventory = without_folder_hooks(inventory)
            if not inventory.load_order:
                return LoadReport(log=self._switched_off_log())
        self._add_node_executor(inventory)
        strict_state, refusal = self._strict_load_state(inventory, strict=strict and not off)
        if strict:
            inventory = replace(inventory, load_order=strict_state.in_order(inventory.load_order))
        loading = Loading(self.host, inventory, strict=strict, first_imports=self._first_imports)
        if refusal is not None:
            loading.refuse(*refusal)
        await loading.load_all(lambda code: self.executors.load(code, self._without))
        report = loading.report()
        if strict and (report.failed or report.stopped):
            self.host = previous_host
            return replace(report, registered=0, committed=False)
        self._commit(loading, strict_state, off)
        return replace(report, refusal="", log=(*(self._switched_off_log() if off else ()), *report.log))

    def _commit(self, loading: Loading, strict_state: StrictLoadState, off: bool) -> None:
        self._set_dispatch(not off)
        self._strict_state = strict_state
        self.inventory = loading.inventory()
        left_on = registrations_left_on(self.registry, self.host) if off else ()
        first, last = kept_registrations(self.registry, self.host)
        if self.host.dialect.load_rules.adds_to_earlier_loads:
            first = (*first, *(one for one in self.registry.registrations if one not in (*first, *last)))
        self.registry = self.registry.with_registrations((*left_on, *first, *loading.registrations, *last))
        self._plans = PlanCache()
        self.executors.keep_only([call.target for call in self.registry.registrations])

    def _use_host(self, host: Host | None) -> None:
        if host is not None:
            argument_checks.expect_host(host, "the host of a HookEngine must be a Host")
            self.host = host

    def _expect_open(self) -> None:
        if self._closed:
            raise RuntimeError("this HookEngine is closed, and its workers are gone: make another one")

    def _set_dispatch(self, on: bool) -> None:
        """Switch dispatch on or off, if the host's switch stops dispatch too."""
        if self.host.dialect.load_rules.off_stops_dispatch:
            self.enabled = on

    def _strict_load_state(
        self, inventory: Inventory, *, strict: bool
    ) -> tuple[StrictLoadState, tuple[str, str] | None]:
        """Return the state for later strict loads, and the hook, with a message, that ends this load."""
        strict_check = self.host.dialect.load_rules.strict_check
        if strict_check is None:
            return StrictLoadState(), None
        if not strict:
            return strict_check.sources(self.host, inventory.load_order), None
        return strict_check.check(self.host, self._strict_state)

    def _add_node_executor(self, inventory: Inventory) -> None:
        """Add an executor for TypeScript and JavaScript once a hook needs it. Its workers have no limits."""
        if not self._may_add_node or not any(row.hook.language in NODE_LANGUAGES for row in inventory.hooks):
            return
        self._may_add_node = False
        self.executors, self._without = with_node_executor(self.executors, self.host)

    def _switch_off(self) -> None:
        """Unload HOOK.md folders that the settings switch off. Plugin hooks have a switch of their own."""
        self._set_dispatch(False)
        self._strict_state = StrictLoadState()
        if self.host.dialect.clears_when_off:
            self.inventory = Inventory()
            first, last = kept_registrations(self.registry, self.host)
            self.registry = self.registry.with_registrations((*first, *last))

    def _switched_off_log(self) -> tuple[LogLine, ...]:
        text = self.host.dialect.loader_messages.switched_off
        return (LogLine("info", text),) if text else ()

    @overload
    def register(
        self, key: str, handler: None = None, name: str | None = None, **options: Unpack[RegisterOptions]
    ) -> Callable[[H], H]: ...

    @overload
    def register(
        self, key: str, handler: EventHandler, name: str | None = None, **options: Unpack[RegisterOptions]
    ) -> Registration: ...

    def register(
        self,
        key: str,
        handler: EventHandler | None = None,
        name: str | None = None,
        *,
        priority: float = 0,
        limit: float | None = None,
        options: Mapping[str, Any] | None = None,
        permanent: bool = False,
    ) -> Registration | Callable[[H], H]:
        """Call `handler` for every event of `key`: `command`, or `command:new`.

        It is registered after the other handlers of its key. Without a handler, returns a decorator,
        which returns the function as it is.

        `priority` and `options` are for events whose host reads them; `limit` is in seconds. A
        permanent registration is kept by later loads. `remove()` of the returned registration undoes it.
        Raises TypeError for a handler that is not callable or a value of another type, ValueError
        for an empty key and for a limit that is negative or infinite.
        """
        argument_checks.expect_key(key)
        argument_checks.expect(priority, (int, float), "a priority is a number")
        argument_checks.expect_seconds(limit, "limit")
        if handler is None:

            def decorate(function: H) -> H:
                self.register(
                    key, function, name, priority=priority, limit=limit, options=options, permanent=permanent
                )
                return function

            return decorate
        if not callable(handler):
            raise TypeError(f"a handler is a function; {type(handler).__name__} cannot be called")
        call = Registration(
            key,
            name or str(getattr(handler, "__name__", "handler")),
            handler,
            priority=priority,
            limit=limit,
            limit_source="its registration",
            options=options or {},
            permanent=permanent,
            remover=lambda: self.remove(call),
        )
        self.registry = self.registry.with_call(call)
        return call

    def remove(self, call: Registration) -> bool:
        """Remove this registration; return False if it is not registered."""
        previous, self.registry = self.registry, self.registry.without(call)
        return self.registry is not previous

    @property
    def permanent_registrations(self) -> tuple[Registration, ...]:
        """The registrations by code that outlive loads, in order."""
        return tuple(call for call in self.registry.registrations if call.permanent)

    def unregister(self, key: str, handler: EventHandler) -> bool:
        """Remove one registration of `handler` under `key`; return False if there is none."""
        argument_checks.expect_key(key)
        first = next((call for call in self.registry.by_key.get(key, ()) if call.target is handler), None)
        return first is not None and self.remove(first)

    def clear(self) -> None:
        """Remove all registrations."""
        self.registry = self.registry.with_registrations(())

    def has_listeners(self, type: str, action: str = "") -> bool:  # noqa: A002  (the seeds' name)
        """Return whether a handler is registered for this event."""
        argument_checks.expect_parts(type, action, "")
        event = Event(type, action)
        return self.has_listeners_for(replace(event, kind=self.host.dialect.kind_of_event(event.key)))

    def has_listeners_for(self, event: Event) -> bool:
        """Return whether this event has a handler. Raises LookupError if the host has no such events."""
        argument_checks.expect_event(event)
        keys = self.host.dialect.system_of(event.kind).keys(event)
        self._register_late_handlers()
        return any(key in self.registry.by_key for key in keys)

    def plan(self, event: Event | HookEvent, *, only: str | None = None, limit: float | None = None) -> Plan:
        """Return which handlers would run for this event and which not, with reasons. Runs nothing.

        `limit` replaces each handler's own limit: seconds, 0 for none. Raises TypeError if `event`
        is not an event, LookupError if the host has no hooks of its kind, and as `register` for a
        limit.
        """
        argument_checks.expect_event(event)
        if isinstance(event, HookEvent):
            event = Event(
                event.type,
                event.action,
                event.session_key,
                event.context,
                timestamp=event.timestamp,
                kind=self.host.dialect.kind_of_event(event.key),
                live=event,
            )
        if limit is not None:
            argument_checks.expect_seconds(limit, "limit")
        if event.kind != "folder":
            self._register_late_handlers()
        plan = self._plans.plan_for(
            event,
            (only, limit, self.limit),
            self.registry,
            self.host,
            lambda: with_default_limit(with_limit(self._plan_of(event, only), limit), self.limit),
        )
        if plan.event is not event:
            plan = plan.for_event(event, self.host.dialect.system_of(event.kind).policy(event))
        if self.enabled or event.kind == "plugin":  # the switch does not affect plugins
            return plan
        return all_switched_off(plan)

    def _register_late_handlers(self) -> None:
        """Register the handlers that plugins registered since they were loaded."""
        count = self.executors.late_count
        if count == self._late_count:
            return
        self._late_count = count
        late = late_registrations(self.registry, self.host, self.executors.late_of)
        if late:
            self.registry = self.registry.with_registrations((*self.registry.registrations, *late))

    def _plan_of(self, event: Event, only: str | None) -> Plan:
        return make_plan(
            event,
            self.registry,
            self.inventory,
            self.host,
            languages=self.executors.languages,
            without=self._without,
            only=only,
        )

    def fire(
        self,
        event: Event | HookEvent | Plan,
        *,
        only: str | None = None,
        complete: Callable[[Run], Awaitable[Run]] | None = None,
        follow: Callable[[Event], Plan] | None = None,
        stepper: Stepper | None = None,
    ) -> Firing:
        """Run an event or a plan. Iterate the Firing for steps, await it for the Run.

        Handlers change a HookEvent in place.

        `complete` may replace the Run before its end is recorded. `follow` plans the events that
        this one causes; by default all subscribed hooks receive them, or only the plan's one hook.
        With a `stepper` the run waits before each handler for a command. Raises RuntimeError
        outside a running event loop and if the engine is closed, and what `plan` raises.
        """
        # Not from the package's lazy __init__, which takes as long as a handler.
        from hookscope.runtime.firing import Firing

        self._expect_open()
        plan = event if isinstance(event, Plan) else self.plan(event, only=only)
        listener = self.listener or of_process()
        return Firing(
            self._prepared(plan),
            self.executors.executor_of if stepper is None else stepper.executors(self.executors.executor_of),
            recorder=self.recorder,
            follow=partial(self._follow_up, plan, follow),
            complete=_with_context_copied(complete, plan),
            begins=partial(listener.begins, dialect=self.host.dialect.name) if listener is not None else None,
        )

    def _follow_up(self, plan: Plan, follow: Callable[[Event], Plan] | None, event: Event) -> Plan:
        """Return the plan for an event that a fire of `plan` has caused, with the same injected faults."""
        next_plan = follow(event) if follow else self.plan(event, only=plan.only)
        next_plan = with_injected_faults(next_plan, injected_faults(plan))
        return self._prepared(without_hooks(next_plan, plan.excluded_hooks))

    def _prepared(self, plan: Plan) -> Plan:
        system = self.host.dialect.system_of(plan.event.kind)
        event = system.prepare(plan.event, self.host, os.urandom(16))
        return plan if event is plan.event else plan.for_event(event, plan.policy)

    async def close(self) -> None:
        """End all workers and wait for them. The engine neither loads nor fires afterwards."""
        self._closed = True
        await self.executors.close()


def _with_context_copied(
    complete: Callable[[Run], Awaitable[Run]] | None, plan: Plan
) -> Callable[[Run], Awaitable[Run]] | None:
    """Return `complete`, which copies the changes of stream handlers back into the caller's object.

    Stream handlers get another form of the event; all others change the object itself.
    """
    event = plan.event.live
    if event is None or plan.event.kind != "stream":
        return complete

    async def copying(run: Run) -> Run:
        event.context = dict(run.context)
        return run if complete is None else await complete(run)

    return copying


def _with_digest(code: Code) -> Code:
    from hookscope.runtime.handler_code import with_digest

    return with_digest(code)
