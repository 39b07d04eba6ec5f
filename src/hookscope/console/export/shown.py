"""Views as text and as the documents that the command line prints. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from hookscope.console.hooks.registry import registry_sheet
from hookscope.console.hooks.rows import (
    Columns,
    Grouping,
    Row,
    columns_for,
    group_line,
    grouped,
    heading_line,
    row_line,
)
from hookscope.console.hooks.why import report
from hookscope.console.hosts.rows import columns_of, heading, row
from hookscope.console.hosts.sheets import runs_sheet
from hookscope.console.log.model import LogEntry
from hookscope.console.text import plain
from hookscope.core.event import iso
from hookscope.core.hooks import Standing
from hookscope.core.inventory import Rejected
from hookscope.values import dataclass
from hookscope.workbench import comparison_document, documents, run_documents

if TYPE_CHECKING:
    from hookscope.console.state import Checked, Source
    from hookscope.core.runs import Event, Plan, Run
    from hookscope.core.side.model import Comparison
    from hookscope.core.side.model import Line as Compared
    from hookscope.core.side.runs import RunThere
    from hookscope.workbench import View

WIDTH = 120  # cells of a line, where a text is laid out
WHOLE = 10_000_000  # characters of a text


@dataclass(frozen=True, slots=True)
class Shown:
    """One thing on the screen. Without a document it has no JSON."""

    what: str  # in a sentence
    name: str  # of a file, without its ending
    text: str
    document: Any = None


def shown_list(rows: Sequence[Row], view: View, grouping: Grouping, filtered: str = "") -> Shown:
    """The hooks as they are listed: those that a filter hides are left out of the document, too."""
    columns: Columns = columns_for(WIDTH, rows, grouping)
    lines = [heading_line(columns)]
    for group in grouped(rows, view, grouping, all_folders=not filtered):
        lines.append(group_line(group, WIDTH, grouping))
        lines += [row_line(one, columns) for one in group.rows]
    document = documents.inventory(view)
    document["hooks"] = [documents.hook(one.item) for one in rows if isinstance(one.item, Standing)]
    document["rejected"] = [documents.rejected(one.item) for one in rows if isinstance(one.item, Rejected)]
    return Shown("list of hooks", "hooks", _lines(line.plain for line in lines), document)


def shown_hook(one: Row, view: View, source: Source | None, checked: Checked | None) -> Shown:
    """Everything that is known of a hook."""
    item = one.item
    document = documents.hook(item) if isinstance(item, Standing) else documents.rejected(item)
    return Shown(f"report on {one.name}", one.name, report(one, view, source, checked), document)


def shown_registry(view: View) -> Shown:
    """Who is called for each event."""
    return Shown("registry", "registry", registry_sheet(view, WIDTH).plain + "\n")


def shown_log(entries: Iterable[LogEntry]) -> Shown:
    """The entries, each on one line."""
    kept = tuple(entries)
    document = [
        {
            "at": iso(one.at.astimezone()),
            "level": one.level,
            "kind": one.kind,
            "subject": one.subject,
            "text": one.text,
            "run": one.run,
        }
        for one in kept
    ]
    return Shown("log", "log", _lines(map(log_line, kept)), {"entries": document})


def log_line(one: LogEntry) -> str:
    """An entry, whole."""
    text = plain(f"{one.at.isoformat()} {one.level} {one.kind} {one.subject}: {one.text}", WHOLE).plain
    return " ".join(text.split("\n"))


def shown_hosts(
    comparison: Comparison, lines: Sequence[Compared], runs: Sequence[RunThere] = (), *, different: bool
) -> Shown:
    """The matrix, and below it the runs of an event at every host where those are shown."""
    widths = columns_of(comparison, WIDTH)
    table = _lines(
        line.plain for line in (heading(comparison, widths), *(row(line, widths) for line in lines))
    )
    document = comparison_document.document(comparison, different=different)
    if not runs:
        return Shown("comparison", "hosts", table, document)
    text = f"{table}\n{runs_sheet(runs, WIDTH).plain}\n"
    return Shown(
        "comparison and the runs", "hosts", text, {**document, "runs": comparison_document.runs(runs)}
    )


def shown_event(event: Event) -> Shown:
    """What is composed."""
    document = run_documents.event(event)
    return Shown(
        "event", stem(event.key), json.dumps(document, indent=2, ensure_ascii=False) + "\n", document
    )


def shown_plan(plan: Plan, text: str) -> Shown:
    """Who would run and who not; `text` as the plan is drawn."""
    return Shown("plan", f"plan-{stem(plan.event.key)}", text, run_documents.plan(plan))


def shown_run(number: int, run: Run | None, text: str, dialect: str) -> Shown:
    """A run; one that has not ended has no document. `text` as it is drawn."""
    document = run_documents.run(run, dialect) if run is not None else None
    return Shown(f"run {number}", f"run-{number}", text, document)


def stem(text: str) -> str:
    """A part of a file's name: `command-new`."""
    return "-".join("".join(char if char.isalnum() else " " for char in text).split())[:60].lower() or "hook"


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line.rstrip()}\n" for line in lines)
