"""What a run shows beside its outcomes: where the time went, the event at each step, and the source."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hookscope.authoring.testing.expectations import UnmetExpectation
from hookscope.authoring.testing.test_runs import SavedEventResult
from hookscope.console.panes.fire.composer import Composer
from hookscope.console.panes.fire.run_pane import RunPane
from hookscope.console.panes.fire.waterfall import Waterfall
from hookscope.model.failure import Failure, Frame
from hookscope.model.run import Code, Ending, Event, NotRun, Result, Run

Size = tuple[int, int]
FIVE_SIZES = [(80, 24), (100, 30), (120, 36), (160, 40), (200, 50)]
first_sender = ({"op": "replace", "path": "/context/senderId", "value": "grace"},)
second_sender = (
    {"op": "replace", "path": "/context/senderId", "value": "ada"},
    {"op": "add", "path": "/messages/-", "value": "Saved"},
    {"op": "add", "path": "/context/note", "value": "kept"},
)


def patched(result: Result) -> Result:
    return replace(result, patch=second_sender if result.call.name == "session-memory" else first_sender)


def slowly_started(result: Result) -> Result:
    """A worker that took 40 ms to start, a module that took 20 ms to load, a handler of no time at all."""
    if result.call.name == "session-memory":
        return replace(result, started=0.09, took=0.00003)
    return replace(result, started=0.06, loaded=0.02, took=0.03)


async def test_the_time_line_shows_worker_start_and_load_before_the_run(console: Any, size: Size) -> None:
    async with console(size=size) as c:
        await c.fired(1, slowly_started)
        await c.shows("░▒", "█ ✓ ok", "<0.1 ms", "░ wait 40.0 ms  ▒ load 20.0 ms  █ run 30.0 ms")
        c.pane.query_one(Waterfall).focus()
        await c.press("down", "down")
        await c.shows("command-logger  ░ 40.0 ms   ▒ 20.0 ms   █ 30.0 ms")


async def test_the_time_line_marks_the_times_of_the_last_five_runs(console: Any) -> None:
    async with console((120, 36)) as c:
        for number, took in enumerate((0.002, 0.004, 0.006, 0.008, 0.012, 0.014), 1):
            await c.fired(number, lambda result, took=took: replace(result, took=took))
        await c.fired(7, lambda result: replace(result, took=0.01))
        (line,) = [line for line in c.screen.splitlines() if "1  command-logger" in line and "ok" in line]
        assert line.count("┊") == 5, "the oldest of six is no longer marked"


async def test_earlier_times_are_those_of_the_same_handler(console: Any) -> None:
    async with console((120, 36)) as c:
        plan = c.pane.run_view.plan
        twins = tuple(replace(call, name="twin") for call in plan.calls)
        for number in (1, 2):
            c.pane.run_view.firing_started(
                number, replace(plan, groups=(replace(plan.groups[0], calls=twins),))
            )
            times = zip(twins, (0.02, 0.04), strict=True)
            results = tuple(Result(call, "ok", took=took) for call, took in times)
            c.pane.run_view.firing_ended(number, Run(number, plan.event, results, (), Ending(), took=0.04))
        rows = c.pane.run_view.runs.current.rows
        assert [row.past for row in rows] == [(0.02,), (0.04,)]


async def test_the_row_with_content_is_selected_unless_another_hook_was_fired(console: Any) -> None:
    def second(result: Result) -> Result:
        return replace(result, messages=("Hi",)) if result.call.name == "session-memory" else result

    async with console((120, 36)) as c:
        await c.fired(1, second)
        await c.shows("▸ 2  session-memory", "[Messages 1]", "Hi")
        c.pane.event_view.compose_event("command:new", None, "command-logger")
        await c.settle()
        await c.fired(2, second)
        await c.shows("Run 2", "▸ 1  command-logger")


async def test_follow_up_events_start_where_their_parent_ended(console: Any) -> None:
    async with console((120, 36)) as c:
        plan = c.pane.run_view.plan
        second = Run(
            9, Event("turn", "failed"), (Result(plan.calls[0], "ok", 0.0, 0.01),), (), Ending(), took=0.01
        )
        await c.fired(1, caused=(second,), took=0.04)
        (line,) = [line for line in c.screen.splitlines() if "↳ turn:failed" in line and "ok" in line]
        bar = line[line.index("command-logger") :].partition("✓")[0]
        assert bar.index("█") > len(bar) // 2, "it does not start at 0"


async def test_follow_up_events_have_marks_of_earlier_runs_too(console: Any) -> None:
    async with console((120, 36)) as c:
        call = c.pane.run_view.plan.calls[0]
        for number, took in ((1, 0.02), (2, 0.03), (3, 0.04)):
            result = Result(call, "ok", 0.0, took)
            second = Run(9, Event("turn", "failed"), (result,), (), Ending(), took=took)
            await c.fired(number, caused=(second,), took=0.06)
        own, *_, followed = c.pane.run_view.runs.current.rows
        assert followed.past == (0.03, 0.02)
        assert own.past == (0.01, 0.01), "of the same handler on the run's own event"
        (line,) = [line for line in c.screen.splitlines() if "↳ turn:failed" in line and "ok" in line]
        assert line.count("┊") == 2


async def test_stepping_starts_at_an_end_of_the_run_if_no_handler_is_selected(console: Any) -> None:
    async with console((120, 36)) as c:
        await c.fired(1, patched)
        c.pane.query_one(Waterfall).focus()
        await c.press("end", "right_curly_bracket")
        await c.shows("after command-logger, 1 of 2")
        await c.press("end", "left_curly_bracket")
        await c.shows("after session-memory, 2 of 2")


async def test_stepping_shows_the_event_after_each_handler(console: Any, size: Size) -> None:
    async with console(size=size) as c:
        await c.fired(1, patched)
        pane = c.pane.query_one(RunPane)
        c.pane.query_one(Waterfall).focus()
        await c.press("left", "right_curly_bracket")  # from another tab it opens the context
        await c.shows("○─●─○", "after command-logger, 1 of 2", '~ senderId  "dev" → "grace"')
        assert '-     "senderId": "dev"' in pane.copied_text()
        assert '+     "senderId": "grace"' in pane.copied_text()
        await c.press("right_curly_bracket")
        await c.shows("○─○─●", "after session-memory, 2 of 2", '+ note      "kept"')
        assert '-     "senderId": "grace"' in pane.copied_text(), "as the first handler left it"
        assert '+     "note": "kept"' in pane.copied_text()
        assert '+     "Saved"' in pane.copied_text()
        assert "files: recorded only on copies" in pane.copied_text()
        await c.press("right_curly_bracket")
        await c.shows("This was the last handler.")
        await c.press("left_curly_bracket", "left_curly_bracket")
        await c.shows("●─○─○", "as fired")
        assert '      "senderId": "dev"' in pane.copied_text()
        assert "kept" not in pane.copied_text()
        await c.press("down")
        await c.shows("after session-memory, 2 of 2")


async def test_settings_are_not_shown_in_the_event_of_a_step(console: Any, view: Any) -> None:
    host = replace(view.host, settings=replace(view.host.settings, value={"botToken": "hunter2"}))
    async with console((120, 36), view=replace(view, host=host)) as c:
        await c.fired(1, patched)
        c.pane.query_one(Waterfall).focus()
        await c.press("right_curly_bracket")
        assert '"cfg": "not shown"' in c.pane.query_one(RunPane).copied_text()
        assert "hunter2" not in c.pane.query_one(RunPane).copied_text()


def missing_key(result: Result) -> Result:
    if result.call.name != "session-memory":
        return result
    assert isinstance(result.call.target, Code)
    frame = Frame(
        str(result.call.target.path), 5, "handler", "    root = event.context['workspaceDirectory']"
    )
    return replace(result, status="error", error=Failure("KeyError", "'workspaceDirectory'", (frame,)))


async def test_the_source_shows_the_failed_line_and_the_values_of_the_run(console: Any) -> None:
    async with console((80, 24)) as c:
        await c.fired(1, missing_key)
        c.pane.query_one(Waterfall).focus()
        await c.press("z", "left", "left")
        await c.shows("[Source]", "❱ 5 │", "workspaceDirectory is missing", "6 │     json.dumps(root)")


async def test_a_wide_run_shows_the_source_beside_the_open_tab(console: Any) -> None:
    async with console((120, 36)) as c:
        await c.fired(1, missing_key)
        await c.shows("[Error]", "KeyError", "❱ 5 │", "workspaceDirectory is missing", "Timing")
        assert "Source  Timing" not in c.screen, "what is beside needs no tab"
        assert c.screen.count("❱ 5 │") == 1, "the line is shown once"
        row = next(row for row in c.pane.run_view.runs.current.rows if row.name == "session-memory")
        row.call.target.path.write_text("# a new first line\n" * 9)
        await c.fired(2, missing_key)
        await c.shows("The file has changed since")
        assert "is missing" not in c.screen


async def test_the_first_tab_with_content_opens(console: Any, size: Size) -> None:
    async with console(size=size) as c:
        await c.fired(1, lambda result: replace(result, stdout="reading\n"))
        await c.shows("[Output 1]", "out │ reading")
        await c.fired(2, patched)
        await c.shows("[Context ±1]")
        await c.fired(3, lambda result: replace(result, messages=("Saved",)))
        await c.shows("[Messages 1]", "Saved")


async def test_the_tab_follows_to_a_row_without_content_and_back(console: Any) -> None:
    def ran(result: Result) -> Result:
        return (
            missing_key(result) if result.call.name == "session-memory" else replace(result, messages=("Hi",))
        )

    async with console((120, 36)) as c:
        await c.fired(1, ran)
        await c.shows("[Error]", "KeyError")
        c.pane.query_one(Waterfall).focus()
        await c.press("home")
        await c.shows("[Messages 1]", "Hi")
        await c.press("down")
        await c.shows("[Error]", "KeyError")
        await c.press(
            "home", "right", "right", "down", "home"
        )  # a tab that is opened is kept where it has content
        await c.shows("[Messages 1]")


@pytest.mark.parametrize("size", [(80, 24), (99, 40), (160, 40)], ids=str)
async def test_source_lines_are_cut_and_wrapped_lines_keep_their_bar(console: Any, size: Size) -> None:
    long = "the words of a long message " * 8

    def ran(result: Result) -> Result:
        if result.call.name != "session-memory":
            return replace(result, messages=(long,))
        assert isinstance(result.call.target, Code)
        source = f"    root = event.context['workspaceDirectory'], {'one, ' * 60}two"
        lines = result.call.target.path.read_text().split("\n")
        result.call.target.path.write_text("\n".join([*lines[:4], source, *lines[5:]]))
        frame = Frame(str(result.call.target.path), 5, "handler", source.strip())
        error = Failure("KeyError", "'workspaceDirectory'", (frame,))
        return replace(result, status="error", error=error)

    async with console(size) as c:
        await c.fired(1, ran)
        screen = await c.shows("❱ 5 │", "one, ", "…")
        assert "two" not in screen, "the line is cut, not wrapped"
        c.pane.query_one(Waterfall).focus()
        await c.press("home")
        screen = await c.shows("│ the words of a long")
        wrapped = [line for line in screen.split("\n") if "of a long" in line or "message the" in line]
        assert len(wrapped) > 1
        assert len({line.index("│ ", 2) for line in wrapped}) == 1


async def test_names_of_hooks_that_did_not_run_are_shown_in_full(console: Any, size: Size) -> None:
    async with console(size=size) as c:
        run = await c.fired(1)
        c.pane.run_view.firing_started(2, c.pane.run_view.plan)
        off = NotRun("deployment-notes", "switched off", None)
        c.pane.run_view.firing_ended(2, replace(run, id=2, not_run=(off,)))
        await c.settle()
        c.pane.query_one(Waterfall).action_last()
        await c.shows("–  deployment-notes switched off")


async def test_enter_on_a_handler_that_ran_goes_to_its_result_and_escape_back(console: Any) -> None:
    async with console((80, 24)) as c:
        await c.fired(1, lambda result: replace(result, stdout="first\n" + "line\n" * 40 + "last\n"))
        c.pane.query_one(Waterfall).focus()
        await c.settle()
        await c.shows("out │ first", "enter read")
        await c.press("enter", "end")
        await c.shows("out │ last", "esc back")
        assert c.pane.query_one(RunPane).row.name == "command-logger", "the rows have not moved"
        await c.press("escape", "down")
        await c.shows("▸ 2  session-memory", "enter read")


async def test_the_line_of_folded_hooks_lists_them_with_their_reasons(console: Any) -> None:
    async with console((120, 36)) as c:
        many = tuple(NotRun(f"left-{number}", f"switched off {number}", None) for number in range(9))
        run = await c.fired(1)
        c.pane.run_view.firing_started(2, c.pane.run_view.plan)
        c.pane.run_view.firing_ended(2, replace(run, id=2, not_run=many))
        await c.settle()
        assert "switched off" not in c.screen
        c.pane.query_one(Waterfall).focus()
        await c.press("end")
        await c.shows("▸ –  . lists", "left-0  switched off 0", "left-8  switched off 8")


async def test_the_verdict_is_in_the_title_at_every_width(console: Any, size: Size) -> None:
    async with console(size=size) as c:
        run = await c.fired(1, took=0.5)
        for name, shown in (
            ("a.yaml", "✗ 1 differs from a.yaml   500 ms"),
            (f"{'a' * 30}.yaml", "✗ 1 differs"),
        ):
            miss = UnmetExpectation("errors", 1, 0)
            c.pane.run_view.compared(1, SavedEventResult(Path(name), run, (miss,)))
            await c.settle()
            (title,) = [line for line in c.screen.splitlines() if "Run 1" in line]
            assert shown in title
            assert "…" not in title


async def test_the_plan_names_only_keys_other_than_that_of_the_event(console: Any) -> None:
    async with console((120, 36)) as c:
        screen = await c.shows("command-logger/handler.py")
        rows = {word: line for line in screen.splitlines() for word in line.split() if "/handler.py" in word}
        assert "command-logger  command  command-logger/" in rows["command-logger/handler.py"]
        assert "command:new" not in rows["session-memory/handler.py"]


async def test_enter_on_a_hook_that_did_not_run_asks_why(console: Any) -> None:
    async with console((120, 36)) as c:
        await c.fired(1)
        c.pane.query_one(Waterfall).focus()
        await c.press("down", "down")
        await c.shows("slack-post did not run", "enter why")
        await c.press("enter")
        assert c.app.whys == ["slack-post"]


@pytest.mark.parametrize("size", FIVE_SIZES, ids=str)
async def test_the_event_has_the_space_until_there_is_a_run(console: Any, size: Size) -> None:
    async with console(size=size) as c:
        await c.shows('"workspaceDir"', "1  command-logger", "2 others subscribe to other events")
        if size != FIVE_SIZES[0]:  # there the plan is shown with the event
            await c.shows("Nothing was fired yet. Press ^r to fire the event.")
        before = c.pane.query_one(Composer).size.height
        run = await c.fired(1, missing_key)
        pane = c.pane.query_one(RunPane)
        assert pane.size.height > c.pane.query_one(Composer).size.height
        assert c.pane.query_one(Composer).size.height < before
        many = tuple(NotRun(f"left-{number}", "switched off", None) for number in range(4))
        ended = replace(run, id=2, not_run=many)
        c.pane.run_view.firing_started(2, c.pane.run_view.plan)
        c.pane.run_view.firing_ended(2, ended)
        await c.shows("Run 2", *(["left-0", "left-3"] if size[1] > 30 else ["KeyError"]))
