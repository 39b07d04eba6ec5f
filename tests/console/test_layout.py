"""Which panes a screen shows, at every size."""

from itertools import product

import pytest

from hookscope.console.state.console_state import (
    MODE_OF,
    Mode,
    Pane,
    arrange_panes,
    every_class,
    size_of,
    too_small,
)

MODES: tuple[Mode, ...] = ("hooks", "fire", "log")
WIDTHS, HEIGHTS = range(60, 241), range(16, 71)


@pytest.mark.parametrize("mode", [*MODES, "hosts"])
def test_every_size_shows_the_chosen_mode(mode: Mode) -> None:
    for width, height, start in product(WIDTHS, HEIGHTS, (True, False)):
        layout = arrange_panes(width, height, mode, start=start)
        assert any(MODE_OF[pane] == mode for pane in layout.panes), (width, height)
        assert len(set(layout.panes)) == len(layout.panes)
        assert layout.classes <= every_class()


def test_zoom_shows_one_pane_at_every_size() -> None:
    for width, height, pane in product(WIDTHS, HEIGHTS, MODE_OF):
        assert arrange_panes(width, height, MODE_OF[pane], pane).panes == (pane,)


def test_a_zoomed_pane_of_another_mode_is_ignored() -> None:
    assert arrange_panes(120, 36, "fire", "why").panes == ("fire",)


@pytest.mark.parametrize(("width", "height"), [(59, 70), (240, 15), (1, 1), (0, 0)])
def test_below_the_minimum_size_one_line_is_shown(width: int, height: int) -> None:
    assert arrange_panes(width, height, "hooks").panes == ()
    assert too_small(52, 14).startswith("needs 60x16; now 52x14")


@pytest.mark.parametrize(
    ("width", "height", "size"),
    [
        (60, 16, "small"),
        (99, 70, "small"),
        (100, 16, "medium"),
        (159, 70, "medium"),
        (160, 39, "medium"),
        (160, 40, "wide"),
    ],
)
def test_sizes_change_at_exact_widths_and_heights(width: int, height: int, size: str) -> None:
    assert size_of(width, height) == size


def test_small_screens_show_either_the_list_or_the_detail_pane() -> None:
    assert arrange_panes(80, 24, "hooks").panes == ("list",)
    assert arrange_panes(80, 24, "hooks", reading=True).panes == ("why",)
    assert arrange_panes(80, 24, "hooks", reading=True, side="keys").panes == ("keys",)
    assert arrange_panes(80, 24, "hooks", start=True).panes == ("list", "start")
    assert arrange_panes(80, 16, "hooks", start=True).panes == ("list",)


def test_medium_screens_show_a_log_from_thirty_rows() -> None:
    assert arrange_panes(120, 29, "hooks").panes == ("list", "why")
    assert arrange_panes(120, 30, "hooks").panes == ("list", "why", "log")
    assert arrange_panes(120, 36, "hooks", start=True).panes == ("list", "why", "start")


def test_wide_screens_show_every_pane_and_the_log_with_room() -> None:
    everything: tuple[Pane, ...] = ("list", "why", "fire", "log")
    for mode in ("hooks", "fire"):
        assert arrange_panes(200, 50, mode).panes == everything
    assert arrange_panes(200, 50, "log").panes == ("log",)


def test_hosts_mode_fills_the_screen() -> None:
    for width, height in ((80, 24), (120, 36), (200, 50)):
        assert arrange_panes(width, height, "hosts").panes == ("hosts",)
