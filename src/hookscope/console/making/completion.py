"""What completes the last word of a list."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.suggester import Suggester


def last_of(typed: str) -> str:
    """The word that is being typed: behind the last comma."""
    return typed.rpartition(",")[2].strip()


def completed(typed: str, word: str) -> str:
    """The list with its last word completed."""
    before = typed.rpartition(",")[0]
    return f"{before.strip()}, {word}" if before.strip() else word


class OfWords(Suggester):
    """Completes the word behind the last comma; the words are asked for each time."""

    def __init__(self, words: Callable[[], Sequence[str]]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._words = words

    async def get_suggestion(self, value: str) -> str | None:
        begun = last_of(value)
        found = next((word for word in self._words() if begun and word.startswith(begun)), None)
        return None if found is None else value + found[len(begun) :]
