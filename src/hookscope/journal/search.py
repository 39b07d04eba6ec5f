"""The index that finds runs: by words, and by facts – event, hook, outcome, pin – written as words too.

One list of run ids for each word, and the newest of those that are in all lists asked for: that costs the
same among a thousand runs and a million. Where SQLite has no FTS5 there is no index, and runs are read one
by one.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from hookscope.journal.records import Outcome, storable
from hookscope.journal.wanted import Wanted, hooks_of
from hookscope.journal.words import phrase, words_of_run

# Words are split by `words`, so the tokenizer has only blanks to find, in whatever version it comes.
# The index keeps no text of its own: that stands in the documents.
CREATE = """
    create virtual table if not exists search
    using fts5 (words, content = '', columnsize = 0, tokenize = 'ascii')"""
INSERT = "insert into search (rowid, words) values (?, ?)"
# The same words that were inserted: what is found by them goes.
DELETE = "insert into search (search, rowid, words) values ('delete', ?, ?)"
ENDED: frozenset[Outcome] = frozenset({"ok", "failed", "cancelled"})  # the others are not in the index


def prepare_search(database: sqlite3.Connection) -> None:
    """Make the index where there is none and SQLite can."""
    if not has_index(database):
        with suppress(sqlite3.OperationalError):  # no such module: fts5
            database.execute(CREATE)


def has_index(database: sqlite3.Connection) -> bool:
    """Is there an index, and can this SQLite read it."""
    try:
        database.execute("select rowid from search limit 0")
    except sqlite3.OperationalError:  # no such table, no such module
        return False
    return True


@dataclass(frozen=True, slots=True)
class Entry:
    """What the index has of a run that has ended, as it stands in the database."""

    workspace: str
    key: str
    outcome: str
    pinned: bool
    event: str
    document: str

    def words(self) -> str:
        """Facts, then words. A document that cannot be read has none of either but for its columns'."""
        try:
            event: Mapping[str, Any] = json.loads(self.event)
            run: Mapping[str, Any] = json.loads(self.document)
            facts, words = self._facts(hooks_of(run)), words_of_run(event, run)
        except (ValueError, LookupError, TypeError, AttributeError):
            facts, words = self._facts([]), ""
        return f"{' '.join(facts)} {words}"

    def _facts(self, hooks: Sequence[str]) -> Iterator[str]:
        """Every combination that is asked for: so a question for it has one list to read."""
        if self.pinned:
            yield _fact(self.workspace, "pinned")
        if self.outcome == "ok":
            yield _fact(self.workspace, "", outcome="ok")
        for key in (None, self.key):
            for hook in (None, *hooks):
                yield _fact(self.workspace, "", key, hook)
                if self.outcome != "ok":
                    yield _fact(self.workspace, "", key, hook, self.outcome)


def match_of(wanted: Wanted, workspace: str) -> str | None:
    """The question to the index; None where it can find nothing."""
    key = None if wanted.key is None else storable(wanted.key)
    outcomes = sorted((wanted.outcomes or frozenset()) & ENDED)
    parts: list[str] = []
    if wanted.outcomes is not None and not outcomes:
        return None
    if len(outcomes) == 1 and outcomes[0] != "ok":
        parts.append(f'"{_fact(workspace, "", key, wanted.hook, outcomes[0])}"')
    else:
        parts.append(f'"{_fact(workspace, "", key, wanted.hook)}"')
        facts = [f'"{_fact(workspace, "", outcome=outcome)}"' for outcome in outcomes]
        parts += [f"({' OR '.join(facts)})"] if facts else []
    if wanted.pinned:
        parts.append(f'"{_fact(workspace, "pinned")}"')
    if wanted.text:
        sought = phrase(wanted.text)
        if sought is None:
            return None
        parts.append(f'"{" ".join(sought.words)}"{" *" if sought.open else ""}')
    return " AND ".join(parts)


def _fact(
    workspace: str, kind: str, key: str | None = None, hook: str | None = None, outcome: str | None = None
) -> str:
    """A word that no text has, since `words` takes no `§`."""
    text = json.dumps([workspace, kind, key, hook, outcome])  # ASCII, broken UTF-8 too
    return f"§{blake2b(text.encode(), digest_size=8).hexdigest()}"
