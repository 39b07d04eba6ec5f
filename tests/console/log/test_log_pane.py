"""What somebody does in the log."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from hookscope.console.panes.log_lines import entry_line
from hookscope.console.panes.log_view import LogView
from hookscope.console.state.log_entries import LogEntry
from hookscope.model.text import one_line, printable

NOW = datetime(2026, 11, 20, 12, 4, 31, 202_000, tzinfo=UTC)
SIZES = [(80, 24), (120, 36), (200, 50)]
HOSTILE = [
    "[/foo]",
    '{"a": [true, false]}',
    "[#ff0]x",
    "[/",
    "[@click=app.quit]X[/]",
    "a[\nb",
    "\x1b[2Jgone",
    "a\u202egnp.exe\u202c",
    "a\udc80b",
    "日本語",
    "a\tb",
    "M" * 1_000_000,
    "",
]


def entries(count: int, start: int = 0, **more: Any) -> list[LogEntry]:
    return [LogEntry(NOW, "fire", f"hook-{n}", f"text {n}", **more) for n in range(start, start + count)]


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_the_log_follows_the_newest_entry(log: Any, size: tuple[int, int]) -> None:
    async with log(size) as c:
        c.pane.add(entries(100))
        await c.shows("text 99", "Log 100")
        c.pane.add(entries(100, 100))
        await c.shows("text 199")


async def test_the_lines_being_read_stay_in_place(log: Any) -> None:
    async with log() as c:
        c.pane.ring.kept = 100
        c.pane.add(entries(100))
        await c.shows("text 99")
        await c.press("up", "up", "up", "up", "up", *["up"] * 30)
        await c.shows("▸ 12:04:31", "text 64", "G follow")
        row = next(number for number, line in enumerate(c.screen.split("\n")) if "text 64 " in line + " ")
        c.pane.add(entries(50, 100))
        await c.shows("text 64")
        assert "text 64" in c.screen.split("\n")[row]
        assert c.pane.query_one(LogView).entry.text == "text 64"
        await c.press("G")
        await c.shows("text 149")


async def test_a_paused_log_still_collects_entries(log: Any) -> None:
    async with log() as c:
        c.pane.ring.kept = 50
        c.pane.add(entries(50))
        await c.shows("text 49")
        await c.press("space")
        c.pane.add(entries(214, 50))
        await c.shows("‖ paused, 214 new", "text 49")
        assert len(c.pane.ring) == 50
        await c.press("space")
        await c.shows("text 263")
        assert "‖" not in c.screen


async def test_a_log_filter_narrows_and_is_cleared(log: Any) -> None:
    async with log() as c:
        c.pane.add([*entries(30), *entries(2, 500, level="error")])
        await c.press("slash", *"level:error")
        await c.shows("Log 2 of 32", "text 500", "text 501")
        assert "text 29" not in c.screen
        c.pane.add(entries(1, 700, level="error"))
        await c.shows("Log 3 of 33", "text 700")
        await c.press(*"no")
        await c.shows("Log 0 of 33", "No entry matches the filter. Press esc to clear it.")
        await c.press("enter", "escape")
        await c.shows("Log 33", "text 29")
        await c.press("slash")
        await c.shows("↑ level:errorno")
        await c.press("up", "backspace", "backspace")
        await c.shows("Log 3 of 33", "text 700")


async def test_a_wide_log_names_levels_and_every_log_marks_them(log: Any) -> None:
    for size, shown, real in (
        ((160, 40), "✗ error  fire", "info   ≈ real"),
        ((120, 36), "✗ error  fire", "info   ≈ real"),
        ((100, 30), "✗ fire", "≈ real"),
        ((80, 24), "✗ fire", "≈ real"),
    ):
        async with log(size) as c:
            c.pane.add([LogEntry(NOW, "fire", "first", "it broke", "error")])
            c.pane.add([LogEntry(NOW, "real", "first", "it came", real="ab")])
            await c.shows(shown, "it broke", real, "it came")


async def test_short_subjects_leave_their_room_to_the_text(log: Any) -> None:
    async with log((80, 24)) as c:
        c.pane.add([LogEntry(NOW, "scan", "12 hooks", "9 ready, 1 blocked, 1 shadowed, 1 silent")])
        await c.shows("12 hooks    9 ready, 1 blocked, 1 shadowed, 1 silent")
        c.pane.add([LogEntry(NOW, "real", "session:compact:before", "it came", real="ab")])
        await c.shows("session:compact:before  it came", "12 hooks                9 ready")
        c.pane.add([LogEntry(NOW, "step", "metrics-exporter-for-customers-10", "it ran")])
        await c.shows("metrics-ex…ustomers-10  it ran")


async def test_details_need_an_entry_that_has_some(log: Any) -> None:
    async with log((120, 36)) as c:
        c.pane.add(entries(1))
        await c.shows("text 0")
        assert c.screen.count("text 0") == 1
        c.pane.add([LogEntry(NOW, "real", "command:new", "it came", real="ab")])
        await c.shows("≈ real", "real · info · ")
        await c.press("slash", *"zzz")
        await c.shows("No entry matches the filter")
        assert "─" * 100 not in "\n".join(c.screen.split("\n")[1:-2])


async def test_chips_filter_by_event_hook_outcome_and_origin(log: Any) -> None:
    def run(number: int, event: str, hook: str, level: str) -> list[LogEntry]:
        named: dict[str, Any] = {"run": number, "event": event, "hooks": (hook,)}
        return [
            LogEntry(NOW, "step", hook, f"step {number}", level, **named),
            LogEntry(NOW, "run", event, f"run {number} ended", level, **named),
        ]

    async with log((120, 36)) as c:
        c.pane.add([*run(1, "command:new", "greet", "error"), *run(2, "command:new", "guard", "info")])
        c.pane.add([*run(3, "message:sent", "greet", "info")])
        c.pane.add([LogEntry(NOW, "real", "command:new", "heard it", real="ab", event="command:new")])
        await c.shows("5 event all", "8 from all", "run 3 ended", "heard it")
        await c.press("5")
        await c.shows("5 event command:new", "run 2 ended", "heard it")
        await c.hides("run 3 ended")
        await c.press("8", "8")
        await c.shows("8 from fired", "run 1 ended", "run ▸")
        await c.hides("heard it")
        await c.press("7")
        await c.shows("7 outcome failed", "run 1 ended")
        await c.hides("run 2 ended")
        await c.press("right")
        await c.shows("run ▾", "step 1")
        await c.press("7", "slash", *"guard", "enter")  # with a typed filter, which also finds handlers
        await c.shows("7 outcome ok", "step 2")
        await c.hides("run 1 ended")
        await c.press("escape")
        await c.shows("5 event all", "run 3 ended", "heard it")
        await c.pilot.click("#chips", offset=(20, 0))
        await c.shows("This entry has no hook. Select a run")
        await c.press("up")
        await c.pilot.click("#chips", offset=(20, 0))
        await c.shows("6 hook greet", "run 1 ended", "run 3 ended")
        await c.hides("run 2 ended")


async def test_enter_opens_the_run_of_an_entry(log: Any) -> None:
    async with log() as c:
        c.pane.add([*entries(1), *entries(1, 1, run=7)])
        await c.shows("text 1")
        await c.press("enter")
        assert c.app.runs == [7]
        await c.press("up", "enter")
        await c.shows("has no run")
        await c.press("y")
        assert "text 0" in c.app.copied


@pytest.mark.thorough
async def test_hostile_log_entries_are_shown_literally(log: Any) -> None:
    async with log((120, 36)) as c:
        for text in HOSTILE:
            c.pane.add([LogEntry(NOW, text, text, text, text, 1)])
            await c.shows(one_line(printable(text[:50]).replace("\t", " "))[:6])
            await c.press("slash", *"[/", "escape", "y", "space", "enter", "space")
            assert c.app.is_running
            assert "\x1b" not in c.screen + c.app.copied
            assert "\u202e" not in c.screen


async def test_keys_respond_during_a_flood_of_entries(log: Any) -> None:
    """10,000 entries come in a second; none is drawn one by one, and none is lost."""
    async with log() as c:
        flood = entries(10_000)
        for start in range(0, 10_000, 10):
            c.pane.add(flood[start : start + 10])
        await c.shows("text 9999")
        assert len(c.pane.ring) == 10_000
        assert c.pane._frame is None, "no timer runs when nothing comes"


def run_entries(number: int) -> list[LogEntry]:
    """Return the entries of a run with two handlers."""
    return [
        LogEntry(NOW, "fire", "command:new", f"run {number} → 2 handlers", run=number),
        LogEntry(NOW, "step", f"first-{number}", "✓ ok", run=number),
        LogEntry(NOW, "step", f"second-{number}", "✓ ok", run=number),
        LogEntry(NOW, "run", "command:new", f"run {number} ✓ 2 ok", run=number),
    ]


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_a_finished_run_is_one_row_that_unfolds(log: Any, size: tuple[int, int]) -> None:
    async with log(size) as c:
        *parts, end = run_entries(1)
        c.pane.add(parts)
        await c.shows("run 1 → 2 handlers", "first-1", "second-1")
        c.pane.add([*entries(1), end])
        await c.shows("run ▸", "run 1 ✓ 2 ok")
        await c.hides("first-1", "second-1", "run 1 → 2 handlers")
        c.pane.add(run_entries(2))
        await c.shows("run 2 ✓ 2 ok")
        await c.press("up", "up", "right")
        await c.shows("run ▾", "first-1", "second-1")
        below = [c.screen.find(text) for text in ("run 1 ✓", "first-1", "second-1", "text 0", "run 2 ✓")]
        assert below == sorted(below), "handlers are below their run, and the newest run is last"
        assert "first-2" not in c.screen
        assert "→ 2 handlers" not in c.screen
        await c.press("down", "down", "left")
        await c.hides("first-1")
        assert c.pane.query_one(LogView).entry.text == "run 1 ✓ 2 ok"
        await c.press("end", "right")
        await c.shows("run ▾", "second-2")
        assert c.pane.query_one(LogView).entry.text == "run 2 ✓ 2 ok", "the cursor stays on the run"
        c.pane.add(entries(1, 9))
        await c.shows("text 9")
        assert c.pane.query_one(LogView).entry.text == "run 2 ✓ 2 ok"


async def test_a_filter_finds_the_handlers_of_folded_runs(log: Any) -> None:
    async with log() as c:
        c.pane.add([*entries(3), *run_entries(1), *run_entries(2)])
        await c.shows("run 2 ✓ 2 ok")
        await c.press("slash", *"second")
        await c.shows("second-1", "second-2", "Log 2 of 9")
        await c.press("escape", "escape")
        await c.shows("run 1 ✓ 2 ok", "text 2")
        await c.hides("second-1")


async def test_a_filter_is_fuzzy_excludes_words_and_selects_the_best_match(log: Any) -> None:
    async with log() as c:
        c.pane.add([*run_entries(1), LogEntry(NOW, "scan", "12 hooks", "second-1 is ready")])
        await c.shows("is ready")
        await c.press("slash", *"second")
        await c.shows("Log 2 of 4")
        assert c.pane.query_one(LogView).entry.subject == "second-1", "a name is better than a text"
        await c.press(*" !step")
        await c.shows("Log 1 of 4", "is ready")
        await c.press(*["backspace"] * 12, *"scd1")
        await c.shows("Log 1 of 4", "✓ ok")
        assert c.pane.query_one(LogView).entry.subject == "second-1"
        c.pane.add([LogEntry(NOW, "step", "second-1", "again"), LogEntry(NOW, "state", "other", "changed")])
        await c.shows("Log 2 of 6", "again")


async def test_the_line_being_read_stays_when_a_run_folds(log: Any) -> None:
    async with log() as c:
        c.pane.add(run_entries(1))
        await c.shows("run 1 ✓ 2 ok")
        *parts, end = run_entries(2)
        c.pane.add([*parts, *entries(2)])
        await c.shows("first-2", "text 1")
        await c.press("up")
        assert c.pane.query_one(LogView).entry.text == "text 0"
        c.pane.add([end, *run_entries(3)])
        await c.shows("run 2 ✓ 2 ok", "run 3 ✓ 2 ok")
        await c.hides("first-2", "first-3")
        assert c.pane.query_one(LogView).entry.text == "text 0"


async def test_the_line_being_read_keeps_its_row_when_a_run_folds_above_it(log: Any) -> None:
    async with log() as c:
        *parts, end = run_entries(2)
        c.pane.add([*entries(20), *parts, *entries(30, 20)])
        await c.shows("text 49")
        await c.press("up", "up")
        row = next(number for number, line in enumerate(c.screen.split("\n")) if "text 47 " in line)
        c.pane.add([end, *entries(1, 99)])
        await c.shows("Log 54")
        assert "text 47 " in c.screen.split("\n")[row]


async def test_a_paused_log_keeps_the_handlers_of_a_run_that_ends(log: Any) -> None:
    async with log() as c:
        *parts, end = run_entries(1)
        c.pane.add(parts)
        await c.shows("second-1", "fire ▾")
        await c.press("space")
        c.pane.add([end, *entries(1)])
        await c.shows("‖ paused, 1 new", "second-1")
        await c.press("space")
        await c.shows("run ▸", "text 0")
        await c.hides("second-1")


async def test_an_entry_that_its_line_cuts_is_shown_whole_below(log: Any) -> None:
    async with log() as c:
        c.pane.add([LogEntry(NOW, "state", "greet", f"{'x ' * 60}the end"), *entries(1)])
        await c.shows("text 0")
        assert "the end" not in c.screen
        await c.press("up")
        await c.shows("the end")
        await c.press("down")
        await c.hides("the end")


@pytest.mark.parametrize("width", [44, 58, 76, 116, 196])
def test_log_columns_are_aligned(width: int) -> None:
    names = ("a", "日本語フックの名前" * 3, "x" * 99)
    lines = [entry_line(LogEntry(NOW, "fire", name, "TEXT"), width) for name in names]
    assert len({line[: line.plain.index("TEXT")].cell_length for line in lines}) == 1
    assert {line.cell_length for line in lines} <= set(range(width + 1))


async def test_an_empty_log_says_so_and_accepts_keys(log: Any) -> None:
    async with log() as c:
        await c.shows("Nothing has happened yet.")
        await c.press("up", "down", "end", "home", "pageup", "enter", "space", "space", "G", "y")
        await c.shows("Log 0", "The log is empty")
