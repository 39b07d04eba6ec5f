"""Foreign text made safe, and times for people: as every face shows them."""

from datetime import UTC, datetime, timedelta

import pytest

from hookscope.model.text import (
    ago,
    duration,
    has_controls,
    long_duration,
    nearest_word,
    one_line,
    printable,
    without_controls,
)


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0.0, "0.0 ms"),
        (0.00004, "<0.1 ms"),
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
def test_long_durations_show_two_units(seconds: float, told: str) -> None:
    assert long_duration(seconds) == told
    now = datetime(2026, 11, 23, tzinfo=UTC)
    assert ago(now - timedelta(seconds=seconds), now) == (f"{told} ago" if seconds >= 1 else "just now")


def test_one_line_takes_the_first_non_empty_line_and_cuts_it() -> None:
    assert one_line("\n  \r\n  first  \nsecond") == "first"
    assert one_line("") == ""
    assert one_line("x" * 20, 20) == "x" * 20
    assert one_line("x" * 21, 20) == "x" * 19 + "…"


def test_control_characters_become_visible() -> None:
    assert printable("a\tb\r\nc\n") == "a\tb\nc\n"
    assert printable("\x1b[2J\x07\r\x7f") == "␛[2J␇␍␡"
    assert printable("\x9b\u202e\ufeff\ud800") == r"\x9b\u202e\ufeff\ud800"


@pytest.mark.parametrize(
    "hidden",
    [
        *(
            chr(code)
            for code in (0xAD, 0x34F, 0x115F, 0x17B4, 0x180E, 0x200B, 0x2063, 0x206A, 0x3164, 0xFE00)
        ),
        *(
            chr(code)
            for code in (0xFFA0, 0xFFF9, 0xFFFE, 0xFDD0, 0x1BCA0, 0x1D173, 0xE0001, 0xE0041, 0xE0100)
        ),
        "\u200d",
        "\u200c",
        "\ufe0f",
        "\ufe0e",
    ],
    ids=ascii,
)
def test_a_character_that_a_terminal_ignores_is_shown_as_its_escape(hidden: str) -> None:
    shown = printable(f"a{hidden}b")
    assert shown == f"a{hidden.encode('unicode_escape').decode()}b"
    assert has_controls(f"a{hidden}b")
    assert without_controls(f"a{hidden}b") == "ab"


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("\U0001f3f4" + "\U000e0061\U000e0062" + "\U000e007f", 3),  # no flag that there is
        ("\U0001f3f4" + "\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067", 5),  # a flag without its end
        ("\U0001f469\u200d\u200d\U0001f467", 2),
        ("\u2764\ufe0f\ufe0f", 1),
        ("1\ufe0f", 1),
        ("\u6f22\U000e0101", 1),
    ],
    ids=ascii,
)
def test_invalid_emoji_sequences_are_escaped(text: str, hidden: int) -> None:
    assert printable(text).count("\\") == hidden


@pytest.mark.parametrize(
    "text",
    [
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\u2764\ufe0f\u200d\U0001f525",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "\U0001f3f4\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f",
        "1\ufe0f\u20e3",
        "\u0645\u06cc\u200c\u062e",
        "\u1820\u180b",
    ],
    ids=ascii,
)
def test_an_emoji_a_flag_and_a_joining_script_stay_as_they_are(text: str) -> None:
    assert printable(text) == text
    assert not has_controls(text)


def test_nearest_returns_similar_words_only() -> None:
    assert nearest_word("comand", ["command", "message"]) == "command"
    assert nearest_word("tool", ["command", "message"]) is None
