"""The letters of the jump mode. Pure."""

from __future__ import annotations

LETTERS = "asdfghjklqwertyuiopzxcvbnm"  # those under the fingers first


def labels_for(count: int) -> tuple[str, ...]:
    """So many labels of one letter, or of two where one does not do. None begins another one."""
    letters = len(LETTERS)
    pairs = 0  # letters that two-letter labels begin with
    while letters - pairs + pairs * letters < count and pairs < letters:
        pairs += 1
    first = list(LETTERS[: letters - pairs])
    second = [head + tail for head in LETTERS[letters - pairs :] for tail in LETTERS]
    return (*first, *second)[:count]
