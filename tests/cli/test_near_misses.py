"""The event came, and a hook that was meant to hear it did not: the plan says so, and what it would take."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hookscope.app import json_documents
from hookscope.app.options import Options
from hookscope.app.workbench import Workbench

if TYPE_CHECKING:
    from tests.cli.conftest import Program
    from tests.conftest import MakeHook

MISSES = {  # what a hook listens to, under the name of the hook → the event that is fired, what is said
    "Command:New": ("command:new", "event names are case-sensitive; write command:new"),
    "command:nwe": ("command:new", "no host sends that; write command:new"),
    "command:*": ("command:new", "no wildcards; write command for"),
    "command:reset": ("command:new", "to receive this, list command:new or command in its events"),
    "command:stop": ("command", "only the type was fired; fire command:stop"),
    "message_received": ("message:received", "only plugins receive it; write message:received"),
    "UserPromptSubmit": ("message:received", "a name of Claude Code; write message:received"),
    "PreToolUse": ("before_tool_call", "only a plugin receives before_tool_call"),
    "message_sent": (
        "message_sent",
        "only a plugin receives it; message:sent is the equivalent for a HOOK.md hook",
    ),
    "gateway:startup": ("gateway:stratup", "perhaps you meant this"),
}


@pytest.mark.parametrize("dialect", ["openclaw", "openclaw@2026.9"])
def test_plan_lists_each_near_miss_with_reason_and_next_step(
    workspace: Path, make_hook: MakeHook, bundled: Path, dialect: str
) -> None:
    for number, key in enumerate(MISSES):
        make_hook(workspace / "hooks", f"hook-{number}", f"{{openclaw: {{events: ['{key}']}}}}")
    make_hook(workspace / "hooks", "other", "{openclaw: {events: ['agent:bootstrap']}}")
    make_hook(workspace / "hooks", "strange", "{openclaw: {events: ['gateway:stratup']}}")
    bench = Workbench(Options(workspace=workspace, bundled=bundled, dialect=dialect))
    view = bench.scan()
    for number, (key, (event, said)) in enumerate(MISSES.items()):
        plan = json_documents.plan_document(bench.plan(view, bench.template(view, event)))
        left = {item["hook"]: item for item in plan["not_run"]}
        item = left[f"hook-{number}"]
        assert said in item.get("near", ""), (key, item)
        assert f"subscribes to {key}" in item["near"]
        assert "near" not in left.get("other", {})


def test_a_run_and_its_log_entry_name_near_misses(
    hookscope: Program, workspace: Path, make_hook: MakeHook, bundled: Path
) -> None:
    make_hook(workspace / "hooks", "good", "{openclaw: {events: ['command:new']}}")
    make_hook(
        workspace / "hooks", "slip", "{openclaw: {events: ['command:nwe'], requires: {env: [NO_SUCH]}}}"
    )
    make_hook(workspace / "hooks", "other", "{openclaw: {events: ['agent:bootstrap']}}")
    fired = hookscope("--bundled", str(bundled), "fire", "command:new", "--trust")
    assert "slip  not run: subscribes to command:nwe – no host sends that" in fired.out
    assert "NO_SUCH" in fired.out
    assert "1 other hook subscribes to other events" in fired.out
    (recorded,) = hookscope("log", "--json").json["runs"]
    near = {item["hook"]: item.get("near", "") for item in recorded["run"]["not_run"]}
    assert "write command:new to receive this" in near["slip"]
    assert near["other"] == ""


def test_near_misses_list_the_closest_first_without_taps_and_sent_events(
    workspace: Path, make_hook: MakeHook, bundled: Path
) -> None:
    heard = {"a": "command:reset", "b": "Command:New", "event-tap": "command:nwe", "d": "command:compact"}
    for name, key in heard.items():
        make_hook(workspace / "hooks", name, f"{{milady: {{events: ['{key}']}}}}")
    bench = Workbench(Options(workspace=workspace, bundled=bundled, dialect="milady"))
    view = bench.scan()

    def near(event: str) -> list[str]:
        left = json_documents.plan_document(bench.plan(view, bench.template(view, event)))["not_run"]
        return [item["hook"] for item in left if "near" in item]

    assert near("command:new") == ["b", "a", "d"]
    assert near("session:compact:before") == [], "command:compact is sent too, and is another event"


def test_plan_shows_six_near_misses_and_counts_the_rest(
    hookscope: Program, workspace: Path, make_hook: MakeHook, bundled: Path
) -> None:
    for number in range(9):
        make_hook(workspace / "hooks", f"slip-{number}", "{openclaw: {events: ['command:nwe']}}")
    planned = hookscope("--bundled", str(bundled), "plan", "command:new").out
    assert planned.count("write command:new to receive this") == 6
    assert "3 other hooks subscribe to other events" in planned


def test_only_reports_no_near_misses_of_other_hooks(
    workspace: Path, make_hook: MakeHook, bundled: Path
) -> None:
    heard = {"good": "command:new", "slip": "command:nwe", "case": "Command:New", "plugins": "message_sent"}
    for name, key in heard.items():
        make_hook(workspace / "hooks", name, f"{{openclaw: {{events: ['{key}']}}}}")
    bench = Workbench(Options(workspace=workspace, bundled=bundled, dialect="openclaw"))
    view = bench.scan()

    def near(only: str | None, event: str = "command:new") -> set[str]:
        plan = json_documents.plan_document(bench.plan(view, bench.template(view, event), only=only))
        return {item["hook"] for item in plan["not_run"] if item.get("near")}

    assert near(None) == {"slip", "case"}
    assert near("good") == set()
    assert near("slip") == {"slip"}
    assert near("case") == {"case"}
    assert near("plugins", "message:sent") == {"plugins"}


def test_plugin_events_are_not_near_misses_of_a_hook_named_by_only(
    workspace: Path, make_hook: MakeHook, bundled: Path
) -> None:
    make_hook(workspace / "hooks", "other", "{openclaw: {events: ['agent:bootstrap']}}")
    make_hook(workspace / "hooks", "slip", "{openclaw: {events: ['command:nwe']}}")
    bench = Workbench(Options(workspace=workspace, bundled=bundled, dialect="openclaw"))
    view = bench.scan()
    plan = json_documents.plan_document(bench.plan(view, bench.template(view, "command:new"), only="other"))
    assert [item["hook"] for item in plan["not_run"] if item.get("near")] == []


def test_a_folder_hook_is_never_called_for_an_event_of_plugins(
    workspace: Path, make_hook: MakeHook, bundled: Path
) -> None:
    make_hook(workspace / "hooks", "both", "{openclaw: {events: ['message_sent', 'message:sent']}}")
    bench = Workbench(Options(workspace=workspace, bundled=bundled, dialect="openclaw"), trust_all=True)
    view = bench.scan()

    def called(event: str) -> list[str]:
        return [call.name for call in bench.plan(view, bench.template(view, event)).calls]

    assert (called("message:sent"), called("message_sent")) == (["both"], [])


def test_only_reports_no_blocked_or_broken_other_hooks(
    workspace: Path, make_hook: MakeHook, bundled: Path
) -> None:
    new = "{openclaw: {events: ['command:new']}}"
    make_hook(workspace / "hooks", "good", new)
    make_hook(
        workspace / "hooks", "blocked", "{openclaw: {events: ['command:new'], requires: {env: [NO_SUCH]}}}"
    )
    (make_hook(workspace / "hooks", "empty", new) / "handler.py").unlink()
    bench = Workbench(Options(workspace=workspace, bundled=bundled, dialect="openclaw"), trust_all=True)
    view = bench.scan()

    def left(only: str | None) -> dict[str, str]:
        return {
            item.name: item.reason
            for item in bench.plan(view, bench.template(view, "command:new"), only=only).not_run
        }

    assert "NO_SUCH" in left(None)["blocked"]
    assert "no handler" in left(None)["empty"]
    assert left("good") == {"blocked": "skipped: only good was requested"}
    assert "NO_SUCH" in left("blocked")["blocked"]
    assert left("blocked")["good"] == "skipped: only blocked was requested"


def test_near_misses_follow_the_subscribers_and_omit_shadowed_hooks(
    workspace: Path, make_hook: MakeHook, bundled: Path
) -> None:
    make_hook(
        workspace / "hooks", "z-needy", "{openclaw: {events: ['command:new'], requires: {env: [NO_SUCH]}}}"
    )
    for folder in (bundled, workspace / "hooks"):
        make_hook(folder, "slip", "{openclaw: {events: ['command:nwe']}}")
    make_hook(workspace / "hooks", "other", "{openclaw: {events: ['agent:bootstrap']}}")
    bench = Workbench(Options(workspace=workspace, bundled=bundled, dialect="openclaw"), trust_all=True)
    view = bench.scan()
    left = bench.plan(view, bench.template(view, "command:new")).not_run
    assert [item.name for item in left][:2] == ["z-needy", "slip"]
    assert [item.hook.folder.source for item in left if item.near_miss and item.hook is not None] == [
        "workspace"
    ]
