"""What somebody does in the fire pane, at three sizes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.drawing import drawn

from hookscope.console.panes.fire.composer import Composer
from hookscope.console.panes.fire.context_editor import JsonEditor
from hookscope.console.panes.fire.event_draft import template_draft
from hookscope.console.panes.fire.run_pane import RunPane
from hookscope.console.panes.fire.waterfall import Waterfall
from hookscope.console.state import fire_requests, messages
from hookscope.model.failure import Failure, Frame
from hookscope.model.run import Code, Ending, NotRun, Result, Run, Started

Size = tuple[int, int]


def failing(result: Result) -> Result:
    if result.call.name != "session-memory":
        return replace(result, messages=("Saved.",), stdout="a\nb\n")
    assert isinstance(result.call.target, Code)
    frame = Frame(
        str(result.call.target.path), 5, "handler", "    root = event.context['workspaceDirectory']"
    )
    return replace(result, status="error", error=Failure("KeyError", "'workspaceDirectory'", (frame,)))


async def test_the_plan_shows_which_hooks_would_run(console: Any, size: Size) -> None:
    async with console(size=size) as c:
        await c.shows(
            "2 would run · 1 would not", "command-logger", "session-memory", "slack-post", "NO_TOKEN"
        )
        await c.shows("2 others subscribe to other events", "messages: delivered")


async def test_an_event_is_fired_with_one_key(console: Any, size: Size) -> None:
    async with console(size=size) as c:
        await c.press("ctrl+r")
        told = c.last(fire_requests.FireRequested).asked
        assert told.event.key == "command:new"
        assert told.event.context["commandSource"] == "telegram"
        assert told.only is None


async def test_invalid_json_does_not_fire_and_is_explained(console: Any, size: Size) -> None:
    async with console(size=size) as c:
        await c.press("tab", "tab", "comma", "f5")
        await c.shows("line 1, column 1: Expecting value", "Not fired", "no plan until the event is valid")
        assert not any(isinstance(message, fire_requests.FireRequested) for message in c.app.asked)
        assert c.last(fire_requests.DraftChanged).event is None


async def test_the_field_under_the_cursor_is_explained(console: Any) -> None:
    async with console() as c:
        await c.press("tab", "tab", "down", "down")
        await c.shows("commandSource: where it came from")


async def test_an_error_opens_its_tab_with_the_source_line(console: Any, size: Size) -> None:
    async with console(size=size) as c:
        log = Ending()
        await c.fired(7, failing, delivers=True, ending=log)
        await c.shows("Run 7", "✗ 1 of 2 failed", "[Error]", "KeyError: 'workspaceDirectory'", "❱ 5 │")
        await c.shows("session-memory/handler.py:5  in handler", "E open line 5")
        c.pane.query_one(Waterfall).focus()
        await c.press("E")
        told = c.last(messages.EditorRequested).place
        assert (told.file.name, told.line) == ("handler.py", 5)
        assert told.file.parent.name == "session-memory"


async def test_only_a_handlers_own_errors_list_the_context_fields(console: Any) -> None:
    late = Failure("Timeout", "did not answer within 1 s and was stopped")
    async with console((120, 36)) as c:
        await c.fired(1, failing)
        await c.shows("KeyError", "context had")
        await c.fired(2, lambda result: replace(result, status="timeout", error=late))
        assert "context had" not in await c.shows("did not answer within 1 s")


async def test_after_a_success_the_messages_tab_stays_open(console: Any, size: Size) -> None:
    async with console(size=size) as c:
        await c.fired(1, lambda result: replace(result, messages=("Saved [/] 14 turns",)), delivers=True)
        await c.shows("✓ 2 handlers ran", "[Messages 1]", "✓ delivered", "Saved [/] 14 turns")


async def test_tabs_can_be_switched_and_copied(console: Any) -> None:
    patch = ({"op": "replace", "path": "/context/senderId", "value": "someone"},)
    async with console((120, 36)) as c:
        await c.fired(1, lambda result: replace(result, stdout="one\n", stderr="two\n", patch=patch))
        c.pane.query_one(Waterfall).focus()
        await c.shows("[Output 2]", "out │ one", "err │ two")
        await c.press("right")
        await c.shows("[Context ±1]", '~ senderId  "dev" → "someone"', "shared with 1 later handler")
        await c.press("y")
        assert '"dev" → "someone"' in c.app.copied
        await c.press("down")
        await c.shows('~ senderId  "someone" → "someone"', "no later handler sees this")
        await c.press("right")
        await c.shows("[Timing]", "whole run")


async def test_planned_rows_appear_at_once_and_fill_in(console: Any, size: Size) -> None:
    async with console(size=size) as c:
        c.pane.run_view.firing_started(3, (plan := c.pane.run_view.plan))
        await c.shows("Run 3", "» 0 of 2 done", "· waiting")
        c.pane.run_view.step(3, Started(plan.calls[0], 0.001))
        await c.shows("» running", "▓")
        c.pane.run_view.step(3, Result(plan.calls[0], "ok", 0.001, 0.02))
        await c.shows("» 1 of 2 done", "✓ ok")
        assert c.pane.run_view._frame is not None
        c.pane.run_view.firing_ended(
            3, Run(3, plan.event, (Result(plan.calls[0], "ok"),), (), Ending(), cancelled=True)
        )
        await c.shows("⊘ cancelled, 1 of 2 ran", "the run ended first", "– not run")
        assert c.pane.run_view._frame is None, "no timer runs when nothing does"


async def test_a_flood_of_steps_is_drawn_once(console: Any) -> None:
    async with console() as c:
        plan = c.pane.run_view.plan
        c.pane.run_view.firing_started(1, plan)
        for number in range(10_000):
            c.pane.run_view.step(1, Started(plan.calls[number % 2], number / 1000))
        c.pane.run_view.step(1, Result(plan.calls[1], "ok", 0.1, 0.2))
        await c.shows("» 1 of 2 done")
        sheet = c.pane.run_view.runs.current
        assert sheet.rows[0].started == 9.998


async def test_a_running_run_is_cancelled_before_another_fire(console: Any) -> None:
    async with console() as c:
        c.pane.run_view.firing_started(4, c.pane.run_view.plan)
        await c.press("ctrl+r")
        await c.shows("Run 4 is still running")
        await c.press("escape")
        assert c.last(messages.CommandRequested).command == "cancel"


async def test_a_fire_that_cannot_start_is_reported(console: Any) -> None:
    async with console((120, 36)) as c:
        c.pane.run_view.firing_started(4, c.pane.run_view.plan)
        c.pane.run_view.firing_ended(4, None, "the worker is gone [/]")
        await c.shows("✗ failed to start", "the worker is gone [/]")
        assert c.pane.run_view._frame is None


async def test_brackets_go_to_older_and_newer_runs(console: Any) -> None:
    async with console((120, 36)) as c:
        for number in (1, 2, 3):
            await c.fired(number)
        c.pane.query_one(Waterfall).focus()
        await c.press("left_square_bracket")
        await c.shows("Run 2", "[ run 1", "] run 3")
        await c.press("right_square_bracket", "right_square_bracket")
        await c.shows("Run 3", "This is the newest run.")
        await c.press("r")
        assert c.last(fire_requests.FireRequested).asked.event.key == "command:new"


async def test_the_pane_keeps_fifty_runs(console: Any) -> None:
    async with console() as c:
        for number in range(1, 61):
            c.pane.run_view.firing_started(number, c.pane.run_view.plan)
            c.pane.run_view.firing_ended(number, Run(number, c.pane.run_view.plan.event, (), (), Ending()))
        assert [sheet.number for sheet in c.pane.run_view.runs.sheets] == list(range(11, 61))
        assert not c.pane.run_view.show_run(3)
        assert c.pane.run_view.show_run(12)


async def test_firing_at_one_hook_is_shown_and_can_be_undone(console: Any, size: Size) -> None:
    async with console(size=size, only="session-memory") as c:
        await c.shows("only at session-memory")
        await c.press("ctrl+r")
        assert c.last(fire_requests.FireRequested).asked.only == "session-memory"
        await c.press("a")
        assert "only at" not in c.screen
        assert c.last(fire_requests.DraftChanged).only is None


async def test_firing_untrusted_hooks_asks_for_trust(console: Any, untrusted: Any, size: Size) -> None:
    async with console(size=size, view=untrusted) as c:
        await c.shows("nothing would run", "◇", "untrusted   press t to trust")
        c.pane.query_one("#fire-plan").focus()
        await c.press("t")
        (target,) = c.last(messages.TrustRequested).folders
        assert target.folder.name == "hooks"


async def test_other_hooks_can_be_unfolded(console: Any, size: Size) -> None:
    async with console(size=size) as c:
        c.pane.query_one("#fire-plan").focus()
        await c.press("full_stop")
        await c.shows("greet", "subscribes to gateway:startup")


async def test_an_event_is_picked_by_typing(console: Any, size: Size) -> None:
    async with console(size=size) as c:
        await c.press("ctrl+@")
        await c.shows("Which event?", "250 ms after the gateway has started")
        await c.press(*"boot", "enter")
        await c.shows("agent:bootstrap ▾", "workspaceDir", "messages: ignored by this host")


async def test_unknown_field_suggests_the_closest_match(console: Any) -> None:
    async with console((120, 36)) as c:
        c.pane.query_one(Composer).rekey("command:new")
        c.pane.query_one(JsonEditor).text = '{"senderID": "dev"}'
        await c.shows("senderID is not a known field; did you mean", "senderId?")
        await c.press("ctrl+r")
        assert c.last(fire_requests.FireRequested).asked.event.context["senderID"] == "dev"


async def test_a_custom_event_key_is_accepted_with_a_warning(console: Any, size: Size) -> None:
    async with console(size=size) as c:
        await c.press("ctrl+@", *"message:recieved", "enter")
        await c.shows("did you mean message:received?", "nothing would run: no hook subscribes to")
        await c.press("ctrl+r")
        assert c.last(fire_requests.FireRequested).asked.event.key == "message:recieved"


async def test_a_hand_written_context_survives_a_change_of_event(console: Any) -> None:
    async with console((120, 36)) as c:
        c.pane.query_one(JsonEditor).text = '{"mine": 1}'
        await c.settle()
        c.pane.query_one(Composer).rekey("command:stop")
        await c.shows('"mine"', "command:stop ▾", "Your context was kept")
        await c.press("ctrl+t")
        assert '"mine"' not in c.screen


async def test_an_untouched_ctx_follows_the_chosen_event(console: Any) -> None:
    async with console(key="before_tool_call") as c:
        composer = c.pane.query_one(Composer)
        c.pane.query_one(JsonEditor).text = '{"mine": 1}'
        await c.settle()
        for key in ("message_sending", "session_start"):
            composer.rekey(key)
            await c.settle()
            assert composer.draft.text == '{"mine": 1}'
            assert composer.draft.ctx_text == template_draft(key, c.app.look).ctx_text


async def test_long_settings_are_not_shown_in_the_context(console: Any, view: Any) -> None:
    settings = {f"key{number}": "x" * 60 for number in range(12)}
    host = replace(view.host, settings=replace(view.host.settings, value=settings))
    async with console((120, 36), view=replace(view, host=host)) as c:
        await c.shows("cfg: current settings (12 keys)")
        assert '"cfg"' not in c.screen
        await c.press("ctrl+r")
        assert c.last(fire_requests.FireRequested).asked.event.context["cfg"] == settings
        await c.press("ctrl+t")
        assert "cfg" not in json.loads(c.pane.query_one(JsonEditor).text)


async def test_parts_of_the_pane_zoom_and_return(console: Any) -> None:
    async with console((120, 36)) as c:
        await c.fired(1)
        c.pane.query_one(Waterfall).focus()
        await c.press("z")
        assert not c.pane.query_one(Composer).region
        assert c.pane.query_one(RunPane).size.height > 30
        await c.press("escape")
        assert c.pane.query_one(Composer).region


async def test_hooks_that_did_not_run_are_listed_below(console: Any, size: Size) -> None:
    async with console(size=size) as c:
        await c.fired(1)
        c.pane.query_one(Waterfall).focus()
        await c.press("end", "up")
        await c.shows("slack-post", "Env missing: NO_TOKEN")


async def test_a_call_that_did_not_run_says_why(console: Any) -> None:
    async with console((120, 36)) as c:
        plan = c.pane.run_view.plan
        left = NotRun("session-memory", "an earlier handler stopped the event", plan.calls[1].hook)
        c.pane.run_view.firing_started(1, plan)
        c.pane.run_view.firing_ended(1, Run(1, plan.event, (Result(plan.calls[0], "ok"),), (left,), Ending()))
        await c.shows("an earlier handler stopped the event", "– not run", "✓ 1 handler ran")


async def test_a_key_that_cannot_act_explains_why(console: Any) -> None:
    async with console((120, 36)) as c:
        c.pane.query_one(Waterfall).focus()
        for key in ("r", "y", "left_square_bracket", "right_square_bracket", "E", "right"):
            await c.press(key)
            assert c.app._notifications, f"{key} was answered with silence"
            c.app.clear_notifications()


@pytest.mark.parametrize("size", [(60, 13), (40, 8), (100, 10), (240, 70), (12, 4)])
async def test_the_pane_survives_odd_sizes(console: Any, size: Size) -> None:
    async with console(size=size) as c:
        await c.fired(1, failing)
        await c.pilot.resize_terminal(81, 25)
        await c.shows("Run 1")


async def test_each_key_has_an_id_a_label_and_a_tooltip(console: Any) -> None:
    async with console() as c:
        parts = [c.pane, *c.pane.walk_children()]
        own = {
            kind for part in parts for kind in type(part).__mro__ if kind.__module__.startswith("hookscope.")
        }
        bindings = [binding for kind in own for binding in kind.__dict__.get("BINDINGS", ())]
        assert bindings
        assert all(binding.id and binding.description and binding.tooltip for binding in bindings)


async def test_the_cursor_line_keeps_syntax_colours(console: Any) -> None:
    async with console((120, 36)) as c:
        c.pane.query_one(JsonEditor).text = '{\n  "senderId": "ada"\n}'
        await c.settle()

        def colours() -> set[Any]:
            [strip] = [strip for strip in drawn(c.app) if '"senderId": "ada"' in strip.text]
            return {part.style.color for part in strip if part.text in ('"senderId"', '"ada"') and part.style}

        plain = colours()
        assert len(plain) == 2
        c.pane.query_one(JsonEditor).focus()
        c.pane.query_one(JsonEditor).move_cursor((1, 0))
        await c.settle()
        assert colours() == plain
