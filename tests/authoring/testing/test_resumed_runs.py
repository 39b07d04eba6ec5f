"""A recorded run fired again from one of its handlers on: the same as all of it, where handlers are pure."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.authoring.testing.replay import ReplayResult, replay_run
from hookscope.model.failure import Refusal
from hookscope.model.run import Run
from hookscope.runtime.payloads import PatchError, apply_patch, patch_of

if TYPE_CHECKING:
    from tests.conftest import MakeHook

NAME = st.text("ab/~", max_size=2)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("ab/~", max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)
documents = st.dictionaries(NAME, json_values, max_size=4)


@given(documents, documents)
def test_applying_a_patch_restores_the_document(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert apply_patch(before, patch_of(before, after)) == after


operations = st.fixed_dictionaries(
    {"op": st.sampled_from(["add", "remove", "replace", "move"]), "path": st.text("/ab0-~", max_size=4)}
)


@given(json_values, st.lists(operations, max_size=2))
def test_applying_a_patch_never_changes_its_input(document: Any, patch: list[dict[str, Any]]) -> None:
    before = deepcopy(document)
    with suppress(PatchError):
        apply_patch(document, tuple(patch))
    assert document == before


# Each handler does what the event's own script says of it, and nothing else.
PURE = """
def handler(event):
    for what, name, value in event.context.get("script", {}).get(NAME, []):
        if what == "push":
            event.messages.append(f"{value} {len(event.messages)} {event.context.get(name)}")
        elif what == "put":
            event.messages = [str(value), *event.messages]
        elif what == "add":
            event.context[name] = [event.context.get(name), value]
        elif what == "drop":
            event.context.pop(name, None)
        elif what == "key":
            event.session_key = str(value)
        else:
            raise ValueError(event.context.get(name))
"""
NAMES = ("a", "b", "c")
WHATS = ["push", "put", "add", "drop", "key", "raise"]
STEP = st.tuples(st.sampled_from(WHATS), st.sampled_from(["x", "y"]), st.integers(0, 9)).map(list)
SCRIPTS = st.fixed_dictionaries({name: st.lists(STEP, max_size=3) for name in NAMES})


class Bench:
    """One workbench and one loop for many examples."""

    def __init__(self, workspace: Path, bundled: Path) -> None:
        options = Options(dialect="openclaw", workspace=workspace, bundled=bundled)
        self.bench = Workbench(options, trust_all=True)
        self._runner = asyncio.Runner()

    def fire(self, context: dict[str, Any]) -> Run:
        async def fired() -> Run:
            view = self.bench.scan()
            event = self.bench.template(view, "command:new")
            plan = self.bench.plan(view, replace(event, context=context))
            return await self.bench.fire(view, plan)

        return self._runner.run(fired())

    def again(self, run: Run, start: str, **more: Any) -> ReplayResult:
        past = self.bench.run_record.run(self.bench.scan(), run.id)
        replayed = self._runner.run(replay_run(self.bench, past, start=start, **more))
        assert isinstance(replayed, ReplayResult)
        return replayed

    def close(self) -> None:
        self._runner.run(self.bench.close())
        self._runner.close()


@pytest.fixture
def bench(tmp_path: Path, workspace: Path, make_hook: MakeHook) -> Iterator[Bench]:
    for name in NAMES:
        make_hook(workspace / "hooks", name, "{openclaw: {events: [command]}}", f"NAME = {name!r}\n{PURE}")
    (tmp_path / "bundled").mkdir()
    made = Bench(workspace, tmp_path / "bundled")
    yield made
    made.close()


def facts(run: Run) -> Any:
    context = {name: value for name, value in run.context.items() if name != "replayed"}
    return run.messages, context


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(script=SCRIPTS, at=st.integers(1, len(NAMES)))
def test_resuming_at_any_handler_gives_the_same_result(bench: Bench, script: dict[str, Any], at: int) -> None:
    run = bench.fire({"x": 0, "script": script})
    replayed = bench.again(run, str(at))
    assert replayed.differences == ()
    assert facts(replayed.run) == facts(run)
    assert [result.call.name for result in replayed.run.results] == list(NAMES[at - 1 :])
    done = [item.name for item in replayed.run.not_run if item.reason == "replayed as recorded"]
    assert done == list(NAMES[: at - 1])


def test_resumed_run_applies_recorded_changes_before_an_edited_handler(bench: Bench, workspace: Path) -> None:
    run = bench.fire({"script": {"a": [("add", "x", 1)], "c": [("push", "x", "saw")]}})
    assert run.messages == ("saw 0 [None, 1]",)
    handler = workspace / "hooks/b/handler.py"
    handler.write_text("def handler(event): event.context['x'].append(2)\n")
    replayed = bench.again(run, "b")
    assert replayed.run.messages == ("saw 0 [None, 1, 2]",)
    assert [one.kind for one in replayed.differences] == ["message", "message", "context"]


def test_resuming_at_a_missing_handler_is_refused(bench: Bench, workspace: Path) -> None:
    run = bench.fire({})
    with pytest.raises(Refusal, match=r"has no handler 4\. It called a, b, c"):
        bench.again(run, "4")
    with pytest.raises(Refusal, match="has no handler 0"):
        bench.again(run, "0")
    header = workspace / "hooks/b/HOOK.md"
    header.write_text(header.read_text().replace("[command]", "['gateway:startup']"))
    with pytest.raises(Refusal, match="b is no longer called for command:new: subscribes to gateway:startup"):
        bench.again(run, "b")


def test_resumed_run_takes_secrets_from_the_environment(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = "sk" + "-0123456789abcdefghijklmn"
    run = bench.fire({"script": {"a": [("add", "x", token)], "c": [("push", "x", "saw")]}})
    past = bench.bench.run_record.run(bench.bench.scan(), run.id)
    assert past.run is not None
    assert token not in str(past.run.results)
    with pytest.raises(Refusal, match="of the event was not stored"):
        bench.again(run, "c")
