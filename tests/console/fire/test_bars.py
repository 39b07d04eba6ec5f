"""Bars and axes keep to their columns whatever the times are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from hookscope.console.widgets.time_bars import tick_step, time_axis, time_bar

times = st.floats(min_value=0, max_value=1e6, allow_nan=False)
widths = st.integers(min_value=1, max_value=300)


@given(times, times, times, widths, st.booleans())
def test_a_bar_stays_in_its_column(start: float, took: float, total: float, width: int, live: bool) -> None:
    drawn = time_bar(start, start + took, total, width, live=live)
    assert drawn.indent >= 0
    assert cell_len(drawn.drawn) >= 1
    assert drawn.indent + cell_len(drawn.drawn) <= width


@given(times, times, st.floats(min_value=1e-6, max_value=1e6), widths)
def test_bars_keep_the_order_of_what_they_show(first: float, second: float, total: float, width: int) -> None:
    early, late = sorted((first, second))
    assert time_bar(early, total, total, width).indent <= time_bar(late, total, total, width).indent
    assert _end(time_bar(0, early, total, width)) <= _end(time_bar(0, late, total, width))


@given(st.floats(min_value=0, max_value=1e6), st.integers(min_value=0, max_value=300))
def test_an_axis_has_the_width_of_its_bars(total: float, width: int) -> None:
    assert cell_len(time_axis(total, width)) == width


@given(st.floats(min_value=1e-3, max_value=1e9), st.integers(min_value=1, max_value=40))
def test_an_axis_has_only_ticks_that_fit(total: float, most: int) -> None:
    assert total / tick_step(total, most) <= most


@pytest.mark.parametrize(
    ("total", "width", "begins"),
    [(0.04, 40, "0         10"), (0.0465, 18, "0      20"), (31.0, 60, "0        5")],
)
def test_axis_ticks_are_round_numbers(total: float, width: int, begins: str) -> None:
    assert time_axis(total, width).startswith(begins)


@pytest.mark.parametrize("width", [0, -3])
def test_without_room_no_bar_is_drawn(width: int) -> None:
    assert time_bar(0, 1, 1, width) == (0, "")


def test_a_live_bar_differs_without_colour() -> None:
    assert time_bar(0, 0.5, 1, 10).drawn == "█████"
    assert time_bar(0, 0.5, 1, 10, live=True).drawn == "▓▓▓▓▓"


def _end(drawn: tuple[int, str]) -> int:
    return drawn[0] + len(drawn[1])
