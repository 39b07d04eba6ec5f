"""The ring keeps the last entries; a filter leaves out and never deletes."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookscope.console.state.log_entries import LogEntry, LogFilter, LogIndex, LogRing, parse_log_filter

NOW = datetime(2026, 11, 20, tzinfo=UTC)


def entry(
    text: str, kind: str = "fire", subject: str = "", level: str = "info", run: int | None = None
) -> LogEntry:
    return LogEntry(NOW, kind, subject, text, level, run)


def texts(index: LogIndex) -> list[str]:
    return [index.ring.get(index.number(line)).text for line in range(len(index))]


batches = st.lists(st.lists(st.sampled_from("ab"), max_size=7), max_size=8)


@given(batches, st.integers(1, 10), st.booleans())
def test_a_log_index_equals_a_plain_list(batches: list[list[str]], kept: int, filtered: bool) -> None:
    ring = LogRing(kept)
    index = LogIndex(ring, lambda item: not filtered or item.text.startswith("a"))
    every: list[str] = []
    for number, batch in enumerate(batches):
        fresh = [f"{text}{number}" for text in batch]
        every += fresh
        ring.add(entry(text) for text in fresh)
        before = len(index)
        dropped = index.refresh()
        left = [text for text in every[-kept:] if not filtered or text.startswith("a")]
        assert texts(index) == left
        assert 0 <= dropped <= before


@given(batches, st.integers(1, 10))
def test_lines_and_entry_numbers_map_to_each_other(batches: list[list[str]], kept: int) -> None:
    ring = LogRing(kept)
    index = LogIndex(ring, lambda item: item.text == "a")
    for batch in batches:
        ring.add(map(entry, batch))
    index.refresh()
    assert [index.line(index.number(line)) for line in range(len(index))] == list(range(len(index)))


def test_an_entry_keeps_its_number() -> None:
    ring = LogRing(3)
    ring.add(map(entry, "abc"))
    assert ring.get(2).text == "c"
    ring.add(map(entry, "de"))
    assert (ring.first, ring.end, ring.get(2).text) == (2, 5, "c")
    with pytest.raises(IndexError):
        ring.get(1)


def test_a_copy_of_the_log_does_not_change() -> None:
    ring = LogRing(3)
    ring.add(map(entry, "abc"))
    still = ring.copy()
    ring.add(map(entry, "de"))
    assert texts(LogIndex(still, LogFilter().matches)) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("", LogFilter()),
        ("KeyError slow", LogFilter(words=("keyerror", "slow"))),
        ("kind:fire,state x", LogFilter(words=("x",), kinds=("fire", "state"))),
        ("level:warning", LogFilter(level="warn")),
        ("run:7", LogFilter(run=7)),
        ("run:x kind:", LogFilter(words=("run:x", "kind:"))),
        ("command:new", LogFilter(words=("command:new",))),
    ],
)
def test_log_filters_are_parsed(asked: str, expected: LogFilter) -> None:
    assert parse_log_filter(asked) == expected


@pytest.mark.parametrize(
    ("asked", "taken"),
    [
        ("level:warn", ["warned", "failed"]),
        ("level:error", ["failed"]),
        ("kind:fi", ["failed"]),
        ("run:3", ["failed"]),
        ("hook-b", ["warned"]),
        ("FAILED fire", ["failed"]),
        ("failed state", []),
        ("!hook-b", ["fine", "failed"]),
        ("hook !fire !fine", ["warned"]),
        ("!", ["fine", "warned", "failed"]),
        ("", ["fine", "warned", "failed"]),
    ],
)
def test_log_filters_select_entries(asked: str, taken: list[str]) -> None:
    entries = [
        entry("fine", "reload", "hook-a"),
        entry("warned", "state", "hook-b", "warning"),
        entry("failed", "fire", "hook-c", "error", 3),
    ]
    wanted = parse_log_filter(asked)
    assert [item.text for item in entries if wanted.matches(item)] == taken


@given(st.text(max_size=60))
def test_any_text_is_a_valid_log_filter(text: str) -> None:
    parse_log_filter(text).matches(entry("x"))


WORDS = ["a", "ab", "b", "!a", "!b", "!ab", "kind:fire", "kind:f", "level:warn", "run:3", "zz"]
some_words = st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join)
some_entries = st.lists(
    st.builds(
        entry,
        st.sampled_from(["a", "ab", "abc b", "zz"]),
        kind=st.sampled_from(["fire", "file"]),
        level=st.sampled_from(["info", "warning"]),
        run=st.sampled_from([None, 3]),
    ),
    max_size=30,
)


@given(some_entries, some_words, some_words, st.integers(1, 7), st.integers(1, 40))
def test_filtering_in_slices_equals_filtering_at_once(
    entries: list[LogEntry], first: str, second: str, most: int, kept: int
) -> None:
    ring = LogRing(kept)
    ring.add(entries[:20])
    before, after = parse_log_filter(first), parse_log_filter(second)
    among = LogIndex(ring, before.predicate())
    ring.add(entries[20:])
    index = LogIndex(ring, after.predicate(), among=among if after.narrows(before) else None, most=0)
    while index.behind:
        index.refresh(most)
    assert [index.ring.get(index.number(line)) for line in range(len(index))] == [
        item for item in entries[-kept:] if after.matches(item)
    ]
