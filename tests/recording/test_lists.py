"""Who listens to what never came, and what came that nobody listens to."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.conftest import MakeHook

from hookscope.analysis.tap_report import EventUsage, event_usage_of
from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.model.hook_event import iso
from hookscope.recording.installation import apply_tap_plan, plan_tap_install
from hookscope.recording.taps import spool_path

START = datetime(2026, 11, 20, 12, tzinfo=UTC)
Came = Callable[..., None]


@pytest.fixture
def bench(home: Path, workspace: Path, tmp_path: Path) -> Workbench:
    """OpenClaw with a tap, and no bundled hooks."""
    (home / ".openclaw").mkdir()
    (tmp_path / "bundled").mkdir()
    bench = Workbench(Options(dialect="openclaw", workspace=workspace, bundled=tmp_path / "bundled"))
    apply_tap_plan(plan_tap_install(bench.open(), "typescript"))
    return bench


@pytest.fixture
def came(bench: Workbench) -> Came:
    """came("command:new", "command:new") → these events, a minute apart, in the spool."""
    spool = spool_path(bench.open())

    def write(*keys: str, kind: str = "folder") -> None:
        with (spool / "events.jsonl").open("a") as file:
            for number, key in enumerate(keys):
                told = {"tap": 1, "at": iso(START + timedelta(minutes=number)), "kind": kind, "key": key}
                file.write(json.dumps(told) + "\n")

    return write


def unheard(lists: EventUsage) -> list[tuple[str, str, bool]]:
    return [(one.hook, one.key, one.recorded) for one in lists.never_received]


def test_the_lists_compare_subscriptions_with_recorded_events(
    bench: Workbench, workspace: Path, came: Came, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "a-typo", "{openclaw: {events: [command:nwe, command:new]}}")
    make_hook(workspace / "hooks", "family", "{openclaw: {events: [agent]}}")
    make_hook(workspace / "hooks", "waits", "{openclaw: {events: [message, gateway]}}")
    came("command:new", "command:new", "agent:bootstrap", "message:received", "command:stop")
    lists = event_usage_of(bench.scan())
    assert unheard(lists) == [("a-typo", "command:nwe", True), ("waits", "gateway", True)]
    assert [(one.key, one.count) for one in lists.without_hook] == [("command:stop", 1)]
    assert lists.without_hook[0].last == START + timedelta(minutes=4)
    assert (lists.seen[0].key, lists.seen[0].count) == ("command:new", 2)
    assert lists.count == 5
    assert lists.since == START  # before the tap was written, for it was there before


def test_hooks_that_would_not_run_do_not_count_as_subscribers(
    bench: Workbench, home: Path, workspace: Path, came: Came, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "off", "{openclaw: {events: [command:new]}}")
    needs = "{openclaw: {events: [command:stop], requires: {bins: [no-such-program]}}}"
    make_hook(workspace / "hooks", "blocked", needs)
    entries = {"hooks": {"internal": {"entries": {"off": {"enabled": False}}}}}
    (home / ".openclaw" / "openclaw.json").write_text(json.dumps(entries))
    came("command:new", "command:stop")
    lists = event_usage_of(bench.scan())
    assert lists.never_received == ()
    assert [one.key for one in lists.without_hook] == ["command:new", "command:stop"]


def test_events_that_no_tap_records_are_unknown(
    bench: Workbench, workspace: Path, came: Came, make_hook: MakeHook
) -> None:
    """The guide sends no event of a session, so its tap does not ask for any; nor for plugin hooks."""
    make_hook(workspace / "hooks", "sessions", "{openclaw: {events: [session, command:new]}}")
    plugin = workspace / "plugins" / "guard"
    plugin.mkdir(parents=True)
    (plugin / "plugin.py").write_text("def register(api):\n    api.on('before_tool_call', print)\n")
    dynamic = workspace / "plugins" / "later"
    dynamic.mkdir()
    (dynamic / "plugin.py").write_text("def register(api):\n    for name in NAMES: api.on(name, print)\n")
    lists = event_usage_of(bench.scan())
    assert unheard(lists) == [
        ("sessions", "session", False),
        ("sessions", "command:new", True),
        ("guard", "before_tool_call", False),
    ]
    assert lists.unknown == ("later",)


def test_observing_plugin_hooks_are_recorded_by_the_plugin_tap(
    bench: Workbench, workspace: Path, came: Came
) -> None:
    apply_tap_plan(plan_tap_install(bench.open(), "typescript", plugin_hooks=True))
    plugin = workspace / "plugins" / "notes"
    plugin.mkdir(parents=True)
    text = "def register(api):\n    api.on('message-sent', print)\n    api.on('session_end', print)\n"
    (plugin / "plugin.py").write_text(text)
    came("message_sent", "llm_input", kind="plugin")
    lists = event_usage_of(bench.scan())
    assert unheard(lists) == [("notes", "session_end", True)]
    assert [one.key for one in lists.without_hook] == ["llm_input"]


def test_a_wildcard_subscribes_to_the_whole_stream(workspace: Path, tmp_path: Path) -> None:
    hooks = workspace / "agent" / "hooks"
    hooks.mkdir(parents=True)
    (hooks / "audit.py").write_text(
        "from hookscope import define_hook\ndefault = define_hook(events={'turn.started': print})\n"
    )
    bench = Workbench(Options(dialect="eve", workspace=workspace))
    apply_tap_plan(plan_tap_install(bench.open(), "typescript"))
    spool = spool_path(bench.open())
    told = {"tap": 1, "at": iso(START), "kind": "stream", "key": "session.started"}
    (spool / "events.jsonl").write_text(json.dumps(told) + "\n")
    lists = event_usage_of(bench.scan())
    assert unheard(lists) == [("audit", "turn.started", True)]
    assert [one.key for one in lists.without_hook] == ["session.started"]
    (hooks / "all.py").write_text(
        "from hookscope import define_hook\ndefault = define_hook(events={'*': print})\n"
    )
    assert event_usage_of(bench.scan()).without_hook == ()


def test_without_a_tap_every_event_is_unknown(home: Path, workspace: Path) -> None:
    (home / ".openclaw").mkdir()
    lists = event_usage_of(Workbench(Options(dialect="openclaw", workspace=workspace)).scan())
    assert (lists.since, lists.count) == (None, 0)
    assert not any(one.recorded for one in lists.never_received)


def test_a_rotated_spool_counts_from_its_oldest_line(bench: Workbench, came: Came) -> None:
    came("command:new")
    spool = spool_path(bench.open())
    (spool / "events.jsonl").rename(spool / "events.jsonl.1")
    assert event_usage_of(bench.scan()).since == START
