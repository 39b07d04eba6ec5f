"""What makes thousands of hooks quick answers as the plain way would."""

import asyncio
import gc
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import MakeHook
from tests.console.conftest import READY, Open
from textual.widgets import Input

from hookscope.app.snapshot import Snapshot
from hookscope.console.controllers import scan_controller
from hookscope.console.dialogs.palette import MOST_BEFORE_TYPING, entries_before_typing, listed_entries
from hookscope.console.panes.fire.composer import SessionInput
from hookscope.console.panes.hook_list import GroupedLine, GroupedLines, HookList
from hookscope.console.process import MANY_NEW_OBJECTS, IdleCollector, freeze_scan_result
from hookscope.console.state.hook_rows import (
    FilteredRows,
    HookListing,
    HookRow,
    RowGroup,
    listing_of,
    matching_rows,
)
from hookscope.console.state.state_changes import ScanFinished
from hookscope.console.theme.text_styles import STATE_STYLES
from hookscope.model.hook_status import RejectedHook, State


def row(name: str) -> HookRow:
    item = RejectedHook(Path("/w") / name, "workspace", "none")
    state_style = STATE_STYLES[State.READY]
    return HookRow(name, name, ("command:new",), "workspace", state_style, "", reasons=0, item=item)


sizes = st.lists(st.integers(0, 4), max_size=5)


def groups_of(counts: list[int]) -> list[RowGroup]:
    starts = [0, *accumulate(counts)]
    return [
        RowGroup(f"g{number}", "", "", tuple(row(f"{start + at}") for at in range(count)))
        for number, (start, count) in enumerate(zip(starts, counts, strict=False))
    ]


@given(sizes, st.booleans())
def test_grouped_lines_equal_those_of_a_plain_list(counts: list[int], airy: bool) -> None:
    groups = groups_of(counts)
    plain: list[GroupedLine] = []
    for group in groups:
        plain += ([None] if airy and plain else []) + [group, *group.rows]
    lines = GroupedLines(groups, airy=airy)
    assert lines.count == len(plain)
    assert [lines.at(line) for line in range(-1, lines.count + 1)] == [None, *plain, None]
    rows = [(at, line) for at, line in enumerate(plain) if isinstance(line, HookRow)]
    assert lines.row_count == len(rows)
    for number, (at, each) in enumerate(rows):
        assert lines.line_of(each.id) == lines.line_of(each.id, lines.group_at(at)) == at
        assert lines.line_of_number(number) == at
        assert lines.number_before(at) == number
    for at in range(lines.count):
        assert lines.number_before(at) == sum(isinstance(line, HookRow) for line in plain[:at])
    assert lines.line_of_number(99) == (rows[-1][0] if rows else None)
    assert lines.line_of("elsewhere") is None


NAMES = ["session-memory", "Straße", "strasse", "a b", "ab", "İx", "notify"]
queries = st.lists(st.text("aAbsSßİ! -tr", max_size=5), max_size=8)


@given(queries)
def test_an_incremental_filter_equals_a_full_one(typed: list[str]) -> None:
    listing, narrowed = HookListing([row(name) for name in NAMES]), FilteredRows()
    for query in (text[:end] for text in typed for end in (*range(len(text) + 1), max(len(text) - 1, 0))):
        expected = matching_rows(listing.rows, query)
        assert [narrowed.rows(listing, query) for _ in range(2)] == [expected, expected]
    other = HookListing([replace(row("ab"), source="bundled")])
    assert narrowed.rows(other, "ab") == other.rows


