"""The full-text index that finds runs.

by words, and by facts (event, hook, outcome, pin) written as words.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import Any

from hookscope.storage.journal.records import Outcome, storable_text
from hookscope.storage.journal.run_filter import (
    RunFilter,
    called_hooks_of,
    index_terms_of_run,
    parse_phrase,
)
from hookscope.values import dataclass

# Words are split by `words`, so the tokenizer has only blanks to find, in whatever version it comes.
# The index keeps no text of its own: that stands in the documents. Whoever changes what an entry is gives
# the table another name, and drops this one: all runs are filed anew then.
CREATE_INDEX = """
    create virtual table search
    using fts5 (words, content = '', columnsize = 0, detail = none, tokenize = 'ascii')"""
INSERT_TERMS = "insert into search (rowid, words) values (?, ?)"
# The same words that were inserted: what is found by them goes.
DELETE_TERMS = "insert into search (search, rowid, words) values ('delete', ?, ?)"
ENDED: frozenset[Outcome] = frozenset({"ok", "failed", "cancelled"})  # the others are not in the index


def prepare_search(database: sqlite3.Connection) -> None:
    """Make the index where there is none and SQLite can. Then no run is filed: each is to be."""
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
    """Is there an index, and can this SQLite read it."""
    try:
        database.execute("select rowid from search limit 0")
    except sqlite3.OperationalError:  # no such table, no such module
        return False
    return True


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """What the index has of a run that has ended, as it stands in the database."""

    workspace: int
    key: str
    outcome: str
    pinned: bool
    event: str
    document: str

    def terms(self) -> str:
        """Facts, then words; of a pinned run words once more. A document that cannot be read has neither
        words nor hooks."""
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
        """Every combination that is asked for: so a question for it has one list to read."""
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
    """A question to the index. Not exact: some of what it finds may not be wanted."""

    text: str
    is_exact: bool


def index_query_of(run_filter: RunFilter, workspace: int) -> IndexQuery | None:
    """None where the index can find nothing."""
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
    # Two pairs may stand apart from each other where their words stand in a row.
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


# `words` takes no `§`: so no text has a fact or a pair, and none leads into another workspace.


def _workspace_terms(words: Sequence[str], workspace: int, *, pinned: bool = False) -> list[str]:
    """Words of runs of this workspace, and each with the next one, so that a phrase has short lists to read;
    those of pinned runs are in lists of their own."""
    mark = f"§{workspace}§§" if pinned else f"§{workspace}§"
    pairs = (f"{mark}{first}§{second}" for first, second in pairwise(words))
    return [*(mark + word for word in words), *pairs]


@lru_cache(maxsize=4096)
def _fact_term(
    workspace: int, kind: str, key: str | None = None, hook: str | None = None, outcome: str | None = None
) -> str:
    text = json.dumps([workspace, kind, key, hook, outcome])  # ASCII, broken UTF-8 too
    return f"§{blake2b(text.encode(), digest_size=8).hexdigest()}"
