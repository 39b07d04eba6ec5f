"""The manual: one Markdown file a chapter beside this module, and how `hookscope help` finds a topic in it.

A file's name is its place, a dash and its topic: `10-why.md`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from math import log
from pathlib import Path

from hookscope.values import dataclass

_HEADING = re.compile(r"^## (?P<title>.+)$")
_FENCE = re.compile(r"^(```|~~~)")
_WORD = re.compile(r"[^\W_][\w-]*|[●○▲◌✗◇◐≈]")
_STOP_TEXT = """
a an and are as at be by can do does for from how i in is it its me mean means my not of on or should that the
there this to use we what when where which who why will with you your
"""
_STOP_WORDS = frozenset(_STOP_TEXT.split())
_SATURATION = 1.2
_BEST_SECTIONS = 3
_OTHER_WORDS = "Words for the search"  # a section of the glossary, not a result
_LEAST_SHARE = 0.6  # of the best section's score: what is further away is not shown


@dataclass(frozen=True, slots=True)
class Chapter:
    """One chapter of the manual."""

    topic: str
    title: str
    text: str  # Markdown, without its title


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a chapter between two headings."""

    chapter: Chapter
    heading: str  # empty before the first heading
    text: str


@cache
def chapters() -> Mapping[str, Chapter]:
    """Return the chapters by topic, in order."""
    files = sorted(Path(__file__).parent.glob("*-*.md"), key=lambda file: file.name)
    return {chapter.topic: chapter for chapter in map(_chapter_in, files)}


def _chapter_in(file: Path) -> Chapter:
    title, _, text = file.read_text(encoding="utf-8").removeprefix("# ").partition("\n")
    return Chapter(file.stem.partition("-")[2], title, text.strip("\n"))


def sections_of(chapter: Chapter) -> tuple[Section, ...]:
    """Return the sections of a chapter. Headings in code blocks are ignored."""
    heading, lines, in_code = "", list[str](), False
    found: list[Section] = []
    for line in chapter.text.splitlines():
        in_code ^= bool(_FENCE.match(line))
        match = None if in_code else _HEADING.match(line)
        if match:
            found.append(Section(chapter, heading, "\n".join(lines).strip("\n")))
            heading, lines = match["title"], []
        else:
            lines.append(line)
    found.append(Section(chapter, heading, "\n".join(lines).strip("\n")))
    return tuple(section for section in found if section.text)


def chapter_of(query: str) -> Chapter | None:
    """Return the chapter with this topic, else the only one with these words in its title, else None."""
    by_topic = chapters().get(query.strip().casefold())
    words = set(_words(query))
    titled = [one for one in chapters().values() if words and words <= set(_words(one.title))]
    return by_topic or (titled[0] if len(titled) == 1 else None)


def sections_about(query: str) -> tuple[Section, ...]:
    """Return the few sections that fit a query best, best first. An unknown word finds its closest match."""
    index = _word_index()
    sections_with = Counter(word for words in index.values() for word in words.heading | words.text.keys())
    wanted = {known for word in _words(query) for known in _known(word, sections_with)}
    mean = sum(words.text.total() for words in index.values()) / len(index)
    scores = {
        section: sum(
            words.weight_of(word, mean) * log(1 + len(index) / sections_with[word]) for word in wanted
        )
        for section, words in index.items()
    }
    best = max(scores.values(), default=0.0)
    ranked = sorted((section for section in scores if scores[section]), key=lambda one: -scores[one])
    return tuple(section for section in ranked if scores[section] >= _LEAST_SHARE * best)[:_BEST_SECTIONS]


@dataclass(frozen=True, slots=True)
class _SectionWords:
    heading: frozenset[str]
    text: Counter[str]

    def weight_of(self, word: str, mean: float) -> float:
        """Return the BM25 weight of a word in this section; a word of the heading adds 1.

        Further mentions add less and less, and mentions in long sections add less than in short ones.
        """
        length = 0.25 + 0.75 * self.text.total() / mean
        return self.text[word] / (self.text[word] + _SATURATION * length) + (word in self.heading)


@cache
def _word_index() -> Mapping[Section, _SectionWords]:
    return {
        section: _SectionWords(
            frozenset(_words(section.heading or chapter.title)), Counter(_words(section.text))
        )
        for chapter in chapters().values()
        for section in sections_of(chapter)
        if section.heading != _OTHER_WORDS
    }


@cache
def _other_words() -> Mapping[str, Sequence[str]]:
    """Return the manual's words for words that it does not use, from the table of the glossary."""
    (section,) = (one for one in sections_of(chapters()["glossary"]) if one.heading == _OTHER_WORDS)
    rows = (line.split("|")[1:3] for line in section.text.splitlines() if line.startswith("| "))
    return {word: _words(ours) for theirs, ours in rows for word in _words(theirs)}


def _words(text: str) -> Sequence[str]:
    """Return the stems of the words that a search can find."""
    return [_stem(word) for word in _WORD.findall(text.lower()) if word not in _STOP_WORDS]


def _known(word: str, known: Mapping[str, int]) -> Iterable[str]:
    found = {word, *_other_words().get(word, ())} & known.keys()
    return found or get_close_matches(word, list(known), n=1, cutoff=0.7)


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "e", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word
