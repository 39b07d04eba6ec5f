"""The one known word that was surely meant: silence rather than a wrong guess."""

from __future__ import annotations

import re
from collections.abc import Iterable

BETWEEN = re.compile(r"[^A-Za-z0-9*]+|(?<=[a-z0-9])(?=[A-Z])")
LONGEST = 80  # characters; a longer word is no slip of the pen


def meant(word: str, words: Iterable[str]) -> str | None:
    """The only known word that `word` is a slip of: other case or signs, a letter or two, cut short.

    Words of several parts (`command:new`) are compared part by part, so that one whole word is never taken
    for another: `command:compact` is no slip of `command:stop`. None where no word or several are near.
    """
    if not word or len(word) > LONGEST:
        return None
    words = list(dict.fromkeys(words))
    parts = _parts(word)
    alike = [known for known in words if _parts(known) == parts]
    near = alike or [known for known in words if known != word and _is_slip(parts, _parts(known))]
    return near[0] if len(near) == 1 else None


def _parts(word: str) -> list[str]:
    return [part.lower() for part in BETWEEN.split(word) if part]


def _is_slip(parts: list[str], known: list[str]) -> bool:
    if len(parts) != len(known):
        return False
    wrong = [(one, other) for one, other in zip(parts, known, strict=True) if one != other]
    return len(wrong) == 1 and _are_near(*wrong[0])


def _are_near(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) >= 4 and longer.startswith(shorter) and len(longer) - len(shorter) <= 3:
        return True
    allowed = 0 if len(shorter) < 3 else 1 if len(shorter) < 7 else 2
    return len(longer) - len(shorter) <= allowed and distance(one, other) <= allowed


def distance(one: str, other: str) -> int:
    """Letters added, left out, replaced, or swapped with the next one, on the way from one to the other."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        two_before, before, row = before, row, [i]
        for j, wanted in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, two_before[j - 2] + 1)
            row.append(cost)
    return row[-1]
