"""HookEngine: look, load, plan and fire for one Host. Lanes and recorder are handed in."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hookscope.core.dialect import Host
from hookscope.core.examine import examine
from hookscope.core.hooks import Gate, Hook, Inventory, Language, LogLine, Standing, State, Verdict
from hookscope.core.look import look, notes_on
from hookscope.core.plan import code_of, declared_by, kind_of, make_plan, registrations_of
from hookscope.core.runs import (
    Code,
    Event,
    Failure,
    Handler,
    Lane,
    LoadReport,
    Module,
    NotRun,
    Plan,
    Recorder,
    Registration,
    Registry,
    Run,
)
from hookscope.runtime import Firing, InProcessLane, Limits, NoNode, find_node, node_lane

DEFAULT_EMOJI = "🔗"
NO_FUNCTION = "NoHandler"  # the failure of a file that loads and has no function to call
IS_CLASS = "ClassHandler"  # and of one that has a class in its place
MOST_PLANS = 512  # kept at a time: event keys may come from outside
LOADED = Gate("load", True, found="loaded")
LOADER_SEES = ("handler", "sent")  # a missing file fails by itself; what is never sent loads all the same

OF_NODE: tuple[Language, ...] = ("typescript", "javascript")

LoadCode = Callable[[Code], Awaitable["Handler | Code | Module | Failure | str"]]


@dataclass(frozen=True, slots=True)
class Lanes:
    """Where handlers run: one lane for functions of this process, one for each language."""

    functions: Lane
    code: dict[Language, Lane] = field(default_factory=dict)

    @property
    def languages(self) -> frozenset[Language]:
        """The languages that somebody runs here."""
        return frozenset(self.code)

    def of(self, call: Registration) -> Lane:
        """The lane of a planned call."""
        return self.code[call.target.language] if isinstance(call.target, Code) else self.functions

    async def close(self) -> None:
        """End all workers and wait until they are gone."""
        for lane in {id(lane): lane for lane in (self.functions, *self.code.values())}.values():
            await lane.close()


def in_process() -> Lanes:
    """Python handlers, written as functions or as files, in the caller's own process."""
    lane = InProcessLane()
    return Lanes(lane, {"python": lane})


