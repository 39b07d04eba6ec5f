"""The journal: the durable record of events, results, loads, changes and notices. SQLite, one file.

Who owns what: one thread of a Journal owns the connection that writes; every read opens its own and
closes it. `close` writes all that waits, and joins the thread.

What always holds: an id is given once the event is on disk. What looks like a secret is masked before it
gets there. A run names the process that began it, so that one without an end can be told from one that
still goes on. Several processes write to one file. A file that cannot be used is left as it is, and said.

Names are loaded when they are used: whoever records nothing imports no sqlite3.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookscope.journal.circumstances import changed_since
    from hookscope.journal.database import JournalError
    from hookscope.journal.journal import Journal
    from hookscope.journal.masking import on_record
    from hookscope.journal.owner import Owner
    from hookscope.journal.reading import Entry, StoredRun
    from hookscope.journal.records import Outcome, run_of
    from hookscope.journal.retention import Retention
    from hookscope.journal.wanted import Wanted

_HOMES = {
    "Entry": "reading",
    "Journal": "journal",
    "JournalError": "database",
    "Outcome": "records",
    "Owner": "owner",
    "Retention": "retention",
    "StoredRun": "reading",
    "Wanted": "wanted",
    "changed_since": "circumstances",
    "on_record": "masking",
    "run_of": "records",
}

__all__ = [
    "Entry",
    "Journal",
    "JournalError",
    "Outcome",
    "Owner",
    "Retention",
    "StoredRun",
    "Wanted",
    "changed_since",
    "on_record",
    "run_of",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
