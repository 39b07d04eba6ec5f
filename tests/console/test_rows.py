"""Lines of the list stay in their columns, whatever hooks are called."""

from dataclasses import replace
from pathlib import Path

import pytest

from hookscope.console.state.hook_rows import (
    HookColumns,
    HookRow,
    RowGroup,
    group_line,
    heading_line,
    hook_columns,
    hook_line,
    matching_rows,
)
from hookscope.console.theme.text_styles import STATE_STYLES, WORD_WIDTH, fit_width, keep_ends
from hookscope.model.hook import Folder, Hook
from hookscope.model.hook_status import Gate, HookStatus, RejectedHook, State, Verdict

NAMES = [
    "session-memory",
    "n" * 500,
    "記憶フック" * 40,
    "👩‍👩‍👧‍👦 family",
    "a\tb",
    "\x1b[2Jboo",
    "\u202egnp.exe",
    "[/foo]",
    "e\u0301" * 90,
    "",
]


def row(name: str = "a", **parts: object) -> HookRow:
    made = HookRow(
        id=name,
        name=name,
        events=("command:new",),
        source="workspace",
        state_style=STATE_STYLES[State.BLOCKED],
        why="Binary missing: jq",
        reasons=2,
        item=RejectedHook(Path("/w") / "a", "workspace", "none"),
    )
    return replace(made, **parts)  # type: ignore[arg-type]


ROWS = [row(name) for name in NAMES] + [row("many", events=("x" * 300, "y"))]


@pytest.mark.parametrize("width", [24, 30, 44, 54, 60, 76, 100, 160, 236])
@pytest.mark.parametrize("grouping", ["source", "state"])
def test_every_row_fits_and_states_form_one_column(width: int, grouping: str) -> None:
    columns = hook_columns(width, ROWS, grouping)  # type: ignore[arg-type]
    starts = set()
    for item in ROWS:
        line = hook_line(item, columns)
        assert line.cell_length <= width, item.name
        assert "\n" not in line.plain
        before, sign, _ = line.plain.partition("▲")
        assert sign
        starts.add(line[: len(before)].cell_length)
    assert len(starts) == 1
    assert heading_line(columns).cell_length <= width


def test_a_reason_takes_precedence_over_a_second_event() -> None:
    ready = row("bootstrap-extra-files", events=("command:new", "command:reset"), why="", reasons=0)
    blocked = row("needy")
    assert hook_line(ready, hook_columns(76, [ready], "source")).plain.count("command:reset")
    said = hook_line(blocked, hook_columns(76, [ready, blocked], "source")).plain
    assert "command:new" in said
    assert "Binary missing: jq" in said


@pytest.mark.parametrize("width", range(46, 60))
def test_a_reason_is_shown_in_words_where_names_leave_room(width: int) -> None:
    rows = [row("bootstrap-extra-files", why="", reasons=0), row("needy")]
    assert "Binary" in hook_line(rows[1], hook_columns(width, rows, "source")).plain


def test_one_long_name_hides_no_events() -> None:
    rows = [row("a" * 60), *(row(f"hook-{n}", events=("before_tool_call",)) for n in range(25))]
    columns = hook_columns(76, rows, "source")
    assert "before_tool_call" in hook_line(rows[1], columns).plain


def test_a_short_reason_leaves_room_for_events() -> None:
    off = row("audit", events=("message_received", "message_sent"), why="disabled", reasons=1)
    ready = row("bootstrap-extra-files", why="", reasons=0)
    said = hook_line(off, hook_columns(72, [ready, off], "source")).plain
    assert "message_received" in said
    assert "disabled" in said


def test_fit_width_returns_the_exact_width() -> None:
    for name in NAMES:
        assert fit_width(name, 12).cell_length == 12


def test_reasons_become_a_number_on_narrow_rows() -> None:
    assert "Binary missing: jq" in hook_line(row(), HookColumns(10, 12, 0, 30)).plain
    narrow = hook_line(row(), HookColumns(10, 12, 0, 3)).plain
    assert "Binary" not in narrow
    assert narrow.rstrip().endswith("2")


def test_an_untrusted_row_names_the_trust_key_and_other_reasons() -> None:
    folder = Folder("workspace", "workspace", Path("/w"), 1)
    gates = (Gate("trusted", False), Gate("sent", False))
    found = HookStatus(Hook("a", "folder", folder, Path("/w/a")), Verdict(gates))
    waits = row(item=found, why="`hookscope trust ./hooks/very/far/away` lets it run")
    assert hook_line(waits, HookColumns(10, 12, 0, 20)).plain.rstrip().endswith("t trusts it +1")
    assert "hookscope trust" in hook_line(waits, HookColumns(10, 12, 0, 20), keys=False).plain, "in a file"


def test_a_group_heading_always_shows_its_count() -> None:
    group = RowGroup("x", "workspace", "12", place="/very/long/" + "path/" * 60)
    line = group_line(group, 40, "source")
    assert line.cell_length <= 40
    assert line.plain.rstrip().endswith("12")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", 3), ("MEM", 1), ("command:new", 3), ("blocked workspace", 3), ("memory nothing", 0),
        ("[/foo]", 1), ("!blocked", 0), ("!mem", 2), ("!mem !foo", 1), ("!", 3),
        ("smry", 1), ("ryms", 0), ("smry !new", 0),
    ],
)  # fmt: skip
def test_the_filter_searches_name_events_source_and_state(query: str, found: int) -> None:
    rows = [row("session-memory"), row("notify"), row("[/foo]")]
    assert len(matching_rows(rows, query)) == found


def test_the_longest_word_for_a_state_fits_its_column() -> None:
    assert max(len(state_style.word) for state_style in STATE_STYLES.values()) + 2 <= WORD_WIDTH


@pytest.mark.parametrize(
    ("text", "room", "kept"),
    [
        ("記憶フック" * 4, 10, "記憶…ック"),
        ("deploy-note-a", 9, "depl…te-a"),
        ("記憶", 1, "…"),
        ("記憶", 0, ""),
    ],
)
def test_a_name_that_is_too_long_keeps_both_ends(text: str, room: int, kept: str) -> None:
    assert keep_ends(text, room) == kept
