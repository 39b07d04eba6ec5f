"""Fuzzing: planted failures are found, shrunk to the smallest event, and kept; in real workers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookscope.analysis import fuzzing
from hookscope.analysis.fuzzing import Fuzzer, FuzzResult, save_failures
from hookscope.analysis.strange_events import events_like
from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.authoring.testing.sequences import run_test_file
from hookscope.hosts.dialects import DIALECTS
from hookscope.model.event_catalogue import EventType
from hookscope.model.failure import Refusal

if TYPE_CHECKING:
    from tests.conftest import MakeHook

RECEIVED = "{openclaw: {events: ['message:received']}}"
Fuzzing = Callable[..., Any]


@pytest_asyncio.fixture
async def fuzz(workspace: Path, tmp_path: Path) -> AsyncIterator[Fuzzing]:
    """fuzz("message:received", dialect=…, seed=…) → what was found, and is kept."""
    (tmp_path / "bundled").mkdir()
    benches: list[Workbench] = []

    async def run(key: str, *, dialect: str = "openclaw", limit: float = 60, **more: Any) -> FuzzResult:
        options = Options(dialect=dialect, workspace=workspace, bundled=tmp_path / "bundled")
        bench = Workbench(options, trust_all=True, timeout=limit)
        benches.append(bench)
        view = bench.scan()
        template = bench.template(view, key)
        view = await bench.load_modules(view, template.kind)
        search = Fuzzer(bench, view, template, **{"seed": 1, "examples": 100, **more})
        return save_failures(bench, view, await search.run())

    yield run
    for bench in benches:
        await bench.close()


def contexts(fuzzed: FuzzResult) -> dict[tuple[str, str], Any]:
    return {(found.hook, found.type): found.event.context for found in fuzzed.failures}


PLANTED = {
    "python": (
        "handler.py",
        """
        import sys

        def handler(event):
            content = event.context.get("content", "")
            if content is None:
                raise LookupError("planted")
            if event.session_key.startswith("agent:main:subagent:"):
                raise ValueError("no file of this session")
            if isinstance(content, list):
                sys.exit(3)
        """,
        {"LookupError": {"content": None}, "ValueError": {}, "SystemExit": {"content": []}},
    ),
    "typescript": (
        "handler.ts",
        """
        export default async (event: any) => {
          const { content } = event.context;
          if (content === null) throw new RangeError("planted");
          if (event.sessionKey.startsWith("agent:main:subagent:")) throw new SyntaxError("no such file");
          if (Array.isArray(content)) throw new TypeError("planted");
        };
        """,
        {"RangeError": {"content": None}, "SyntaxError": {}, "TypeError": {"content": []}},
    ),
}


@pytest.mark.parametrize("language", PLANTED)
async def test_planted_failures_are_found_and_shrunk_to_the_smallest_event(
    language: str, fuzz: Fuzzing, workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    file, source, smallest = PLANTED[language]
    make_hook(workspace / "hooks", "a", RECEIVED, source, file=file)
    fuzzed = await fuzz("message:received")
    assert contexts(fuzzed) == {("a", kind): context for kind, context in smallest.items()}
    for found in fuzzed.failures:
        assert found.reproduced
        assert found.run is not None
        assert found.run.id > 0  # on record
        assert found.file is not None
        assert found.file.name.startswith("fuzz-message-received-a")
        assert found.place is not None
        assert Path(found.place[0]).name == file
    sessions = [
        found.event.session_key for found in fuzzed.failures if found.type in ("ValueError", "SyntaxError")
    ]
    assert sessions == ["agent:main:subagent:7f3c"]
    assert not [path for folder in (workspace, home) for path in folder.glob(".hypothesis")]


async def test_same_seed_finds_the_same_failures_and_keeps_each_once(
    fuzz: Fuzzing, workspace: Path, make_hook: MakeHook
) -> None:
    source = "def handler(event): event.context['content'].strip()"
    make_hook(workspace / "hooks", "a", RECEIVED, source)

    def facts(fuzzed: FuzzResult) -> Any:
        return [
            (
                one.fired,
                [(found.type, found.times, found.event.context, found.file) for found in one.failures],
            )
            for one in fuzzed.hooks
        ]

    first = await fuzz("message:received", seed=7, examples=50)
    assert facts(first) == facts(await fuzz("message:received", seed=7, examples=50))
    (folder,) = {found.file.parent for found in first.failures if found.file}
    assert len(list(folder.glob("*.yaml"))) == len(first.failures)
    taken = folder / "fuzz-message-received-a.yaml"
    taken.write_text("event: message:received\nnotes: mine\n")
    await fuzz("message:received", seed=7, examples=50)
    assert taken.read_text() == "event: message:received\nnotes: mine\n"


async def test_kept_event_fails_until_its_hook_is_fixed(
    fuzz: Fuzzing, workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    folder = make_hook(
        workspace / "hooks", "a", RECEIVED, "def handler(event): len(event.context['content'])"
    )
    (found,) = (await fuzz("message:received", examples=20)).failures[:1]
    assert found.file is not None
    for passes in (False, True):
        bench = Workbench(Options(dialect="openclaw", workspace=workspace), trust_all=True)
        try:
            assert (await run_test_file(bench, found.file)).passed is passes
        finally:
            await bench.close()
        (folder / "handler.py").write_text("def handler(event): pass\n")


async def test_search_stops_after_a_few_hangs(
    fuzz: Fuzzing, workspace: Path, make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzzing, "MOST_HANGS", 2)
    make_hook(workspace / "hooks", "a", RECEIVED, "def handler(event):\n    while True: pass\n")
    fuzzed = await fuzz("message:received", limit=0.2)
    (searched,) = fuzzed.hooks
    assert (searched.fired, searched.stop_reason) == (2, "it hung 2 times")
    assert [found.type for found in searched.failures] == ["Timeout"]


async def test_flaky_failure_is_reported_as_flaky(
    fuzz: Fuzzing, workspace: Path, make_hook: MakeHook
) -> None:
    source = "n = []\n\ndef handler(event):\n    n.append(0)\n    assert len(n) != 5\n"
    make_hook(workspace / "hooks", "a", RECEIVED, source)
    (found,) = (await fuzz("message:received", examples=30)).failures
    assert (found.type, found.reproduced) == ("AssertionError", False)


async def test_handlers_can_run_in_a_sandbox(
    fuzz: Fuzzing, workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    source = """
    import os

    def handler(event):
        with open(os.path.expanduser("~/log"), "a") as log:
            log.write("line")
        event.context["content"]
    """
    make_hook(workspace / "hooks", "a", RECEIVED, source)
    (found,) = (await fuzz("message:received", examples=10, sandbox=True)).failures
    assert found.run is not None
    assert found.run.guarded is not None
    assert found.place == (str(workspace / "hooks/a/handler.py"), 7)
    assert not (home / "log").exists()


async def test_plugins_and_streams_are_fuzzed_too(fuzz: Fuzzing, workspace: Path) -> None:
    plugin = workspace / "plugins/guard/plugin.py"
    plugin.parent.mkdir(parents=True)
    plugin.write_text(
        "def guard(event, ctx):\n    return {'block': 'rm' in event['params']['command']}\n\n"
        "def register(api):\n    api.on('before_tool_call', guard)\n"
    )
    fuzzed = await fuzz("before_tool_call", examples=40)
    found = contexts(fuzzed)
    assert found["guard", "KeyError"] in ({}, {"params": {}})
    module = workspace / "agent/hooks/watch.py"
    module.parent.mkdir(parents=True)
    module.write_text(
        "from hookscope import define_hook\n\ndef heard(event, ctx):\n    event['data']['turnId'].upper()\n\n"
        "default = define_hook(events={'turn.started': heard})\n"
    )
    fuzzed = await fuzz("turn.started", dialect="eve", examples=40)
    assert {found.type for found in fuzzed.failures} == {"AttributeError"}
    assert all("turnId" in found.event.context for found in fuzzed.failures)


async def test_stopped_search_reports_its_findings(
    workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "a", RECEIVED, "def handler(event): 1 / 0")
    bench = Workbench(Options(dialect="openclaw", workspace=workspace), trust_all=True)
    try:
        view = bench.scan()
        search = Fuzzer(
            bench, view, bench.template(view, "message:received"), seed=1, examples=10_000,
            on_failure=lambda result: search.stop(),
        )  # fmt: skip
        fuzzed = await search.run()
    finally:
        await bench.close()
    assert fuzzed.stopped
    assert [found.type for found in fuzzed.failures] == ["ZeroDivisionError"]
    assert fuzzed.failures[0].error is not None


async def test_fuzz_refuses_without_hooks_or_hypothesis(
    fuzz: Fuzzing, workspace: Path, make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Refusal, match="none of your hooks runs for message:received"):
        await fuzz("message:received")
    make_hook(workspace / "hooks", "a", RECEIVED)
    monkeypatch.setattr(fuzzing, "find_spec", lambda name: None)
    with pytest.raises(Refusal, match=r"hookscope\[fuzz\]"):
        await fuzz("message:received")


KNOWN = [(name, event) for name, dialect in DIALECTS.items() for event in dialect.catalogue().events]


@settings(max_examples=60, suppress_health_check=list(HealthCheck), deadline=None)
@given(st.sampled_from(KNOWN), st.data())
def test_generated_events_are_json_with_all_required_fields(
    one: tuple[str, EventType], data: st.DataObject
) -> None:
    name, known = one
    event = DIALECTS[name].event_of(known.key)
    template = replace(event, session_key=known.session, context=dict(known.context), ctx=dict(known.ctx))
    strange = data.draw(events_like(template, known))
    json.dumps([strange.session_key, strange.context, strange.ctx], allow_nan=False)
    assert strange.key == template.key
    assert strange.ctx.keys() >= template.ctx.keys()
    if known.kind == "stream":
        assert strange.context.keys() >= set(known.required)


def test_bundled_hooks_are_fuzzed_in_a_sandbox_or_by_name(workspace: Path) -> None:
    bench = Workbench(Options(dialect="openclaw", workspace=workspace))
    view = bench.scan()
    template = bench.template(view, "command:new")
    with pytest.raises(Refusal, match="none of your hooks runs"):
        Fuzzer(bench, view, template, seed=1)
    assert Fuzzer(bench, view, template, seed=1, only="command-logger").hooks == ("command-logger",)
    assert "session-memory" in Fuzzer(bench, view, template, seed=1, sandbox=True).hooks
