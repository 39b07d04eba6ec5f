"""One `plugin-hook` step of a recorded case: handlers as functions of this process, fired by the engine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from hookscope import Event, HookEngine
from hookscope.hosts.plugins.merge_rules import BARE
from hookscope.hosts.plugins.shipped_merge_rules import OUTCOMES
from hookscope.model.payload import EVENT, NULL, PROMISE, REQUESTS, SYNC, Arguments
from hookscope.model.run import Registration

OF_PLUGINS = ("result", "calls", "threw", "hasHooks", "noSuchHook", "seen", "callsAfterReturn")
OPTIONS = ("matcher", "eligibleTriggers", "eligibleDispatchKinds", "registrationId", "requiresToolAuthority")


@dataclass
class Stage:
    """What happened while a hook was run."""

    calls: list[str] = field(default_factory=list)
    seen: dict[str, Any] = field(default_factory=dict)
    at_work: list[asyncio.Task[Any]] = field(default_factory=list)  # the program stops no handler
    returned: asyncio.Event = field(default_factory=asyncio.Event)  # the call of the hook has come back


async def plugin_hook(engine: HookEngine, step: Mapping[str, Any]) -> dict[str, Any]:
    """Run one hook with the handlers of the step, and what the case says of it."""
    stage = Stage()
    calls = [_registration(step["hook"], told, stage) for told in step.get("handlers") or ()]
    if step["hook"] not in engine.host.dialect.catalogue().keys_of("plugin"):
        return {"hasHooks": bool(calls), "noSuchHook": True}
    before = engine.registry
    engine.registry = before.with_registrations(calls)
    try:
        event = Event(step["hook"], context=step.get("event") or {}, ctx=step.get("ctx") or {}, kind="plugin")
        run = await engine.fire(event)
    finally:
        engine.registry = before
        stage.returned.set()
    answer: dict[str, Any] = {"hasHooks": bool(calls), "calls": list(stage.calls)}
    if run.ending.failure is None:
        answer["result"] = _result(run.ending.answer)
    else:
        answer["threw"] = run.ending.failure
    if stage.seen:
        answer["seen"] = stage.seen
    if stage.at_work:
        await asyncio.gather(*stage.at_work, return_exceptions=True)
    if later := stage.calls[len(answer["calls"]) :]:
        answer["callsAfterReturn"] = later
    return answer


def _result(answer: Mapping[str, Any] | None) -> Any:
    """Evaluators' outcomes are a list in the program, and stand under a name here."""
    names = {OUTCOMES} if answer is None else answer.keys()
    return answer[next(iter(names))] if answer is not None and names in ({OUTCOMES}, {BARE}) else answer


def _registration(hook: str, told: Mapping[str, Any], stage: Stage) -> Registration:
    milliseconds = told.get("timeoutMs")
    return Registration(
        hook,
        told["id"],
        partial(_handle, told, stage),
        priority=told.get("priority") or 0,
        limit=milliseconds / 1000 if milliseconds else None,
        options={name: told[name] for name in OPTIONS if name in told},
    )


def _handle(told: Mapping[str, Any], stage: Stage, view: Arguments) -> Awaitable[Any] | Any:
    """What a plugin's handler does: at once, or in a promise where the case says so."""
    stage.calls.append(f"start {told['id']}")
    if "see" in told:
        stage.seen[told["id"]] = _at(view[EVENT], told["see"])
    for path, value in (told.get("mutate") or {}).items():
        view[EVENT][path] = value
    if told.get("delayMs") or told.get("promise"):
        if view[SYNC]:
            view[REQUESTS].append(PROMISE)
        return _promise(told, stage, view)
    return _finish(told, stage, view)


def _promise(told: Mapping[str, Any], stage: Stage, view: Arguments) -> Awaitable[Any] | None:
    """A promise goes on whether or not anybody still waits for it."""

    async def work() -> Any:
        if view[SYNC]:  # the program runs such a hook in one go: no promise gets its turn before the end
            await stage.returned.wait()
        await asyncio.sleep((told.get("delayMs") or 0) / 1000)
        return _finish(told, stage, view)

    task = asyncio.get_running_loop().create_task(work())
    stage.at_work.append(task)
    return None if view[SYNC] else _waiting(task)


async def _waiting(task: asyncio.Task[Any]) -> Any:
    return await asyncio.shield(task)


def _finish(told: Mapping[str, Any], stage: Stage, view: Arguments) -> Any:
    stage.calls.append(f"end {told['id']}")
    if "throws" in told:
        raise RuntimeError(str(told["throws"]))
    if "returns" in told and told["returns"] is None:
        view[REQUESTS].append(NULL)
    return told.get("returns")


def _at(value: Any, path: str) -> Any:
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value
