"""What an agent's collector gets to see of its hooks: spans that lie within each other, and counts."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from hookscope import Event, HookEngine, HookRunner, PluginApi, embedded_host
from hookscope.hosts.dialects import DIALECTS
from hookscope.hosts.settings.host_opener import open_host
from hookscope.model.host import Overrides, Trust
from hookscope.model.machine import Machine
from hookscope.otel import listener
from hookscope.sessions.session_runner import SessionRequest, Simulation
from hookscope.telemetry.run_listener import Telemetry

SECRET = "sk-verysecret-4711"


@dataclass
class Collected:
    """A collector, in memory."""

    exporter: InMemorySpanExporter = field(default_factory=InMemorySpanExporter)
    reader: InMemoryMetricReader = field(default_factory=InMemoryMetricReader)

    def __post_init__(self) -> None:
        self.spans = TracerProvider()
        self.spans.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.telemetry = Telemetry(self.spans, MeterProvider([self.reader]))

    def engine(self, dialect: str = "openclaw") -> HookEngine:
        return HookEngine(embedded_host(host_config={}, dialect=dialect), listener=self.telemetry)

    @property
    def told(self) -> Sequence[ReadableSpan]:
        return self.exporter.get_finished_spans()

    def named(self, name: str) -> ReadableSpan:
        (span,) = [span for span in self.told if span.name == name]
        return span

    def points(self, name: str) -> list[tuple[Mapping[str, Any], Any]]:
        """The attributes of each point, and its value."""
        data = self.reader.get_metrics_data()
        assert data is not None
        found = [
            point
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == name
            for point in metric.data.data_points
        ]
        return [(dict(point.attributes or {}), getattr(point, "value", point)) for point in found]


def check_nesting(spans: Sequence[ReadableSpan]) -> None:
    """Every span lies within its parent, in time and in one trace."""
    by_id = {span.context.span_id: span for span in spans if span.context}
    for span in spans:
        assert span.start_time is not None
        assert span.end_time is not None
        assert span.start_time <= span.end_time
        if span.parent is None:
            continue
        above = by_id[span.parent.span_id]
        assert above.context is not None
        assert span.context is not None
        assert above.context.trace_id == span.context.trace_id
        assert above.start_time is not None
        assert above.end_time is not None
        assert above.start_time <= span.start_time <= span.end_time <= above.end_time


def id_of(span: ReadableSpan) -> int:
    assert span.context is not None
    return int(span.context.span_id)


def parent_of(span: ReadableSpan) -> int | None:
    return span.parent.span_id if span.parent else None


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


@pytest.fixture
def collected() -> Collected:
    return Collected()


async def test_a_tool_call_that_one_handler_blocks_and_another_fails_at(collected: Collected) -> None:
    engine = collected.engine()
    api, tracer = PluginApi("guard", engine=engine), collected.spans.get_tracer("agent")

    @api.on("before_tool_call", priority=1)
    async def allows(event: Any, ctx: Any) -> None:
        with tracer.start_as_current_span("a query"):
            await asyncio.sleep(0)

    @api.on("before_tool_call", priority=2)
    def throws(event: Any, ctx: Any) -> None:
        raise PermissionError(SECRET)

    @api.on("before_tool_call", priority=3)
    def blocks(event: Any, ctx: Any) -> Any:
        return {"block": True, "blockReason": SECRET}

    with tracer.start_as_current_span("agent turn"):
        answer = await HookRunner(lambda: engine).run_before_tool_call(
            {"toolName": "exec", "params": {"command": SECRET}}, {"sessionKey": SECRET}
        )
        assert trace.get_current_span().name == "agent turn"  # type: ignore[attr-defined]
    assert answer.blocked

    run = collected.named("hook.run before_tool_call")
    assert parent_of(run) == id_of(collected.named("agent turn"))
    handlers = [span for span in collected.told if span.name == "hook.handler guard"]
    assert len(handlers) == 3
    below = [span for span in collected.told if parent_of(span) == id_of(run)]
    assert below == handlers
    assert run.status.status_code is StatusCode.ERROR
    assert parent_of(collected.named("a query")) == id_of(handlers[0])
    check_nesting(collected.told)

    assert attributes(run) == {
        "hookscope.dialect": "openclaw",
        "hookscope.event.key": "before_tool_call",
        "hookscope.event.kind": "plugin",
        "hookscope.handlers.planned": 3,
        "hookscope.handlers.not_run": 0,
        "hookscope.run.outcome": "failed",
        "hookscope.stopped": "blocked",
        "hookscope.stopped.by": "guard",
    }
    (failed,) = [span for span in handlers if span.status.status_code is StatusCode.ERROR]
    assert attributes(failed)["error.type"] == "PermissionError"
    (said,) = failed.events
    assert said.name == "exception"
    assert dict(said.attributes or {})["exception.type"] == "PermissionError"
    assert "in throws" in str(dict(said.attributes or {})["exception.stacktrace"])

    ((told, number),) = collected.points("hookscope.runs")
    assert (told["hookscope.run.outcome"], number) == ("failed", 1)
    ((told, number),) = collected.points("hookscope.stopped")
    assert (told["hookscope.stopped"], number) == ("blocked", 1)
    counted = {
        told.get("error.type", "ok"): number for told, number in collected.points("hookscope.handlers")
    }
    assert counted == {"ok": 2, "PermissionError": 1}
    lasted = sum(point.sum for _, point in collected.points("hookscope.handler.duration"))
    assert 0 < lasted < 5
    metrics = collected.reader.get_metrics_data()
    assert SECRET not in "".join(span.to_json() for span in collected.told) + (
        metrics.to_json() if metrics else ""
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MY_API_KEY", "CorrectHorseBattery"),
        ("DB_PASS", "hunter2x"),
        ("DEPLOY", "ghp" + "_16C7e42F292c6912E7710c838347"),
    ],
    ids=["key", "pass", "looks"],
)
async def test_a_name_that_has_a_secret_is_masked(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    collected = Collected()
    engine = collected.engine()
    failure = type(f"Bad_{value}", (Exception,), {})

    def throws(event: Any) -> None:
        raise failure(value)

    throws.__name__ = throws.__qualname__ = f"call_{value}"
    throws.__code__ = throws.__code__.replace(co_name=f"call_{value}", co_filename=f"/srv/{value}.py")
    engine.register(f"command:{value}", throws, name=f"hook {value}")
    await engine.fire(Event("command", value))
    told = [span.to_json() for span in collected.told]
    assert len(told) == 2
    assert value not in "".join(told)
    assert value not in repr(collected.points("hookscope.handlers"))


async def test_what_fails_closed_is_an_error_of_the_run(collected: Collected) -> None:
    engine = collected.engine("openclaw@2026.9")
    api = PluginApi("guard", engine=engine)

    @api.on("before_tool_call")
    def throws(event: Any, ctx: Any) -> None:
        raise OSError(SECRET)

    run = await engine.fire(Event("before_tool_call", kind="plugin", context={"toolName": "x", "params": {}}))
    assert run.ending.failure is not None
    span = collected.named("hook.run before_tool_call")
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, None)
    assert attributes(span)["hookscope.stopped"] == "failed_closed"
    assert attributes(span)["error.type"] == "OSError"


async def test_handlers_side_by_side_have_spans_side_by_side(collected: Collected) -> None:
    engine = collected.engine()
    both, seen = asyncio.Barrier(2), []

    async def observes(event: Any, ctx: Any) -> None:
        await both.wait()
        seen.append(trace.get_current_span().get_span_context().span_id)

    for name in ("one", "two"):
        PluginApi(name, engine=engine).on("message_received", observes)
    await engine.fire(Event("message_received", kind="plugin", context={"content": SECRET}))
    one, two = (span for span in collected.told if span.name.startswith("hook.handler"))
    assert max(one.start_time or 0, two.start_time or 0) <= min(one.end_time or 0, two.end_time or 0)
    assert sorted(seen) == sorted([id_of(one), id_of(two)])
    check_nesting(collected.told)


async def test_a_run_that_is_cancelled_ends_its_spans(collected: Collected) -> None:
    engine = collected.engine()
    begun = asyncio.Event()

    async def waits(event: Any) -> None:
        begun.set()
        await asyncio.Event().wait()

    engine.register("command:new", waits)
    firing = engine.fire(Event("command", "new", "agent:main:main"))
    await begun.wait()
    firing.cancel()
    assert (await firing).cancelled
    run, handler = collected.named("hook.run command:new"), collected.named("hook.handler waits")
    assert attributes(run)["hookscope.run.outcome"] == "cancelled"
    assert attributes(run)["hookscope.session.hash"] == sha256(b"agent:main:main").hexdigest()[:16]
    assert attributes(handler)["hookscope.handler.outcome"] == "cancelled"
    check_nesting(collected.told)


async def test_a_session_is_told_with_what_a_throw_causes(collected: Collected, tmp_path: Path) -> None:
    app = tmp_path / "app"
    (app / "agent" / "hooks").mkdir(parents=True)
    (app / "agent" / "hooks" / "audit.py").write_text(
        dedent(f"""
            from hookscope import define_hook
            def throw(event):
                raise ValueError("{SECRET}")
            def note(event, ctx):
                ctx.session.id
            hook = define_hook(events={{"turn.started": throw, "*": note}})
            """)
    )
    here = Machine("linux", {}, app, tmp_path)
    host = open_host(DIALECTS["eve"], here, Overrides(workspace=app), trust=Trust(everything=True))
    engine = HookEngine(host, listener=collected.telemetry)
    await engine.load()
    try:
        played = await Simulation(engine, SessionRequest((SECRET,), "seed", None))
    finally:
        await engine.close()
    runs = [span for span in collected.told if span.name.startswith("hook.run ")]
    began = sorted(runs, key=lambda span: span.start_time or 0)
    assert [span.name.removeprefix("hook.run ") for span in began] == [
        scene.run.event.type for scene in played.events
    ]
    outcomes = {
        attributes(span)["hookscope.event.key"]: attributes(span)["hookscope.run.outcome"] for span in runs
    }
    assert outcomes["turn.started"] != "ok"
    assert "turn.failed" in outcomes
    check_nesting(collected.told)
    assert SECRET not in "".join(span.to_json() for span in collected.told)


async def test_events_that_an_event_causes_are_below_it(collected: Collected) -> None:
    host = embedded_host(host_config={}, dialect="eve")
    engine = HookEngine(host, listener=collected.telemetry)

    def throws(event: Any, ctx: Any = None) -> None:
        raise ValueError

    engine.register("turn.started", throws)
    run = await engine.fire(Event("turn.started", kind="stream"))
    caused = {one.event.type for one in run.caused}
    assert caused
    above = id_of(collected.named("hook.run turn.started"))
    below = {
        span.name.removeprefix("hook.run ")
        for span in collected.told
        if span.name.startswith("hook.run ") and parent_of(span) == above
    }
    assert below == caused
    check_nesting(collected.told)


async def test_a_provider_that_fails_harms_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    collected = Collected()

    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("the exporter is broken")

    engine = collected.engine()
    engine.register("command", lambda event: event.messages.append("hello"))
    monkeypatch.setattr(collected.telemetry._tracer, "start_span", broken)
    assert (await engine.fire(Event("command", "new"))).messages == ("hello",)
    monkeypatch.undo()
    monkeypatch.setattr(collected.telemetry._runs, "add", broken)
    assert (await engine.fire(Event("command", "new"))).messages == ("hello",)
    assert not trace.get_current_span().get_span_context().is_valid


def test_nobody_is_told_where_no_provider_is_set_up() -> None:
    assert listener() is None  # the API is loaded here


PROGRAM = """
import asyncio, json, sys
{before}
from hookscope import create_hook_event, register_hook, trigger_hook
from hookscope.cli.main import exit_code
loaded = {{name for name in sys.modules if name.startswith(("opentelemetry", "hookscope.otel."))}}
register_hook("command:new", lambda event: event.messages.append("hello"))
run = asyncio.run(trigger_hook(create_hook_event("command", "new")))
code = exit_code(["fire", "command:new", "--trust", "--json"])
{after}
said = {{"messages": run.messages, "code": code, "told": told, "loaded": sorted(loaded)}}
print(json.dumps(said), file=sys.stderr)
"""
SET_UP = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
trace.set_tracer_provider(TracerProvider())
exporter = InMemorySpanExporter()
trace.get_tracer_provider().add_span_processor(SimpleSpanProcessor(exporter))
"""
TOLD = """
told = [[span.name, span.attributes.get("hookscope.hook.source")] for span in exporter.get_finished_spans()]
"""


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (SET_UP, TOLD, True),
        ("sys.modules['opentelemetry'] = None", "told = []", False),  # as though it were not installed
    ],
    ids=["set up", "absent"],
)
def test_a_program_and_the_command_line_tell_what_is_set_up(
    before: str, after: str, told: bool, workspace: Path
) -> None:
    folder = workspace / "hooks" / "greet"
    folder.mkdir()
    (folder / "HOOK.md").write_text(
        '---\nname: greet\nmetadata: {"openclaw": {"events": ["command:new"]}}\n---\n'
    )
    (folder / "handler.py").write_text("def handler(event): event.messages.append('hi')\n")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM.format(before=before, after=after)],
        cwd=workspace,
        capture_output=True,
        text=True,
        check=True,
    )
    said = json.loads(done.stderr.splitlines()[-1])
    assert (said["messages"], said["code"]) == (["hello"], 0)
    assert [result["hook"] for result in json.loads(done.stdout)["results"]].count("greet") == 1
    if not told:
        assert (said["told"], said["loaded"]) == ([], ["opentelemetry"])
        return
    assert ["hook.handler <lambda>", "code"] in said["told"]
    assert ["hook.handler greet", "workspace"] in said["told"]
    assert [name for name, _ in said["told"]].count("hook.run command:new") == 2
