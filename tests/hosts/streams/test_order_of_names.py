"""The order of files: that of a locale, folders before files."""

from functools import cmp_to_key
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookscope.hosts.streams.module_folders import HOOKS_SLOT, FileRules, collation_key, modules_in
from hookscope.model.machine import RealFiles

# Printable ASCII as Node 24 sorts it, each letter in both its cases.
AS_NODE_SORTS = (
    " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789aAbBcCdDeEfFgGhHiIjJkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ"
)
NAMES = st.text("ab_-zAB019", min_size=1, max_size=5)
LEGAL = st.from_regex(r"[a-cA-C][ab_Z0-1-]{0,3}", fullmatch=True)


@pytest.mark.parametrize(
    "names",
    [
        list(AS_NODE_SORTS),
        ["9folder", "_private", "1st", "has space", "two.dots", "good"],
        ["a", "A", "a b", "a_b", "a-b", "a1", "a10", "a2", "ab", "aB", "Ab", "b"],
        ["e", "é", "f"],
        ["co", "Co", "cò", "cod"],
        [
            "ad",
            "ae",
            "æ",
            "Æ",
            "af",
            "d",
            "đ",
            "e",
            "l",
            "ł",
            "n",
            "ñ",
            "na",
            "ñandu",
            "o",
            "ø",
            "Ø",
            "oa",
            "oe",
        ],
        ["oe", "œ", "of", "sr", "ss", "ß", "st", "u", "ü", "z"],
    ],
)
def test_names_sort_as_node_sorts_them(names: list[str]) -> None:
    by_node = (
        names if names[0] != "9folder" else ["_private", "1st", "9folder", "good", "has space", "two.dots"]
    )
    shuffled = names[::2] + names[1::2]
    assert sorted(shuffled, key=collation_key) == by_node


def compared(one: str, other: str) -> int:
    """Letter by letter in Node's order without regard to case; then the first small letter wins."""
    for a, b in zip(one.lower(), other.lower(), strict=False):
        if a != b:
            return AS_NODE_SORTS.index(a) - AS_NODE_SORTS.index(b)
    if len(one) != len(other):
        return len(one) - len(other)
    for a, b in zip(one, other, strict=True):
        if a != b:
            return -1 if a.islower() else 1
    return 0


@given(st.lists(NAMES))
def test_any_names_sort_by_letter_and_then_by_case(names: list[str]) -> None:
    assert sorted(names, key=collation_key) == sorted(names, key=cmp_to_key(compared))


def walked(folder: Path) -> list[Path]:
    """All files below, sub-folders before the files beside them."""
    inside = sorted(folder.iterdir(), key=lambda path: cmp_to_key(compared)(path.name.removesuffix(".ts")))
    below = [file for path in inside if path.is_dir() for file in walked(path)]
    return below + [path for path in inside if path.is_file()]


@given(st.sets(st.lists(LEGAL, min_size=1, max_size=3).map(tuple), max_size=8))
def test_folders_come_before_the_files_beside_them(slugs: set[tuple[str, ...]]) -> None:
    with TemporaryDirectory() as made:
        root = Path(made)
        for slug in slugs:
            file = (root / "hooks").joinpath(*slug).with_suffix(".ts")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
        found = modules_in(root, HOOKS_SLOT, FileRules(), RealFiles())
        assert not found.diagnostics
        expected = walked(root / "hooks") if slugs else []
        assert [source.path for source in found.found] == expected
        assert {source.slug for source in found.found} == {"/".join(slug) for slug in slugs}