async def test_the_list_scrolls_by_keys_wheel_and_mouse(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    for number in range(60):
        make_hook(workspace / "hooks", f"hook-{number:02}", READY)
    async with console((80, 24)) as story:
        listed = story.screen.query_one(HookList)

        def at(name: str) -> bool:
            selected = story.screen.state.row
            return selected is not None and selected.name == name and name in story.text()

        await story.press("up")  # behind the first comes the last
        await story.until(lambda: at("hook-59"), "the last hook is selected")
        await story.press("down")
        await story.until(lambda: at("hook-00"), "the first hook is selected")
        assert listed.scroll_y == 0  # its heading is there too
        await story.press("end", "pageup")
        await story.until(lambda: not at("hook-59") and not at("hook-00"), "a page above the end")
        await story.press(*["pageup"] * 10)
        await story.until(lambda: at("hook-00"), "no page leads beyond the first hook")
        heading = next(y for y in range(listed.size.height) if "WORKSPACE" in listed.render_line(y).text)
        await story.pilot.hover(HookList, offset=(5, heading + 3))
        assert listed.hovered == heading + 3
        await story.pilot.click(HookList, offset=(5, heading))
        await story.pilot.hover(HookList, offset=(5, heading))
        assert listed.hovered is None
        assert at("hook-00")
        listed.scroll_to(y=20, animate=False, force=True, immediate=True)
        await story.pilot.click(HookList, offset=(5, 3))
        await story.until(lambda: at(f"hook-{22 - heading:02}"), "a click selects")
        assert not story.screen.state.reading
        await story.pilot.double_click(HookList, offset=(5, 4))
        await story.until(lambda: story.screen.state.reading, "a double click opens Why")
        assert story.screen.state.row is not None
        assert story.screen.state.row.name == f"hook-{23 - heading:02}"
        await story.press("escape", "slash", *"hook-4")
        await story.shows("Hooks 10/60")
        assert story.screen.query_one("#filter", Input).value == "hook-4"
        await story.press("v", "backspace", "enter", "v")
        await story.until(lambda: story.screen.state.grouping == "state", "grouped by state")
        await story.press("escape")
        await story.shows("Hooks 60")


FEW, MANY = 200, 10_000
KEYS = (
    *("down", "pagedown", "end", "s", "2", "1", "slash", "h", "escape"),
    *("k", "escape", "question_mark", "escape", "ctrl+o", "escape", "ctrl+p", "escape", "t", "escape"),
)


def times(view: Snapshot, count: int) -> Snapshot:
    """The same look, with the one hook it found so many times."""
    (found,) = view.inventory.hooks
    hook = found.hook
    copies = tuple(
        replace(
            found, hook=replace(hook, name=f"hook-{number:04}", path=hook.folder.path / f"hook-{number:04}")
        )
        for number in range(count)
    )
    return replace(view, inventory=replace(view.inventory, hooks=copies))


@contextmanager
def counted() -> Iterator[list[int]]:
    """How many functions of Python are called meanwhile."""
    calls = [0]

    def profile(_: object, event: str, __: object) -> None:
        calls[0] += event == "call"

    sys.setprofile(profile)
    try:
        yield calls
    finally:
        sys.setprofile(None)


async def test_the_work_of_a_key_does_not_grow_with_the_hooks(
    console: Open, workspace: Path, make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        scan_controller, "SELECTION_DELAY", 3_600
    )  # what is read beside a hook is the work of no key
    make_hook(workspace / "hooks", "hook", READY)
    async with console((80, 24), paints=True) as story:
        screen, calls = story.screen, dict[tuple[int, str], int]()

        async def another_session() -> None:  # each letter in the composer is another event, and plan
            screen.query_one(SessionInput).value += "x"

        assert screen.state.view is not None
        one = screen.state.view
        for number, count in enumerate((FEW, MANY), 100):
            view = times(one, count)
            view.precompute()  # as the thread does that looks
            screen.store.change(ScanFinished(number, view, 0.0, None, listing_of(view).with_groups()))
            await story.shows(f"Hooks {count}")
            await story.press("escape", "down", "up")  # what follows the look is over then
            steps: dict[str, Callable[[], Awaitable[None]]] = {
                f"{at} {key}": partial(story.press, key) for at, key in enumerate(KEYS)
            }
            for step, press in {**steps, "another session": another_session}.items():
                with counted() as here:
                    await press()
                    await story.pilot.pause()
                calls[count, step] = here[0]
        assert (
            sum(
                entry.kind == "hook"
                for entry in entries_before_typing(listed_entries(screen, screen.palette_source()))
            )
            == MOST_BEFORE_TYPING
        )
    # A few calls, at most, by whom it meets; what else comes meanwhile hangs on what all has to be drawn.
    most = {step: 3 * (MANY - FEW) + calls[FEW, step] / 2 for _, step in calls}
    grown = {step: calls[MANY, step] - calls[FEW, step] for step in most}
    assert {step: grown[step] for step in most if grown[step] > most[step]} == {}


def test_garbage_collection_skips_the_hook_rows() -> None:
    rows = [row(f"hook-{number}") for number in range(MANY)]
    searches = 0

    def search(phase: str, _: object) -> None:
        nonlocal searches
        searches += phase == "start"

    before, usual = gc.get_threshold(), (700, 10, 10)
    try:
        gc.set_threshold(*usual)
        freeze_scan_result(rows[:FEW])
        assert gc.get_threshold() == usual  # few are not felt
        freeze_scan_result(rows)
        gc.callbacks.append(search)
        answer = [[number] for number in range(9_000)]  # what a key makes and leaves
        assert searches <= 1 < len(answer) // usual[0]
        assert not {id(row) for row in rows} & {id(one) for one in gc.get_objects()}
    finally:
        gc.callbacks.remove(search)
        gc.unfreeze()
        gc.set_threshold(*before)


async def test_garbage_collection_runs_when_no_keys_come() -> None:
    searched, before = asyncio.Event(), gc.get_threshold()

    def search(_phase: str, _: object) -> None:
        searched.set()

    try:
        freeze_scan_result([row(f"hook-{number}") for number in range(MANY)])
        pauses = IdleCollector()
        _answers = [[number] for number in range(2 * MANY_NEW_OBJECTS)]
        gc.callbacks.append(search)
        pauses.end()
        assert not searched.is_set()
        await asyncio.wait_for(searched.wait(), 60)
    finally:
        gc.callbacks.remove(search)
        gc.unfreeze()
        gc.set_threshold(*before)
