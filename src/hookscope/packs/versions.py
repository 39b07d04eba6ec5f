"""Which of two versions is older, as far as both are numbers in a row."""

from __future__ import annotations

import re

VERSION = re.compile(r"v?(?P<numbers>\d+(?:\.\d+)+)(?:-(?P<stage>[0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?")
Order = tuple[tuple[int, ...], bool, tuple[tuple[bool, int, str], ...]]


def is_older(version: str, other: str) -> bool:
    """False too where one of them is written in another way."""
    mine, theirs = _order(version), _order(other)
    return mine is not None and theirs is not None and mine < theirs


def is_prerelease(version: str) -> bool:
    """Has it a stage behind its numbers: `1.0.0-beta.2`."""
    found = VERSION.fullmatch(version)
    return found is not None and found["stage"] is not None


def _order(version: str) -> Order | None:
    """Numbers, then stages before none, and in a stage numbers before words."""
    found = VERSION.fullmatch(version)
    if found is None:
        return None
    numbers = [int(part) for part in found["numbers"].split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    parts = (found["stage"] or "").split(".") if found["stage"] else []
    stage = tuple((not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts)
    return tuple(numbers), found["stage"] is None, stage
