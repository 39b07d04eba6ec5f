"""Hooks, plans and lanes for the tests of the runtime."""

import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from hookscope.model.hook_event import HookEvent
from hookscope.model.run import (
    CallGroup,
    Code,
    Ending,
    Event,
    Fold,
    Handler,
    Next,
    Plan,
    Registration,
    Result,
    Step,
)
from hookscope.runtime import batch, worker_calls
from hookscope.runtime.limits import Limits
from hookscope.runtime.process_executor import ProcessExecutor, python_executor

WriteHook = Callable[..., Registration]
LONG = 20.0  # seconds that a handler has which answers, on however slow a machine
SHORT = 0.6  # seconds that one has which never would


@dataclass(frozen=True)
class Shared:
    """All handlers of an event get one HookEvent. A returned "stop" or "fail" does that."""

    batched: bool = True
    follow_ups: tuple[Event, ...] = ()

    def start(self, event: Event) -> Fold:
        live = HookEvent(event.type, event.action, event.session_key, dict(event.context))
        return Fold(event.live or live, follow_ups=self.follow_ups)

    def view(self, fold: Fold, call: Registration) -> Any:
        return fold.event

    def take(self, fold: Fold, result: Result) -> tuple[Fold, Next]:
        if result.returned == "fail":
            return replace(fold, failure=f"{result.call.name} said no"), Next.FAIL
        answer = {**fold.answer, result.call.name: result.returned}
        return replace(fold, answer=answer), Next.STOP if result.returned == "stop" else Next.GO

    def finish(self, fold: Fold) -> Ending:
        return Ending(fold.answer or None, fold.failure, fold.follow_ups)


@pytest.fixture
def plan_of() -> Callable[..., Plan]:
    """A plan of calls in one group, or of groups."""

    def make(
        *parts: Registration | CallGroup,
        event: Event | None = None,
        policy: Shared | None = None,
        **more: Any,
    ) -> Plan:
        calls = tuple(part for part in parts if isinstance(part, Registration))
        groups = tuple(part for part in parts if isinstance(part, CallGroup))
        return Plan(
            event=event or Event("command", "new"),
            generation=1,
            groups=(*groups, CallGroup(calls)) if calls else groups,
            not_run=(),
            policy=policy or Shared(),
            **more,
        )

    return make


@pytest.fixture
def policy_of() -> type[Shared]:
    return Shared


@pytest.fixture
def call_of() -> Callable[..., Registration]:
    """A registration of a function, named after it."""

    def make(handler: Handler, name: str = "", **more: Any) -> Registration:
        return Registration("command:new", name or getattr(handler, "__name__", "handler"), handler, **more)

    return make


@pytest.fixture
def hook(tmp_path: Path) -> WriteHook:
    """Write a hook folder; its registration. Further files by keyword: `util="X = 1"`."""

    def write(
        name: str,
        handler: str,
        *,
        export: str = "default",
        limit: float | None = None,
        load_limit: float | None = None,
        **files: str,
    ) -> Registration:
        folder = tmp_path / "hooks" / name
        folder.mkdir(parents=True, exist_ok=True)
        for stem, text in {"handler": handler, **files}.items():
            (folder / f"{stem}.py").write_text(text)
        code = Code(folder / "handler.py", export, folder, "python")
        return Registration("command:new", name, code, limit=limit, load_limit=load_limit)

    return write


@pytest.fixture
async def lane(tmp_path: Path) -> AsyncIterator[ProcessExecutor]:
    """A lane of real Python workers."""
    made = python_executor(env=dict(os.environ), cwd=tmp_path, limits=Limits(spawn=LONG, load=LONG, run=LONG))
    try:
        yield made
    finally:
        await made.close()


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """patience() → a handler over its limit has the time to say where it is, on however slow a machine.

    For those that say it: others are waited for as long.
    """

    def have() -> None:
        for module in (batch, worker_calls):
            monkeypatch.setattr(module, "STOP_TIMEOUT", LONG)

    return have


class Outcome:
    """What a lane said of a batch: its steps, and its results by name."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = tuple(steps)
        self.results = tuple(step for step in steps if isinstance(step, Result))

    def __getitem__(self, name: str) -> Result:
        (found,) = (result for result in self.results if result.call.name == name)
        return found

    @property
    def statuses(self) -> dict[str, str]:
        return {result.call.name: result.status for result in self.results}


@pytest.fixture
def outcome_of(lane: ProcessExecutor) -> Callable[..., Any]:
    """Run calls on one event in the lane."""

    async def run(*calls: Registration, event: Any = None) -> Outcome:
        steps: list[Step] = []
        view = HookEvent("command", "new", "s", {}) if event is None else event
        await lane.run(calls, view, steps.append)
        return Outcome(steps)

    return run


@pytest.fixture(autouse=True)
def _no_worker_outlives_its_test() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    for thread in threading.enumerate():
        if thread not in before and thread.name.startswith("owner of"):
            thread.join(60)  # it has told the end already; this is its last step
            assert not thread.is_alive()
