"""Sequences of events: files that say them, those that ship, and what comes of firing them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.authoring.testing.saved_events import read_saved_event
from hookscope.authoring.testing.sequences import (
    EventSequence,
    SequenceResult,
    SequenceRun,
    plan_sequence,
    read_sequence,
    run_test_file,
    sequence_named,
    sequences_of,
    shipped_sequences,
)
from hookscope.hosts.dialects import DIALECTS
from hookscope.model.event_schema import event_note_texts
from hookscope.model.failure import Refusal

if TYPE_CHECKING:
    from tests.conftest import MakeHook

Write = Callable[..., Path]
COUNT = """
seen = []

def handler(event):
    if event.context.get("fail"):
        raise ValueError("asked to")
    seen.append(event.key)
    event.messages.append(f"{len(seen)} {event.session_key} {event.context.get('who')}")
    event.context["seen"] = list(seen)
"""
HEARS = '{"openclaw": {"events": ["command", "session", "gateway"]}}'
SHIPPED = [(name, one.name) for name, dialect in DIALECTS.items() for one in shipped_sequences(dialect)]


@pytest.fixture
def write(workspace: Path) -> Write:
    """write("steps: …") → a sequence of the workspace."""

    def written(text: str, name: str = "mine") -> Path:
        file = workspace / ".hookscope/sequences" / f"{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    return written


@pytest.fixture
def count(workspace: Path, make_hook: MakeHook) -> None:
    make_hook(workspace / "hooks", "count", "{openclaw: {events: [command, gateway]}}", COUNT)


def options_of(workspace: Path, dialect: str = "openclaw") -> Options:
    return Options(dialect=dialect, workspace=workspace, bundled=workspace / "none", env={"WHO": "ada"})


def fired(workspace: Path, sequence: EventSequence, **how: bool) -> SequenceResult:
    async def all_steps() -> SequenceResult:
        bench = Workbench(options_of(workspace), trust_all=True)
        try:
            return await SequenceRun(bench, sequence, **how).run()
        finally:
            await bench.close()

    return asyncio.run(all_steps())


@pytest.mark.usefixtures("count")
def test_steps_are_fired_in_order_in_the_same_workers(workspace: Path, write: Write) -> None:
    (workspace / "hello.yaml").write_text(
        "event: command:reset\nsession: own\ncontext: {who: '${WHO}'}\nexpect: {messages: ['3 *']}\n"
    )
    file = write(
        "name: As a host does it\nsession: 'chat:${WHO}'\nsteps:\n"
        "  - {event: 'command:new', with: {who: '${WHO}'}, expect: {messages: ['1 chat:ada ada']}}\n"
        "  - {after: 60ms, event: 'gateway:startup', context: {}, session: system}\n"
        "  - {file: ../../hello.yaml}\n"
    )
    sequence = read_sequence(file)
    assert (sequence.name, [step.after for step in sequence.steps]) == ("As a host does it", [0, 0.06, 0])
    over = fired(workspace, sequence)
    assert over.passed
    first, second, third = (one.result.run for one in over.steps)
    assert first is not None
    assert second is not None
    assert third is not None
    assert first.event.context["commandSource"] == "telegram"  # the rest is the event's example
    assert [second.messages, third.messages] == [("2 system None",), ("3 own ada",)]
    assert third.context["seen"] == ["command:new", "gateway:startup", "command:reset"]
    assert second.event.timestamp - first.event.timestamp >= timedelta(milliseconds=60)


@pytest.mark.usefixtures("count")
def test_stop_option_ends_the_sequence_at_a_failed_step(workspace: Path, write: Write) -> None:
    sequence = read_sequence(
        write(
            "steps:\n  - {event: 'command:new', context: {fail: true}}\n"
            "  - {event: 'command:new', context: {fail: true}, expect: {errors: 1}}\n"
        )
    )
    stopped, whole = fired(workspace, sequence, stop=True), fired(workspace, sequence)
    assert (len(stopped.steps), stopped.passed) == (1, False)
    assert [one.result.passed for one in whole.steps] == [False, True]


@pytest.mark.usefixtures("count")
async def test_cancelled_sequence_keeps_its_fired_steps(workspace: Path, write: Write) -> None:
    sequence = read_sequence(
        write("steps: [{event: 'command:new'}, {after: 60m, event: 'command:new'}, {event: 'command:new'}]")
    )
    bench = Workbench(options_of(workspace), trust_all=True)
    try:
        running = SequenceRun(bench, sequence)
        steps = []
        async for step in running.steps():
            steps.append(step)
            asyncio.get_running_loop().call_soon(running.cancel)
        assert (len(steps), running.cancelled) == (1, True)
    finally:
        await bench.close()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("steps: []", "line 1: `steps` needs a list of mappings."),
        ("steps: [1]", "line 1: `steps` needs a list of mappings."),
        (
            "steps:\n  - {event: a:b}\n  - {evnt: a:b}",
            "line 3: `evnt` is not part of a step. Did you mean `event`?",
        ),
        ("steps:\n  - {after: 5, event: a:b}", "line 2: `after` needs a time such as 250ms, 2s or 1m"),
        ("steps:\n  - {after: 61m, event: a:b}", "at most an hour"),
        (
            "steps:\n  - {event: a:b, with: {}, context: {}}",
            "`with` changes the example context and `context`",
        ),
        ("steps:\n  - {file: x.yaml, context: {}}", "`context` is not part of a step with `file`."),
        ("steps:\n  - {file: nowhere.yaml}", "nowhere.yaml: no such file or directory."),
        ("steps:\n  - {event: a:b}\nstep: 1", "`step` is not part of a sequence. Did you mean `steps`?"),
        ("steps: [{event: a:b}", "line 1"),
        ("- a", "is not a sequence: it needs a mapping with `steps:`."),
    ],
)
def test_an_invalid_sequence_is_refused_with_its_line(write: Write, text: str, sentence: str) -> None:
    with pytest.raises(Refusal) as refused:
        read_sequence(write(text))
    assert sentence in str(refused.value)


def test_sequence_is_not_read_as_a_saved_event(workspace: Path, write: Write) -> None:
    bench = Workbench(options_of(workspace))
    with pytest.raises(Refusal, match="is a sequence"):
        read_saved_event(bench, bench.scan(), write("steps: [{event: 'command:new'}]"))


def test_an_error_in_a_later_step_is_found_before_the_first_is_fired(workspace: Path, write: Write) -> None:
    bench = Workbench(options_of(workspace))
    for text, sentence in (
        ("{event: 'comand:new'}", "Step 2 of mine cannot be fired: 'comand:new' is not an event"),
        ("{event: 'command:new', with: {a: '${NOBODY}'}}", "mine.yaml, step 2 uses ${NOBODY}"),
        ("{event: 'command:new', at: soon}", "mine.yaml, step 2 has `at: soon`"),
    ):
        sequence = read_sequence(write(f"steps: [{{event: 'command:new'}}, {text}]"))
        with pytest.raises(Refusal) as refused:
            plan_sequence(bench, sequence)
        assert sentence in str(refused.value)


@pytest.mark.usefixtures("count")
async def test_a_sequence_counts_as_one_test(workspace: Path, write: Write) -> None:
    passes = write("steps: [{event: 'command:new', expect: {messages: 1}}]", "passes")
    misses = write("steps: [{event: 'command:new'}, {event: 'command:new', expect: {messages: 0}}]", "misses")
    broken = write("steps: [{event: 'comand:new'}]", "broken")
    bench = Workbench(options_of(workspace), trust_all=True)
    try:
        done = [await run_test_file(bench, file) for file in (passes, misses, broken)]
    finally:
        await bench.close()
    assert [one.passed for one in done] == [True, False, False]
    assert done[1].failure_lines[:2] == ("step 2 command:new:", "  messages: expected 0, got 1")
    assert "Did you mean command:new?" in done[2].failure_lines[0]


def test_sequences_of_the_workspace_take_precedence_by_name(workspace: Path, write: Write) -> None:
    dialect = DIALECTS["openclaw"]
    own = write("name: My own\nsteps: [{event: 'command:new'}]", "new")
    write("steps: 5", "broken")
    rows = sequences_of(workspace, dialect)
    assert [row.name for row in rows][:2] == ["broken", "My own"]
    assert "`steps` needs" in rows[0].problem
    for name in ("new", "My own"):
        assert sequence_named(name, workspace, dialect, workspace).file == own
    assert sequence_named("restart", workspace, dialect, workspace).is_shipped
    for name, sentence in (
        ("restrt", "Did you mean restart?"),
        ("broken", "needs a list"),
        ("x.yaml", "Cannot"),
    ):
        with pytest.raises(Refusal, match=sentence):
            sequence_named(name, workspace, dialect, workspace)


def test_every_host_with_a_known_order_ships_sequences() -> None:
    products = {DIALECTS[dialect].product for dialect, _ in SHIPPED}
    assert products == {"OpenClaw", "Eve"}
    for dialect, name in SHIPPED:
        (sequence,) = (one for one in shipped_sequences(DIALECTS[dialect]) if one.name == name)
        events = DIALECTS[dialect].catalogue().by_key
        assert sequence.source
        assert sequence.notes
        assert all(events[step.event.key].emitted for step in sequence.steps)
        for step in sequence.steps:
            known = events[step.event.key]
            assert set(step.event.context) <= {*known.fields, *known.context}
            bare = DIALECTS[dialect].event_of(step.event.key)
            event = replace(bare, context={**known.context, **step.event.context}, ctx=step.event.ctx or {})
            assert event_note_texts(event, DIALECTS[dialect].catalogue()) == ()


@pytest.mark.parametrize(("dialect", "name"), SHIPPED)
async def test_every_shipped_sequence_reaches_a_hook(
    workspace: Path, home: Path, make_hook: MakeHook, dialect: str, name: str
) -> None:
    make_hook(workspace / "hooks", "hears", HEARS, COUNT)
    (home / ".openclaw").mkdir()
    (home / ".openclaw/openclaw.json").write_text(
        "{hooks: {internal: {enabled: true, entries: {hears: {enabled: true}}}}}"
    )
    hooks = workspace / "agent/hooks"
    hooks.mkdir(parents=True)
    (workspace / "agent/instructions.md").touch()
    (hooks / "hears.py").write_text(
        "from hookscope import define_hook\n\nasync def hear(event, ctx): pass\n\n"
        "hook = define_hook(events={'*': hear})\n"
    )
    bench = Workbench(options_of(workspace, dialect), trust_all=True)
    (sequence,) = (one for one in shipped_sequences(DIALECTS[dialect]) if one.name == name)
    try:
        over = await SequenceRun(bench, sequence, delays=False).run()
    finally:
        await bench.close()
    assert over.passed
    runs = [one.result.run for one in over.steps if one.result.run is not None]
    assert [run.event.key for run in runs] == [step.event.key for step in sequence.steps]
    assert all(run.results for run in runs if run.event.kind != "plugin")