class HookEngine:
    """The hooks of one host: what is there, what is registered, and what an event does.

    The registry is replaced as a whole: a run keeps the generation that it started with.
    """

    def __init__(
        self,
        host: Host,
        lanes: Lanes | None = None,
        recorder: Recorder | None = None,
        *,
        without: str = "",
    ) -> None:
        """Without lanes, Python handlers run in the caller's own process, others in a Node if one is found.

        `without` says what handlers lack for whose language there is no lane.
        """
        self.host = host
        self.lanes = lanes or in_process()
        self._finds_node = lanes is None
        self._without = without
        self.recorder = recorder
        self.inventory = Inventory()
        self.registry = Registry()
        self.enabled = True
        self._lasting: frozenset[Registration] = frozenset()  # by code, and no load forgets them
        self._planned_for: Registry | None = None
        self._plans: dict[tuple[str, str, str | None], Plan] = {}

    def look(self, host: Host | None = None) -> Inventory:
        """Look at the host's hooks, handlers' sources included, and register what may run. Runs nothing.

        `host` replaces the engine's host: settings and surroundings are those of its opening.
        """
        if host is not None:
            self.host = host
        self.inventory = examine(look(self.host), self.host)
        self._provide_node(self.inventory)
        self.registry = self.registry.with_registrations(registrations_of(self.inventory, self.host))
        return self.inventory

    async def load(self, host: Host | None = None, *, strict: bool = False) -> LoadReport:
        """Look, import every hook that may run, and register those that load.

        Replaces all registrations, also those made by code (guide 000, "loadHooks") unless the host keeps
        them. With `strict`, one hook that fails to load leaves everything as it was (recorded in openclaw
        load-03); the report's `refusal` is the host's sentence.
        """
        before = self.host
        if host is not None:
            self.host = host
        switched_off, _ = self.host.hooks_setting("enabled")
        if switched_off is False:
            return self._switched_off()
        inventory = look(self.host)
        self._provide_node(inventory)
        loading = Loading(self.host, inventory, strict=strict)
        if strict:
            loading.miss(self._loaded())
        rows = {row.hook: row for row in inventory.hooks}
        for hook in inventory.load_order:
            if strict and loading.failed:
                break
            await loading.take(rows[hook], self._load_code)
            if loading.stopped:
                break
        report = loading.report()
        if strict and (report.failed or report.stopped):
            self.host = before
            return replace(report, registered=0, committed=False)
        self._set_dispatch(True)
        self.inventory = loading.inventory()
        self.registry = self.registry.with_registrations((*loading.registrations, *self._kept()))
        return replace(report, refusal="")

    def _set_dispatch(self, on: bool) -> None:
        """All hooks are switched on or off: where the host says so, for events too."""
        if self.host.dialect.load_rules.off_closes:
            self.enabled = on

    def _loaded(self) -> tuple[Hook, ...]:
        """The hooks whose handlers are registered now."""
        hooks = (call.hook for call in self.registry.registrations)
        return tuple(dict.fromkeys(hook for hook in hooks if hook is not None))

    def _kept(self) -> tuple[Registration, ...]:
        """The registrations by code that a load leaves alone."""
        keeps = self.host.dialect.load_rules.keeps_code
        return tuple(
            call
            for call in self.registry.registrations
            if call in self._lasting or (keeps and call.hook is None)
        )

    def _provide_node(self, inventory: Inventory) -> None:
        """A lane for TypeScript and JavaScript, once a hook wants it. Its workers have no limits."""
        if not self._finds_node or not any(row.hook.language in OF_NODE for row in inventory.hooks):
            return
        self._finds_node = False
        surroundings = self.host.surroundings
        found = find_node(surroundings.files.program("node", surroundings.search_path()).path)
        if isinstance(found, NoNode):
            self._without = found.sentence
            return
        none = Limits(spawn=None, load=None, run=None, warn=None, memory=None)
        lane = node_lane(env=self.host.env, cwd=surroundings.cwd, node=found.path, limits=none)
        self.lanes = replace(self.lanes, code={**self.lanes.code, **dict.fromkeys(OF_NODE, lane)})

    def _switched_off(self) -> LoadReport:
        text = self.host.dialect.texts.off
        self._set_dispatch(False)
        if self.host.dialect.clears_when_off:
            self.inventory = Inventory()
            self.registry = self.registry.with_registrations(self._kept())
        return LoadReport(log=(LogLine("info", text),) if text else ())

    async def _load_code(self, code: Code) -> Handler | Code | Module | Failure | str:
        """What to register, or why it failed, or, as a text, why nobody tried."""
        if code.language == "unknown":
            text = f"{code.path.name} is neither Python, TypeScript nor JavaScript"
            return Failure("UnknownLanguage", text, phase="load")
        lane = self.lanes.code.get(code.language)
        if lane is None:
            return f"{code.path.name} {self._without}"
        return await lane.load(code)

    def register(
        self,
        key: str,
        handler: Handler,
        name: str | None = None,
        *,
        priority: int = 0,
        limit: float | None = None,
        options: Mapping[str, Any] | None = None,
        lasting: bool = False,
    ) -> Registration:
        """Call `handler` for every event of `key`: `command`, or `command:new`. It comes last of its key.

        `priority` and `options` are for events whose host looks at them; `limit` in seconds. With `lasting`
        no load forgets it. `remove` takes back the registration that is returned.
        Raises ValueError for an empty key, TypeError for what cannot be called.
        """
        if not key:
            raise ValueError("an event key wants a type, such as `command`, or `command:new`")
        if not callable(handler):
            raise TypeError(f"a handler is a function; {type(handler).__name__} cannot be called")
        name = name or str(getattr(handler, "__name__", "handler"))
        call = Registration(key, name, handler, None, priority, limit, options=options or {})
        self.registry = self.registry.with_registrations((*self.registry.registrations, call))
        if lasting:
            self._lasting |= {call}
        return call

    def remove(self, call: Registration) -> bool:
        """Take back this very registration; False where it is not registered any more."""
        kept = [other for other in self.registry.registrations if other is not call]
        found = len(kept) < len(self.registry.registrations)
        if found:
            self.registry = self.registry.with_registrations(kept)
            self._lasting -= {call}
        return found

    @property
    def lasting(self) -> tuple[Registration, ...]:
        """The registrations by code that no load forgets, in order."""
        return tuple(call for call in self.registry.registrations if call in self._lasting)

    def unregister(self, key: str, handler: Handler) -> bool:
        """Take back one registration of `handler` under `key`; False where there is none."""
        for call in self.registry.by_key.get(key, ()):
            if call.target is handler:
                return self.remove(call)
        return False

    def clear(self) -> None:
        """Forget every registration."""
        self.registry, self._lasting = self.registry.with_registrations(()), frozenset()

    def has_listeners(self, type: str, action: str = "") -> bool:  # noqa: A002  (the seeds' name)
        """Would anybody hear this event."""
        event = Event(type, action)
        return self.hears(replace(event, kind=self.host.dialect.kind_of_event(event.key)))

    def hears(self, event: Event) -> bool:
        """Is anybody registered for this event. Raises LookupError where the host has none of its kind."""
        keys = self.host.dialect.system_of(event.kind).keys(event)
        return any(key in self.registry.by_key for key in keys)

    def plan(self, event: Event, *, only: str | None = None) -> Plan:
        """Who would run for this event and who not, each with the reason. Runs nothing."""
        plan = self._planned(event, only)
        plan = plan if plan.event is event else replace(plan, event=event)
        if self.enabled:
            return plan
        off = tuple(
            NotRun(call.name, "hooks are switched off by the program", call.hook) for call in plan.calls
        )
        return replace(plan, groups=(), not_run=off + plan.not_run)

    def _planned(self, event: Event, only: str | None) -> Plan:
        """Of folder hooks a plan depends on the event's key alone, so it is made once for each generation."""
        if event.kind != "folder":
            return self._plan_of(event, only)
        if self._planned_for is not self.registry or len(self._plans) > MOST_PLANS:
            self._planned_for, self._plans = self.registry, {}
        asked = (event.kind, event.key, only)
        if asked not in self._plans:
            self._plans[asked] = self._plan_of(event, only)
        return self._plans[asked]

    def _plan_of(self, event: Event, only: str | None) -> Plan:
        return make_plan(
            event,
            self.registry,
            self.inventory,
            self.host,
            languages=self.lanes.languages,
            without=self._without,
            only=only,
        )

    def fire(
        self,
        event: Event | Plan,
        *,
        only: str | None = None,
        complete: Callable[[Run], Awaitable[Run]] | None = None,
    ) -> Firing:
        """Run an event, or a plan made before. Iterate the Firing for steps, await it for the Run.

        `complete` has the last word on the Run, before its end is recorded.
        """
        plan = self.plan(event, only=only) if isinstance(event, Event) else event
        return Firing(
            self._prepared(plan),
            self.lanes.of,
            recorder=self.recorder,
            follow=lambda caused: self._prepared(self.plan(caused)),
            complete=complete,
        )

    def _prepared(self, plan: Plan) -> Plan:
        """The plan with its event as it is fired this once."""
        system = self.host.dialect.system_of(plan.event.kind)
        event = system.prepare(plan.event, self.host, os.urandom(16))
        return plan if event is plan.event else replace(plan, event=event)

    async def close(self) -> None:
        """End all workers and wait until they are gone."""
        await self.lanes.close()


