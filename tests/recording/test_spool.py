"""A spool read from the end, from the beginning, and while it is written and turned."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookscope.recording import spool
from hookscope.recording.spool import (
    RecordedEvent,
    SpoolReader,
    SpoolTail,
    events_by_id,
    newest_events,
    open_spool,
    parse_spool_line,
)

AT = "2026-11-20T12:00:00.000Z"


def line(number: int, **more: object) -> bytes:
    told = {
        "tap": 1,
        "at": AT,
        "kind": "folder",
        "key": "command:new",
        "context": {"n": number},
        "seq": number,
    }
    return json.dumps({**told, **more}).encode() + b"\n"


def write(folder: Path, *lines: bytes) -> None:
    with (folder / "events.jsonl").open("ab") as file:
        file.write(b"".join(lines))


def turn(folder: Path) -> None:
    (folder / "events.jsonl").rename(folder / "events.jsonl.1")


def numbers(events: object) -> list[int]:
    return [heard.context["n"] for heard in events]  # type: ignore[attr-defined]


def test_recent_events_include_the_rotated_file_newest_last(tmp_path: Path) -> None:
    write(tmp_path, *(line(n) for n in range(5)))
    turn(tmp_path)
    write(tmp_path, *(line(n, key="message:sent" if n % 2 else "command:new") for n in range(5, 10)))
    assert numbers(newest_events(tmp_path, 3)[0]) == [7, 8, 9]
    assert numbers(newest_events(tmp_path, 100)[0]) == list(range(10))
    assert numbers(newest_events(tmp_path, 100, "message:sent")[0]) == [5, 7, 9]
    assert newest_events(tmp_path / "nowhere", 3) == ((), 0)


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x00\xff\n",
        b"[" * 100_000 + b"\n",
        b'{"tap": 1}\n',
        b"null\n",
        b'{"tap": 1, "kind": "folder", "key": "a\\u001b[2J", "at": "' + AT.encode() + b'"}\n',
        b'{"tap": 1, "kind": "folder", "key": "a b", "at": "' + AT.encode() + b'"}\n',
        b'{"tap": 1, "kind": "folder", "key": "a", "at": "yesterday"}\n',
        b'{"tap": 1, "kind": "folder", "key": "a", "at": "2026-11-20T12:00:00"}\n',
        b'{"tap": 1, "kind": "folder", "key": "a", "at": "' + AT.encode() + b'", "x": NaN}\n',
        b"x" * 3_000_000 + b"\n",
    ],
    ids=range(10),
)
def test_foreign_lines_are_skipped_and_counted(tmp_path: Path, garbage: bytes) -> None:
    tail = SpoolTail(tmp_path)
    write(tmp_path, line(1), garbage, b"\n", line(2))
    assert (numbers(newest_events(tmp_path, 9)[0]), newest_events(tmp_path, 9)[1]) == ([1, 2], 1)
    news = [tail.read_new() for _ in range(3)]
    assert numbers(heard for some in news for heard in some.events) == [1, 2]
    assert sum(some.skipped for some in news) == 1


def test_fields_of_the_wrong_type_are_ignored() -> None:
    heard = parse_spool_line(line(1, context=[1], session=5, pid="x", seq=True, left_out={"a": 1}, cut=None))
    assert heard is not None
    assert (heard.context, heard.session, heard.pid, heard.number, heard.excluded_members, heard.cut) == (
        {},
        "",
        0,
        0,
        (),
        0,
    )


def test_an_incomplete_line_is_read_when_it_is_complete(tmp_path: Path) -> None:
    tail = SpoolTail(tmp_path)
    whole = line(1)
    write(tmp_path, whole[:20])
    assert tail.read_new().events == []
    assert newest_events(tmp_path, 9) == ((), 0)
    write(tmp_path, whole[20:])
    assert numbers(tail.read_new().events) == [1]


def test_a_tail_that_missed_two_rotations_says_so(tmp_path: Path) -> None:
    write(tmp_path, line(1))
    tail = SpoolTail(tmp_path)
    for number in (2, 3):
        write(tmp_path, line(number))
        turn(tmp_path)
    write(tmp_path, line(4))
    news = tail.read_new()
    assert (numbers(news.events), news.missed) == ([3, 4], True)  # 2 has gone


def test_a_tail_continues_after_the_spool_is_emptied_or_deleted(tmp_path: Path) -> None:
    write(tmp_path, line(1), line(2))
    tail = SpoolTail(tmp_path)
    os.truncate(tmp_path / "events.jsonl", 0)
    assert tail.read_new().events == []
    write(tmp_path, line(3))
    assert numbers(tail.read_new().events) == [3]
    (tmp_path / "events.jsonl").unlink()
    assert tail.read_new().events == []
    write(tmp_path, line(4))
    assert numbers(tail.read_new().events) == [4]


def test_events_between_reading_and_following_are_returned_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, line(1))
    real = spool.newest_events

    def slow(folder: Path, limit: int, key: str | None) -> tuple[tuple[RecordedEvent, ...], int]:
        found = real(folder, limit, key)
        write(folder, line(2))
        return found

    monkeypatch.setattr(spool, "newest_events", slow)
    events, tail = open_spool(tmp_path, 10)
    write(tmp_path, line(3))
    assert numbers((*events, *tail.read_new().events)) == [1, 2, 3]


def test_an_event_keeps_its_id_after_rotation(tmp_path: Path) -> None:
    write(tmp_path, line(1), line(2))
    before = [heard.id for heard in SpoolReader(tmp_path)]
    turn(tmp_path)
    write(tmp_path, line(3))
    assert [heard.id for heard in SpoolReader(tmp_path)][:2] == before
    assert numbers(events_by_id(tmp_path, before[1][:6])) == [2]


ACTS = st.lists(st.sampled_from(["write", "turn", "look", "half"]), max_size=40)


@given(acts=ACTS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
def test_a_tail_returns_every_line_once_in_order(
    acts: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """However often it is written, turned and looked at, with one turn between two looks at most."""
    folder = tmp_path_factory.mktemp("spool")
    tail, came, written, turned = SpoolTail(folder), list[int](), 0, False
    pending = b""
    for act in [*acts, "look", "look", "look"]:
        if act == "look":
            news = tail.read_new()
            assert not news.missed
            came += numbers(news.events)
            turned = False
        elif act == "turn" and not turned and not pending and (folder / "events.jsonl").exists():
            turn(folder)
            turned = True
        elif act == "half" and not pending:
            written += 1
            whole = line(written)
            write(folder, whole[:10])
            pending = whole[10:]
        elif act == "write":
            write(folder, pending)
            if not pending:
                written += 1
                write(folder, line(written))
            pending = b""
    assert came == list(range(1, written + (not pending)))[: len(came)]
    assert len(came) == written - bool(pending)
