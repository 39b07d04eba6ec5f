"""The order of names as JavaScript's `localeCompare` has it: a locale's, not that of bytes or numbers.

Recorded in eve 03 and 05 (rules note 3.1.5): signs before digits before letters, `_` before `-`; letter
case counts only where all else is equal, and then the small letter is first; `a10` before `a2`.
"""

import unicodedata
from typing import TypeAlias

# Signs in the order of the root locale's table (CLDR). Letters and digits follow them.
SIGNS = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$"
RANK_OF_SIGN = {sign: place for place, sign in enumerate(SIGNS)}
DIGIT, LETTER, OTHER = 1, 2, 3
# Letters that the table writes as others, with a mark; Unicode takes them for letters alone.
WRITTEN_AS = str.maketrans(
    {
        "ß": "ss\u035c",
        "ẞ": "SS\u035c",
        "æ": "ae\u035c",
        "Æ": "AE\u035c",
        "œ": "oe\u035c",
        "Œ": "OE\u035c",
        "ø": "o\u0338",
        "Ø": "O\u0338",
        "đ": "d\u0335",
        "Đ": "D\u0335",
        "ł": "l\u0335",
        "Ł": "L\u0335",
    }
)

NameKey: TypeAlias = tuple[tuple[tuple[int, int], ...], tuple[str, ...], tuple[bool, ...]]


def name_key(name: str) -> NameKey:
    """What names are sorted by: their letters, then their accents, then their case.

    Exact for ASCII. Of other scripts letters stand in the order of their code points.
    """
    letters: list[tuple[int, int]] = []
    accents: list[str] = []
    capitals: list[bool] = []
    for character in unicodedata.normalize("NFKD", name.translate(WRITTEN_AS)):
        if unicodedata.combining(character):
            if accents:
                accents[-1] += character
            continue
        letters.append(_rank(character))
        accents.append("")
        capitals.append(character != character.lower())
    return tuple(letters), tuple(accents), tuple(capitals)


def _rank(character: str) -> tuple[int, int]:
    if character in RANK_OF_SIGN:
        return 0, RANK_OF_SIGN[character]
    if character.isdecimal():
        return DIGIT, unicodedata.decimal(character)
    small = character.lower()[:1] or character
    return (LETTER if character.isalpha() else OTHER), ord(small)
