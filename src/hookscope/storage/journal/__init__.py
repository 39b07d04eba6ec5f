"""The journal: the durable record of events, results, loads, changes and notices. One SQLite file.

One thread of a Journal owns the writing connection; every read opens its own and closes it. `close` writes
everything pending, and joins the thread.

Guarantees: a run's id is returned once its event is on disk. Secrets are masked before they are written. A
run names the process that started it, which tells interrupted runs from running ones. Several
processes can write to one file. A file that cannot be used is left unchanged, and reported.

Names load on first use: programs that record nothing import no sqlite3.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookscope.storage.journal.database import JournalError
    from hookscope.storage.journal.journal import Journal
    from hookscope.storage.journal.reader import JournalEntry, StoredRun
    from hookscope.storage.journal.records import Outcome, run_of
    from hookscope.storage.journal.redaction import as_recorded
    from hookscope.storage.journal.retention import Retention
    from hookscope.storage.journal.run_environment import RunOwner, handlers_changed_since
    from hookscope.storage.journal.run_filter import RunFilter

_HOMES = {
    "Journal": "journal",
    "JournalEntry": "reader",
    "JournalError": "database",
    "Outcome": "records",
    "Retention": "retention",
    "RunFilter": "run_filter",
    "RunOwner": "run_environment",
    "StoredRun": "reader",
    "as_recorded": "redaction",
    "handlers_changed_since": "run_environment",
    "run_of": "records",
}

__all__ = [
    "Journal",
    "JournalEntry",
    "JournalError",
    "Outcome",
    "Retention",
    "RunFilter",
    "RunOwner",
    "StoredRun",
    "as_recorded",
    "handlers_changed_since",
    "run_of",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
