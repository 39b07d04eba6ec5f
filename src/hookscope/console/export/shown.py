"""Views as text and as the documents that the command line prints. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from hookscope.console.hooks.registry import registry_sheet
from hookscope.console.hooks.row_lines import Columns, columns_for, group_line, heading_line, row_line
from hookscope.console.hooks.rows import Grouping, Row, grouped
from hookscope.console.hooks.why import report
from hookscope.console.hosts.rows import columns_of, heading, row
from hookscope.console.hosts.sheets import runs_sheet
from hookscope.console.log.model import LogEntry
from hookscope.console.text import plain
from hookscope.core.event import iso
from hookscope.core.inventory import Rejected
from hookscope.core.local_time import in_local_time
from hookscope.core.standing import Standing
from hookscope.values import dataclass
from hookscope.workbench import comparison_document, documents, run_documents

if TYPE_CHECKING:
    from hookscope.console.state import Linted, SourceText
    from hookscope.core.runs import Event, Plan, Run
    from hookscope.core.side.model import Comparison
    from hookscope.core.side.model import Line as Compared
    from hookscope.core.side.runs import RunThere
    from hookscope.workbench import View

WIDTH = 120  # cells of a line, where a text is laid out
WHOLE = 10_000_000  # characters of a text


@dataclass(frozen=True, slots=True)
class Shown:
    """One thing on the screen, as it was when it was asked for. It is written out where it is needed, in any
    thread: of thousands of hooks that takes seconds. Without a document it has no JSON."""

    what: str  # in a sentence
    name: str  # of a file, without its ending
    as_text: Callable[[], str]
    as_document: Callable[[], Any] | None = None

    @property
    def text(self) -> str:
        return self.as_text()

    @property
    def document(self) -> Any:
        return self.as_document() if self.as_document is not None else None


def shown_list(rows: Sequence[Row], view: View, grouping: Grouping, filtered: str = "") -> Shown:
    """The hooks as they are listed: those that a filter hides are left out of the document, too."""
    return Shown(
        "list of hooks",
        "hooks",
        partial(_list_text, rows, view, grouping, filtered),
        partial(_list_document, rows, view),
    )


def _list_text(rows: Sequence[Row], view: View, grouping: Grouping, filtered: str) -> str:
    columns: Columns = columns_for(WIDTH, rows, grouping)
    lines = [heading_line(columns)]
    for group in grouped(rows, view, grouping, all_folders=not filtered):
        lines.append(group_line(group, WIDTH, grouping))
        lines += [row_line(one, columns, keys=False) for one in group.rows]
    return _lines(line.plain for line in lines)


def _list_document(rows: Sequence[Row], view: View) -> Any:
    document = documents.inventory(view)
    document["hooks"] = [documents.hook(one.item, view) for one in rows if isinstance(one.item, Standing)]
    document["rejected"] = [documents.rejected(one.item) for one in rows if isinstance(one.item, Rejected)]
    return document


def shown_hook(one: Row, view: View, source: SourceText | None, checked: Linted | None) -> Shown:
    """Everything that is known of a hook."""
    item = one.item
    document = (
        partial(documents.hook, item, view)
        if isinstance(item, Standing)
        else partial(documents.rejected, item)
    )
    return Shown(f"report on {one.name}", one.name, partial(report, one, view, source, checked), document)


def shown_registry(view: View) -> Shown:
    """Who is called for each event."""
    return Shown("registry", "registry", lambda: registry_sheet(view, WIDTH).plain + "\n")


def shown_log(entries: Iterable[LogEntry]) -> Shown:
    """The entries, each on one line."""
    kept = tuple(entries)
    return Shown("log", "log", lambda: _lines(map(log_line, kept)), partial(_log_document, kept))


def _log_document(kept: Sequence[LogEntry]) -> Any:
    entries = [
        {
            "at": iso(in_local_time(one.at)),
            "level": one.level,
            "kind": one.kind,
            "subject": one.subject,
            "text": one.text,
            "run": one.run,
        }
        for one in kept
    ]
    return {"entries": entries}


def log_line(one: LogEntry) -> str:
    """An entry, whole."""
    text = plain(f"{one.at.isoformat()} {one.level} {one.kind} {one.subject}: {one.text}", WHOLE).plain
    return " ".join(text.split("\n"))


def shown_hosts(
    comparison: Comparison, lines: Sequence[Compared], runs: Sequence[RunThere] = (), *, different: bool
) -> Shown:
    """The matrix, and below it the runs of an event at every host where those are shown."""
    what = "comparison and the runs" if runs else "comparison"
    return Shown(
        what,
        "hosts",
        partial(_hosts_text, comparison, lines, runs),
        partial(_hosts_document, comparison, runs, different),
    )


def _hosts_text(comparison: Comparison, lines: Sequence[Compared], runs: Sequence[RunThere]) -> str:
    widths = columns_of(comparison, WIDTH)
    table = _lines(
        line.plain for line in (heading(comparison, widths), *(row(line, widths) for line in lines))
    )
    return f"{table}\n{runs_sheet(runs, WIDTH).plain}\n" if runs else table


def _hosts_document(comparison: Comparison, runs: Sequence[RunThere], different: bool) -> Any:
    document = comparison_document.document(comparison, different=different)
    return {**document, "runs": comparison_document.runs(runs)} if runs else document


def shown_event(event: Event) -> Shown:
    """What is composed."""
    document = run_documents.event(event)
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    return Shown("event", stem(event.key), lambda: text, lambda: document)


def shown_plan(plan: Plan, as_text: Callable[[], str]) -> Shown:
    """Who would run and who not; `as_text` as the plan is drawn."""
    return Shown("plan", f"plan-{stem(plan.event.key)}", as_text, partial(run_documents.plan, plan))


def shown_run(number: int, run: Run | None, text: str, dialect: str) -> Shown:
    """A run; one that has not ended has no document. `text` as it is drawn."""
    document = partial(run_documents.run, run, dialect) if run is not None else None
    return Shown(f"run {number}", f"run-{number}", lambda: text, document)


def stem(text: str) -> str:
    """A part of a file's name: `command-new`."""
    return "-".join("".join(char if char.isalnum() else " " for char in text).split())[:60].lower() or "hook"


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line.rstrip()}\n" for line in lines)
