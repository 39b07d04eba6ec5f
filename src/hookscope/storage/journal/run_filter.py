"""RunFilter, which selects runs in the database or a file, and the index terms of runs. Pure."""

from __future__ import annotations

import json
import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

from hookscope.storage.journal.records import Outcome, storable_text
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.storage.journal.reader import StoredRun


# `index_terms` splits words, so the tokenizer finds only spaces, in every version of SQLite.
# The index stores no text: the documents have it. To change the terms of an entry, rename the table and
# drop this one: then all runs are indexed again.
CREATE_INDEX = """
    create virtual table search
    using fts5 (words, content = '', columnsize = 0, detail = none, tokenize = 'ascii')"""
INSERT_TERMS = "insert into search (rowid, words) values (?, ?)"
# Needs the same words that were inserted.
DELETE_TERMS = "insert into search (search, rowid, words) values ('delete', ?, ?)"
ENDED: frozenset[Outcome] = frozenset({"ok", "failed", "cancelled"})  # the others are not in the index


def prepare_search(database: sqlite3.Connection) -> None:
    """Create the index if it is missing and SQLite supports it, and mark all runs as not indexed."""
    if has_index(database):
        return
    database.execute("begin immediate")
    try:
        database.execute(CREATE_INDEX)
        database.execute("insert or ignore into fresh select id from runs")
        database.execute("delete from totals")
        database.execute("update circumstances set runs = 0")
        database.execute("commit")
    except sqlite3.OperationalError:  # no such module: fts5; or another process was faster
        database.execute("rollback")


def has_index(database: sqlite3.Connection) -> bool:
    """Return True if there is an index, and SQLite can read it."""
    try:
        database.execute("select rowid from search limit 0")
    except sqlite3.OperationalError:  # no such table, no such module
        return False
    return True


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A finished run's entry in the index."""

    workspace: int
    key: str
    outcome: str
    pinned: bool
    event: str
    document: str

    def terms(self) -> str:
        """Return facts, then words (twice for a pinned run); an unreadable document has no words or hooks."""
        try:
            event: Mapping[str, Any] = json.loads(self.event)
            run: Mapping[str, Any] = json.loads(self.document)
            facts, words = self._facts(called_hooks_of(run)), index_terms_of_run(event, run).split()
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            facts, words = self._facts([]), []
        found = [*facts, *_workspace_terms(words, self.workspace)]
        return " ".join(
            (*found, *_workspace_terms(words, self.workspace, pinned=True)) if self.pinned else found
        )

    def _facts(self, hooks: Sequence[str]) -> Iterator[str]:
        """Yield a term for each combination of facts that queries use, so that a query reads one list."""
        if self.pinned:
            yield _fact_term(self.workspace, "pinned")
        if self.outcome == "ok":
            yield _fact_term(self.workspace, "", outcome="ok")
        for key in (None, self.key):
            for hook in (None, *hooks):
                if key is not None or hook is not None:
                    yield _fact_term(self.workspace, "", key, hook)
                if self.outcome != "ok":
                    yield _fact_term(self.workspace, "", key, hook, self.outcome)


@dataclass(frozen=True, slots=True)
class IndexQuery:
    """A query of the index. It may return too many runs, never too few."""

    text: str
    is_exact: bool


def index_query_of(run_filter: RunFilter, workspace: int) -> IndexQuery | None:
    """Return the index query of a filter; None if the index cannot help."""
    outcomes = sorted((run_filter.outcomes or frozenset()) & ENDED)
    phrase = parse_phrase(run_filter.text) if run_filter.text else None
    if (run_filter.outcomes is not None and not outcomes) or (run_filter.text and phrase is None):
        return None
    parts = list(_facts_in(run_filter, workspace, outcomes))
    if phrase is not None:
        marked = _workspace_terms(phrase.words, workspace, pinned=run_filter.pinned)
        parts += [f'"{word}"' for word in marked[len(phrase.words) :] or marked]
        parts[-1] += " *" if phrase.is_prefix else ""
    elif run_filter.pinned:
        parts.append(f'"{_fact_term(workspace, "pinned")}"')
    # A longer phrase is searched by its pairs, which may be apart in the text.
    return IndexQuery(" AND ".join(parts), is_exact=phrase is None or len(phrase.words) < 3)


def _facts_in(run_filter: RunFilter, workspace: int, outcomes: Sequence[Outcome]) -> Iterator[str]:
    key = None if run_filter.key is None else storable_text(run_filter.key)
    if len(outcomes) == 1 and outcomes[0] != "ok":
        yield f'"{_fact_term(workspace, "", key, run_filter.hook, outcomes[0])}"'
        return
    if key is not None or run_filter.hook is not None:
        yield f'"{_fact_term(workspace, "", key, run_filter.hook)}"'
    if outcomes:
        facts = (f'"{_fact_term(workspace, "", outcome=outcome)}"' for outcome in outcomes)
        yield f"({' OR '.join(facts)})"


# `index_terms` yields no `§`, so no word looks like a fact, a pair or a term of another workspace.


def _workspace_terms(words: Sequence[str], workspace: int, *, pinned: bool = False) -> list[str]:
    """Return the words and each pair of words as terms of this workspace; pairs make phrases fast. Pinned
    runs have terms of their own.
    """
    mark = f"§{workspace}§§" if pinned else f"§{workspace}§"
    pairs = (f"{mark}{first}§{second}" for first, second in pairwise(words))
    return [*(mark + word for word in words), *pairs]


