"""The line in front of the cursor as its shell reads it: whole words, one that is begun, an open quote."""

from __future__ import annotations

from typing import NamedTuple

QUOTES = ("'", '"')


class Line(NamedTuple):
    """A line that is being typed."""

    words: tuple[str, ...]
    begun: str = ""
    quote: str = ""  # the one that is open in `begun`


def line_of(text: str) -> Line:
    """Never raises: what is not closed yet is what is typed."""
    words: list[str] = []
    word: list[str] | None = None
    quote = ""
    characters = iter(text)
    for character in characters:
        if character == "\\" and quote != "'":
            after = next(characters, "")
            kept = character if quote and after not in ('"', "\\", "$", "`") else ""
            word = [*(word or ()), kept + after]
        elif quote:
            quote, added = ("", "") if character == quote else (quote, character)
            word = [*(word or ()), added]
        elif character in QUOTES:
            quote, word = character, word or []
        elif character.isspace():
            words += ["".join(word)] if word is not None else []
            word = None
        else:
            word = [*(word or ()), character]
    return Line(tuple(words), "".join(word or ()), quote)
