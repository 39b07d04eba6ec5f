"""What of a run can be found by its text: the words of what foreigners wrote. Pure.

An index rests on this: another answer for the same run would leave its old words behind in the index.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from hookscope.values import dataclass

LONGEST_TEXT = 2_000  # characters of one text that are searched
LONGEST_RUN = 32_000  # characters of one run
LONGEST_WORD = 64

# Scripts without blanks between words: each sign is a word, and a word in a sentence is a phrase.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_ASCII_WORD = re.compile(r"[a-z0-9]+")


def words(text: str) -> list[str]:
    """The words of a text, without capitals and accents. All else parts words, `_` too."""
    if text.isascii():
        found = _ASCII_WORD.findall(text.lower())
    else:
        parts = unicodedata.normalize("NFKD", text)
        bare = "".join(char for char in parts if not unicodedata.combining(char))
        found = _WORD.findall(unicodedata.normalize("NFC", bare).casefold())
    return [word[:LONGEST_WORD] for word in found]


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that stand side by side; with `open` the last one may go on."""

    words: tuple[str, ...]
    open: bool = False

    def stands_in(self, text: str) -> bool:
        """`text` is words with blanks between them."""
        end = "" if self.open else " "
        return f" {' '.join(self.words)}{end}" in f" {text} "


def phrase(text: str) -> Phrase | None:
    """What a user looks for; `*` at the end: words that begin so. None where the text has no word."""
    found = tuple(words(text))
    return Phrase(found, text.rstrip().endswith("*")) if found else None


def words_of_run(event: Mapping[str, Any], document: Mapping[str, Any] | None) -> str:
    """All words of a run that are searched, with blanks between them. `document`: None before its end."""
    kept, left = [], LONGEST_RUN
    for text in dict.fromkeys(chain(_of_event(event), _of_run(document or {}))):
        piece = text[: min(LONGEST_TEXT, left)]
        kept += words(piece)
        left -= len(piece)
        if left <= 0:
            break
    return " ".join(kept)


def _of_event(event: Mapping[str, Any]) -> Iterator[str]:
    yield f"{event['type']}:{event['action']}"
    yield event["sessionKey"]
    for name in ("messages", "context", "ctx", "meta"):
        yield from _strings(event.get(name))


def _of_run(run: Mapping[str, Any]) -> Iterator[str]:
    """First what is short and telling, since there is a limit; last what handlers printed."""
    yield from _strings([run.get("failure"), run.get("verdict"), run.get("messages")])
    results = run.get("results") or ()
    for result in results:
        yield from _strings([result["hook"], result.get("handler"), result.get("messages")])
        yield from _of_failure(result.get("error"))
        yield from _of_failure(result.get("stale"))
        yield from _strings(result.get("notes"))
    for left in run.get("not_run") or ():
        yield from _strings([left["hook"], left["reason"]])
    yield from _strings([run.get("notes"), run.get("result"), run.get("context")])
    for line in run.get("log") or ():
        yield from _strings(line["text"])
    for result in results:
        yield from _strings([result.get("returned"), result.get("stdout"), result.get("stderr")])


def _of_failure(failure: Mapping[str, Any] | None) -> Iterable[str]:
    if failure is None:
        return
    yield from (failure["type"], failure["message"])
    for frame in failure["frames"]:
        yield from (frame["file"], frame["function"], frame["source"])


def _strings(value: object) -> Iterator[str]:
    """The texts and numbers of a value that JSON had, not its keys. Plain types: to ask for them is fast."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