class Loading:
    """One load: takes hooks in load order, and knows what the report will say."""

    def __init__(self, host: Host, inventory: Inventory, *, strict: bool = False) -> None:
        """`strict`: the first failure ends it, and is said by the report alone."""
        self.host = host
        self._strict = strict
        self._looked = inventory
        self.gates: dict[Hook, Gate] = {}
        self.notes: dict[Hook, tuple[str, ...]] = {}  # what the events say that a module brought
        self.texts = host.dialect.texts
        self.rules = host.dialect.load_rules
        self.refusal = ""
        self.registrations: list[Registration] = []
        self.discovered = sum(hook.kind != "legacy" for hook in inventory.load_order)
        self.eligible = self.registered = 0
        self.skipped: list[str] = []
        self.failures: dict[str, Failure] = {}
        self.failed: list[str] = []
        self.stopped = ""
        self.log = [LogLine(problem.logged, problem.text) for problem in host.problems if problem.logged]
        self.log += inventory.log
        self._say("info", self.texts.discovered, count=self.discovered)

    def _say(self, level: str, template: str | None, **parts: object) -> None:
        if template is not None:
            self.log.append(LogLine(level, template.format(**parts)))

    async def take(self, row: Standing, load: LoadCode) -> None:
        """Load one hook, or say why not."""
        hook = row.hook
        if (end := row.verdict.stops_load) is not None:
            self.stopped = f"{hook.name}: {end.reason}"
            return
        if not row.verdict.eligible:
            self._skip(hook, *row.verdict.reasons(State.BLOCKED))
            return
        if hook.kind != "legacy":
            self.eligible += 1
        if not row.verdict.enabled:
            self._skip(hook, *row.verdict.reasons(State.OFF))
            return
        shut = {gate.name: gate.reason for gate in row.verdict.shut() if gate.name not in LOADER_SEES}
        if hook.kind == "legacy" and "path" in shut:
            self.log.append(LogLine("warn", shut["path"]))
            self.failed.append(hook.name)
        elif shut and not (self.rules.imports_idle and shut.keys() == {"events"}):
            fails = "events" in shut and self.rules.no_events is not None
            if "events" in shut and not (fails and self._strict):
                self._say("warn", self.texts.no_events, name=hook.name)
            if fails:
                self.failed.append(hook.name)
                self._refuse(self.rules.failed.format(name=hook.name, error=self.rules.no_events))
            else:
                self._skip(hook, *shut.values())
        else:
            await self._load(hook, load)

    async def _load(self, hook: Hook, load: LoadCode) -> None:
        self._say("warn", self.texts.loading.get(hook.folder.source))
        code = code_of(hook, self.host)
        outcome = await load(code)
        if isinstance(outcome, Failure) and outcome.type == IS_CLASS and self.rules.takes_classes:
            outcome = code
        if isinstance(outcome, str):
            self._skip(hook, outcome)
        elif isinstance(outcome, Failure):
            self._fail(hook, outcome)
        elif isinstance(outcome, Module):
            self.log += outcome.log
            self._register(hook, declared_by(outcome, hook, self.host))
            self.notes[hook] = tuple(notes_on([item.key for item in outcome.declares], hook, self.host))
        elif not hook.meta.events:
            self._say("warn", self.texts.no_events, name=hook.name)
            self._skip(hook, "no events")
        else:
            events = hook.meta.events
            self._register(hook, [Registration(key, hook.name, outcome, hook) for key in events])

    def _register(self, hook: Hook, calls: list[Registration]) -> None:
        events = list(dict.fromkeys(call.key for call in calls))
        self.registrations += calls
        self.gates[hook] = LOADED
        self.registered += 1
        self._warn_of_strangers(hook, events)
        if hook.kind == "legacy" and self.texts.legacy_registered is not None:
            for event in events:
                self._say("info", self.texts.legacy_registered, event=event, module=hook.name)
            return
        emoji = DEFAULT_EMOJI if hook.meta.emoji is None else hook.meta.emoji
        self._say("info", self.texts.registered, emoji=emoji, name=hook.name, events=", ".join(events))

    def _warn_of_strangers(self, hook: Hook, events: list[str]) -> None:
        """Events that the host does not know: they are registered, and never come."""
        looks = self.texts.never_sent and hook.kind == "folder"
        known = self.host.dialect.catalogue().keys_of("folder") if looks else ()
        strangers = [key for key in events if key not in known] if known else []
        if strangers and self.texts.never_sent:
            what = "event" if len(strangers) == 1 else "events"
            self._say("warn", self.texts.never_sent, name=hook.name, what=what, events=", ".join(strangers))

    def miss(self, loaded: tuple[Hook, ...]) -> None:
        """A strict load fails for a hook that was loaded and has lost its HOOK.md, metadata or handler.

        One that its settings have taken out, or whose folder is none of the host's any more, is not missed.
        """
        declared = {row.hook.path: row.hook.meta.declared for row in self._looked.hooks}
        folders = {folder.path for folder in self.host.folders}
        for hook in loaded:
            is_there = hook.path is None or declared.get(hook.path, False)
            if is_there or hook.manifest is None or hook.folder.path not in folders or not self._wanted(hook):
                continue
            facts = self.host.surroundings.files.facts(hook.manifest)
            has_lost_handler = facts is not None and facts.file and hook.path not in declared
            template = self.rules.lost_handler if has_lost_handler else self.rules.lost_manifest
            if template is not None:
                self.failed.append(hook.name)
                self._refuse(template.format(name=hook.name, file=hook.manifest, folder=hook.path))

    def _wanted(self, hook: Hook) -> bool:
        gates = self.host.dialect.system_of(kind_of(hook)).gates(hook, self.host)
        return Verdict(gates).enabled

    def _refuse(self, sentence: str) -> None:
        self.refusal = self.refusal or sentence

    def _skip(self, hook: Hook, *reasons: str) -> None:
        self.skipped.append(f"{hook.name}: {', '.join(reasons)}")

    def _fail(self, hook: Hook, failure: Failure) -> None:
        self.failed.append(hook.name)
        self.failures[hook.name] = failure
        self.gates[hook] = Gate(
            "load", False, found=failure.type, reason=f"{failure.type}: {failure.message}"
        )
        parts = {
            "file": hook.name if hook.kind == "legacy" else hook.handler,
            "name": hook.name,
            "export": hook.meta.export,
            "type": failure.type,
            "error": failure.message,
            "plain": failure.own_text,
        }
        has_none = failure.type in (NO_FUNCTION, IS_CLASS)
        if not self._strict:
            level, text = ("warn", self.texts.no_function) if has_none else ("error", self.texts.not_loaded)
            self._say(level, text, **parts)
        if has_none:
            parts["error"] = self.rules.no_function.format(**parts)
        self._refuse(self.rules.failed.format(**parts))

    def inventory(self) -> Inventory:
        """The inventory with a `load` gate for every hook that was imported, or failed to be."""
        return replace(
            self._looked,
            hooks=tuple(
                replace(
                    row,
                    verdict=replace(row.verdict, gates=(*row.verdict.gates, self.gates[row.hook])),
                    notes=(*row.notes, *self.notes.get(row.hook, ())),
                )
                if row.hook in self.gates
                else row
                for row in self._looked.hooks
            ),
        )

    def report(self) -> LoadReport:
        """What the load did."""
        if not self.stopped:
            self._say(
                "info",
                self.texts.complete,
                registered=self.registered,
                discovered=self.discovered,
                skipped=len(self.skipped),
                failed=len(self.failed),
            )
        return LoadReport(
            discovered=self.discovered,
            eligible=self.eligible,
            registered=self.registered,
            skipped=tuple(self.skipped),
            failed=tuple(self.failed),
            log=tuple(self.log),
            failures=dict(self.failures),
            refusal=self.refusal,
            stopped=self.stopped,
        )
