"""The tables of `openclaw hooks list`, as the program's own function drew them from random cells."""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as some

from hookscope.hosts.dialects.openclaw_2026_9_command import COLUMNS
from hookscope.hosts.dialects.openclaw_table import LINE_WIDTH, draw_table

RECORDED = json.loads(Path(__file__).with_name("recorded_tables.json").read_text(encoding="utf-8"))


def test_tables_are_drawn_as_the_program_draws_them() -> None:
    for row in RECORDED:
        columns = COLUMNS[: len(row["rows"][0])]
        assert list(draw_table(columns, row["rows"])) == row["lines"]


@given(some.lists(some.lists(some.text("ab -/\n", max_size=200), min_size=4, max_size=4), min_size=1))
def test_every_line_is_full_and_no_letter_is_lost(rows: list[list[str]]) -> None:
    lines = list(draw_table(COLUMNS[:4], [[cell[:60], *rest] for cell, *rest in rows]))
    assert {len(line) for line in lines} == {LINE_WIDTH}
    for letter in "ab":
        shown = sum(line.count(letter) for line in lines[3:-1])
        assert shown == sum(cell.count(letter) for first, *rest in rows for cell in (first[:60], *rest))
