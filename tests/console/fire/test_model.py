"""Sheets, outcomes, columns and tabs, without a screen."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from hookscope.console.panes.fire.run_lines import GroupHeading, Remark, waterfall_entries
from hookscope.console.panes.fire.run_sheet import (
    advance_sheet,
    begin_sheet,
    context_changes,
    finish_sheet,
    run_outcome,
)
from hookscope.console.panes.fire.tab_input import path_name
from hookscope.console.panes.fire.waterfall import call_line, waterfall_columns
from hookscope.console.panes.fire.waterfall import call_name as row_name
from hookscope.console.theme.text_styles import OUTCOME_MARKS
from hookscope.model.run import CallGroup, Ending, Event, NotRun, Plan, Registration, Result, Run, Started
from hookscope.model.text import duration
from hookscope.runtime.limits import Limits

NOW = datetime(2026, 11, 20, tzinfo=UTC)


def plan(*names: str, not_run: tuple[NotRun, ...] = ()) -> Plan:
    calls = tuple(Registration("command:new", name, print) for name in names)
    policy: Any = None
    return Plan(
        Event("command", "new", context={"a": 1}), 1, (CallGroup(calls),) if calls else (), not_run, policy
    )


def run(of: Plan, *results: Result, **more: Any) -> Run:
    return Run(1, of.event, results, of.not_run, Ending(), **more)


def test_every_call_starts_as_waiting() -> None:
    sheet = begin_sheet(1, plan("a", "b"), 0.0, NOW)
    assert [row.phase for row in sheet.rows] == ["waiting", "waiting"]
    assert run_outcome(sheet) == ("0 of 2 done", "running")


def test_a_start_after_the_result_changes_nothing() -> None:
    of = plan("a")
    sheet = advance_sheet(
        begin_sheet(1, of, 0.0, NOW), [Result(of.calls[0], "error"), Started(of.calls[0], 9)], 1.0
    )
    assert sheet.rows[0].phase == "error"


def test_two_registrations_of_one_name_are_two_rows() -> None:
    of = plan("a", "a")
    sheet = advance_sheet(begin_sheet(1, of, 0.0, NOW), [Result(of.calls[1], "ok")], 1.0)
    assert [row.phase for row in sheet.rows] == ["waiting", "ok"]


def test_a_call_that_nobody_planned_is_shown() -> None:
    stranger = Registration("command", "late", print)
    sheet = advance_sheet(begin_sheet(1, plan("a"), 0.0, NOW), [Started(stranger, 0.1)], 1.0)
    assert sheet.rows[1].name == "late"


@pytest.mark.parametrize(
    ("statuses", "more", "words"),
    [
        (["ok", "ok"], {}, "2 handlers ran"),
        (["ok", "error"], {}, "1 of 2 failed"),
        (["ok"], {"cancelled": True}, "cancelled, 1 of 2 ran"),
    ],
)
def test_the_outcome_is_described_in_words(statuses: list[Any], more: dict[str, Any], words: str) -> None:
    of = plan("a", "b")
    results = [Result(call, status) for call, status in zip(of.calls, statuses, strict=False)]
    assert run_outcome(finish_sheet(begin_sheet(1, of, 0.0, NOW), run(of, *results, **more)))[0] == words


def test_a_run_without_handlers_is_not_a_success() -> None:
    of = plan()
    assert run_outcome(finish_sheet(begin_sheet(1, of, 0.0, NOW), run(of))) == ("nothing ran", "not run")


def test_follow_up_events_are_listed_below_with_their_event() -> None:
    of = plan("a")
    inner = Registration("turn", "b", print)
    followed = Run(
        2,
        Event("turn", context={"x": 1}),
        (Result(inner, "ok", patch=({"op": "replace", "path": "/context/x", "value": 2},)),),
        (),
        Ending(),
    )
    sheet = finish_sheet(begin_sheet(1, of, 0.0, NOW), run(of, Result(of.calls[0], "ok"), caused=(followed,)))
    assert row_name(sheet.rows[1]) == "↳ turn b"
    (change,) = context_changes(sheet, sheet.rows[1])
    assert (change.before, change.after) == (1, 2)


def test_pushed_messages_do_not_count_as_context_changes() -> None:
    of = plan("a")
    patch = (
        {"op": "add", "path": "/messages/-", "value": "x"},
        {"op": "add", "path": "/context/b", "value": 2},
    )
    sheet = finish_sheet(begin_sheet(1, of, 0.0, NOW), run(of, Result(of.calls[0], "ok", patch=patch)))
    assert [path_name(change.path) for change in context_changes(sheet, sheet.rows[0])] == ["b"]


def test_slow_is_more_than_a_second_or_close_to_the_limit() -> None:
    of = plan("a")
    sheet = advance_sheet(begin_sheet(1, of, 0.0, NOW), [Started(of.calls[0], 0.0)], 10.0)
    row = sheet.rows[0]
    assert not row.slow(10.9)
    assert row.slow(11.1)
    assert not row.slow(10.5)


@pytest.mark.parametrize(
    ("own", "of_all", "limit"), [(None, 0.5, 0.5), (0.1, 0.5, 0.1), (None, 0.0, None), (0.0, 0.5, None)]
)
def test_a_row_has_the_limit_that_is_in_force(own: float | None, of_all: float, limit: float | None) -> None:
    calls = (Registration("k", "n", print, limit=own),)
    of = replace(plan(), groups=(CallGroup(calls),))
    begun = begin_sheet(1, of, 0.0, NOW, Limits(run=of_all))
    row = advance_sheet(begun, [Started(calls[0], 0.0)], 10.0).rows[0]
    assert row.limit == limit
    assert row.slow(10.45) is (limit is not None)


def test_a_few_subscribers_are_named_and_many_are_counted() -> None:
    def shown(listeners: int, others: int) -> list[str]:
        missed = [NotRun(f"l{n}", "r") for n in range(listeners)]
        deaf = [NotRun(f"o{n}", "r", subscribed=False) for n in range(others)]
        sheet = begin_sheet(1, plan(not_run=(*missed, *deaf)), 0.0, NOW)
        listed = [item for item in waterfall_entries(sheet, False) if not isinstance(item, GroupHeading)]
        return [item.text if isinstance(item, Remark) else item.name for item in listed]

    assert shown(1, 0) == ["l0"]
    assert shown(2, 1) == ["l0", "l1", ". lists 1 hook of other events"]
    assert shown(3, 2) == [". lists 3 subscribed hooks that did not run · 2 hooks of other events"]


names = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=60)


@given(st.lists(names, min_size=1, max_size=6), st.integers(min_value=30, max_value=240))
def test_rows_are_aligned_at_any_width_and_name(given_names: list[str], width: int) -> None:
    of = plan(*given_names)
    results = [Result(call, "ok", index * 0.01, 0.01, stdout="x") for index, call in enumerate(of.calls)]
    sheet = finish_sheet(begin_sheet(1, of, 0.0, NOW), run(of, *results, took=0.1))
    wide = waterfall_columns(width, [row_name(row) for row in sheet.rows], len(sheet.rows))
    lengths = {call_line(row, wide, sheet, 0.0).cell_length for row in sheet.rows}
    assert len(lengths) == 1
    assert lengths <= {width} or width < 40


@given(st.floats(min_value=0, max_value=5_000_000))
def test_a_time_fits_its_column(seconds: float) -> None:
    assert len(duration(seconds)) <= 13
    assert seconds > 6000 or len(duration(seconds)) <= 9


def test_each_phase_has_a_symbol_of_one_cell() -> None:
    assert {cell_len(mark.glyph) for mark in OUTCOME_MARKS.values()} == {1}
    assert len({mark.glyph for mark in OUTCOME_MARKS.values()}) == len(OUTCOME_MARKS)
