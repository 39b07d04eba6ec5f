"""Local time, in time zones that Python knows and in those that it does not."""

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest

from hookscope.model.text import in_local_time, local_now

MOMENT = datetime(2026, 1, 30, 9, tzinfo=UTC)


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """zone("UTC-26") makes it this process's zone."""

    def set_to(name: str) -> None:
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield set_to
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("name", ["UTC-26", "UTC+24", "XYZ-167:59:59", "AAA24BBB", "UTC-24:00:01"])
def test_a_zone_beyond_a_day_is_shown_in_utc(zone: Callable[[str], None], name: str) -> None:
    zone(name)
    assert in_local_time(MOMENT).replace(tzinfo=UTC) == MOMENT
    assert abs(local_now() - datetime.now(UTC).replace(tzinfo=None)) < timedelta(minutes=5)
    assert in_local_time(MOMENT.replace(tzinfo=None)) == MOMENT


@pytest.mark.parametrize(
    ("name", "hour"), [("UTC-3", 12), ("UTC", 9), ("", 9), ("nonsense", 9), ("UTC+2", 7)]
)
def test_any_other_zone_is_kept(zone: Callable[[str], None], name: str, hour: int) -> None:
    zone(name)
    assert in_local_time(MOMENT).hour == hour
    assert in_local_time(MOMENT) == MOMENT


@pytest.mark.parametrize("year", [1, 9999])
def test_the_ends_of_the_calendar_have_a_local_time(zone: Callable[[str], None], year: int) -> None:
    zone("UTC-20" if year == 9999 else "UTC+20")
    end = datetime(year, 12, 31, 23, tzinfo=UTC) if year == 9999 else datetime(1, 1, 1, tzinfo=UTC)
    assert in_local_time(end) == end
