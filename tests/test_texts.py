"""Foreign text made safe, and times for people: as every face shows them."""

from datetime import UTC, datetime, timedelta

import pytest

from hookscope.core.text import ago, duration, lasting, nearest, one_line, printable


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0.0, "0.0 ms"),
        (0.0999, "99.9 ms"),
        (0.09996, "100 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1.00 s"),
        (9.994, "9.99 s"),
        (9.996, "10.0 s"),
        (99.94, "99.9 s"),
        (99.96, "1 m 40 s"),
        (599.4, "9 m 59 s"),
        (3_661.0, "61 m 01 s"),
    ],
)
def test_a_time_has_three_digits_and_the_unit_that_leaves_them(seconds: float, told: str) -> None:
    assert duration(seconds) == told
    assert len(told) <= 8 or seconds >= 599.5


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (-5, "0 s"),
        (0.9, "0 s"),
        (59, "59 s"),
        (60, "1 min"),
        (3_661, "1 h 1 min"),
        (90_061, "1 d 1 h"),
        (86_401, "1 d 1 s"),
    ],
)
def test_a_longer_time_is_told_in_its_two_largest_units(seconds: float, told: str) -> None:
    assert lasting(seconds) == told
    now = datetime(2026, 11, 23, tzinfo=UTC)
    assert ago(now - timedelta(seconds=seconds), now) == f"{told} ago"


def test_one_line_is_the_first_that_says_something_and_no_longer_than_asked_for() -> None:
    assert one_line("\n  \r\n  first  \nsecond") == "first"
    assert one_line("") == ""
    assert one_line("x" * 20, 20) == "x" * 20
    assert one_line("x" * 21, 20) == "x" * 19 + "…"


def test_every_control_is_a_sign_that_one_sees() -> None:
    assert printable("a\tb\r\nc\n") == "a\tb\nc\n"
    assert printable("\x1b[2J\x07\r\x7f") == "␛[2J␇␍␡"
    assert printable("\x9b\u202e\ufeff\ud800") == r"\x9b\u202e\ufeff\ud800"


def test_a_word_is_only_taken_for_one_that_it_resembles() -> None:
    assert nearest("comand", ["command", "message"]) == "command"
    assert nearest("tool", ["command", "message"]) is None