@lru_cache(maxsize=4096)
def _fact_term(
    workspace: int, kind: str, key: str | None = None, hook: str | None = None, outcome: str | None = None
) -> str:
    text = json.dumps([workspace, kind, key, hook, outcome])  # ASCII, broken UTF-8 too
    return f"§{blake2b(text.encode(), digest_size=8).hexdigest()}"


LONGEST_TEXT = 2_000  # characters of one text that are searched
LONGEST_RUN = 32_000  # characters of one run
LONGEST_WORD = 64

# Scripts without spaces between words: each character is a word, and a word is a phrase.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_ASCII_WORD = re.compile(r"[a-z0-9]+")


def index_terms(text: str) -> list[str]:
    """Return the words of a text, without case and accents. Everything else separates words, also `_`."""
    if text.isascii():
        found = _ASCII_WORD.findall(text.lower())
    else:
        parts = unicodedata.normalize("NFKD", text)
        bare = "".join(char for char in parts if not unicodedata.combining(char))
        found = _WORD.findall(unicodedata.normalize("NFC", bare).casefold())
    return [word[:LONGEST_WORD] for word in found]


@dataclass(frozen=True, slots=True)
class Phrase:
    """Adjacent words; with `is_prefix` the last one may be incomplete."""

    words: tuple[str, ...]
    is_prefix: bool = False

    def is_in(self, text: str) -> bool:
        """Return whether the phrase occurs in `text`, words separated by spaces."""
        end = "" if self.is_prefix else " "
        return f" {' '.join(self.words)}{end}" in f" {text} "


def parse_phrase(text: str) -> Phrase | None:
    """Return the searched phrase; with a final `*` the last word is a prefix. None if there is no word."""
    found = tuple(index_terms(text))
    return Phrase(found, text.rstrip().endswith("*")) if found else None


def index_terms_of_run(event: Mapping[str, Any], document: Mapping[str, Any] | None) -> str:
    """Return all searchable words of a run, separated by spaces. `document`: None before its end."""
    kept, left = [], LONGEST_RUN
    for text in dict.fromkeys(chain(_event_texts(event), _run_texts(document or {}))):
        piece = text[: min(LONGEST_TEXT, left)]
        kept += index_terms(piece)
        left -= len(piece)
        if left <= 0:
            break
    return " ".join(kept)


def _event_texts(event: Mapping[str, Any]) -> Iterator[str]:
    yield f"{event['type']}:{event['action']}"
    yield event["sessionKey"]
    for name in ("messages", "context", "ctx", "meta"):
        yield from _strings(event.get(name))


def _run_texts(run: Mapping[str, Any]) -> Iterator[str]:
    """Yield short, distinctive texts first, because there is a limit; handlers' output last."""
    yield from _strings([run.get("failure"), run.get("verdict"), run.get("messages")])
    results = run.get("results") or ()
    for result in results:
        yield from _strings([result["hook"], result.get("handler"), result.get("messages")])
        yield from _failure_texts(result.get("error"))
        yield from _failure_texts(result.get("stale"))
        yield from _strings(result.get("notes"))
    for left in run.get("not_run") or ():
        yield from _strings([left["hook"], left["reason"]])
    yield from _strings([run.get("notes"), run.get("result"), run.get("context")])
    for line in run.get("log") or ():
        yield from _strings(line["text"])
    for result in results:
        yield from _strings([result.get("returned"), result.get("stdout"), result.get("stderr")])


def _failure_texts(failure: Mapping[str, Any] | None) -> Iterable[str]:
    if failure is None:
        return
    yield from (failure["type"], failure["message"])
    for frame in failure["frames"]:
        yield from (frame["file"], frame["function"], frame["source"])


def _strings(value: object) -> Iterator[str]:
    """Yield the texts and numbers of a JSON value, but no keys. Supports only dicts and lists, for speed."""
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


NOT_FAILED_OUTCOMES: frozenset[Outcome] = frozenset({"ok", "cancelled", "interrupted", "running"})


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Conditions that must all hold; None: no condition."""

    hook: str | None = None  # it was called; a hook that did not run is not a match
    key: str | None = None
    outcomes: frozenset[Outcome] | None = None
    since: datetime | None = None
    until: datetime | None = None
    text: str | None = None  # its words are adjacent in what was recorded
    pinned: bool = False

    @property
    def uses_index(self) -> bool:
        """Return whether the filter has terms that the word index answers."""
        nothing = self.hook is None and self.key is None and self.outcomes is None and not self.text
        return not nothing or self.pinned

    def matches(self, run: StoredRun) -> bool:
        """Return True if the run matches, apart from its time."""
        if self.key is not None and run.key != storable_text(self.key):
            return False
        if self.outcomes is not None and run.outcome not in self.outcomes:
            return False
        if self.pinned and not run.pinned:
            return False
        if self.hook is not None and self.hook not in called_hooks_of(run.document):
            return False
        if not self.text:
            return True
        phrase = parse_phrase(self.text)
        return phrase is not None and phrase.is_in(index_terms_of_run(run.document["event"], run.document))

    def is_in_time(self, run: StoredRun) -> bool:
        """Return True if the run started within the window, both ends included."""
        return (self.since is None or run.started >= self.since) and (
            self.until is None or run.started <= self.until
        )


def called_hooks_of(document: Mapping[str, Any]) -> list[str]:
    """Return the names of the called hooks, each once."""
    return list(dict.fromkeys(result["hook"] for result in document.get("results", ())))
