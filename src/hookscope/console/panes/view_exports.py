"""Panes as text, and as the JSON documents that the command line prints. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from hookscope.analysis import several_hosts
from hookscope.app import json_documents
from hookscope.console.panes.hook_sheets import hook_report
from hookscope.console.panes.hosts_pane import compared_runs_sheet, matrix_columns, matrix_heading, matrix_row
from hookscope.console.panes.registry_sheet import registry_sheet
from hookscope.console.state.hook_rows import (
    Grouping,
    HookColumns,
    HookRow,
    group_line,
    grouped_rows,
    heading_line,
    hook_columns,
    hook_line,
)
from hookscope.console.state.log_entries import LogEntry
from hookscope.console.theme.text_styles import safe_text
from hookscope.model.hook_event import iso
from hookscope.model.hook_status import HookStatus, RejectedHook
from hookscope.model.text import in_local_time
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.analysis.host_comparison import ComparedHook as Compared
    from hookscope.analysis.host_comparison import HostComparison, RunAtHost
    from hookscope.app.snapshot import Snapshot
    from hookscope.console.state.console_state import HookCheck, SourceText
    from hookscope.model.run import Event, Plan, Run

EXPORT_WIDTH = 120  # cells of a line
EXPORT_LIMIT = 10_000_000  # characters of a text


@dataclass(frozen=True, slots=True)
class ViewExport:
    """A part of the screen, as it was when the export was requested.

    Text and document are created on use, in any thread, as thousands of hooks take seconds.
    Without `as_document`, the part cannot be exported as JSON.
    """

    what: str  # its name in a sentence
    name: str  # file name without extension
    as_text: Callable[[], str]
    as_document: Callable[[], Any] | None = None

    @property
    def text(self) -> str:
        return self.as_text()

    @property
    def document(self) -> Any:
        return self.as_document() if self.as_document is not None else None


def export_hook_list(
    rows: Sequence[HookRow], view: Snapshot, grouping: Grouping, filtered: str = ""
) -> ViewExport:
    """Return the listed hooks; hooks that the filter hides are neither in the text nor in the document."""
    return ViewExport(
        "the list of hooks",
        "hooks",
        partial(_list_text, rows, view, grouping, filtered),
        partial(_list_document, rows, view),
    )


def _list_text(rows: Sequence[HookRow], view: Snapshot, grouping: Grouping, filtered: str) -> str:
    columns: HookColumns = hook_columns(EXPORT_WIDTH, rows, grouping)
    lines = [heading_line(columns)]
    for group in grouped_rows(rows, view, grouping, all_folders=not filtered):
        lines.append(group_line(group, EXPORT_WIDTH, grouping))
        lines += [hook_line(row, columns, keys=False) for row in group.rows]
    return _lines(line.plain for line in lines)


def _list_document(rows: Sequence[HookRow], view: Snapshot) -> Any:
    document = json_documents.inventory_document(view)
    document["hooks"] = [
        json_documents.hook_document(row.item, view) for row in rows if isinstance(row.item, HookStatus)
    ]
    document["rejected"] = [
        json_documents.rejected_document(row.item) for row in rows if isinstance(row.item, RejectedHook)
    ]
    return document


def export_hook(
    one: HookRow, view: Snapshot, source: SourceText | None, checked: HookCheck | None
) -> ViewExport:
    """Return the report on a hook, with everything known about it."""
    item = one.item
    document = (
        partial(json_documents.hook_document, item, view)
        if isinstance(item, HookStatus)
        else partial(json_documents.rejected_document, item)
    )
    return ViewExport(
        f"the report on {one.name}", one.name, partial(hook_report, one, view, source, checked), document
    )


def export_registry(view: Snapshot) -> ViewExport:
    """Return the registry: the handlers of each event, in call order."""
    return ViewExport("the registry", "registry", lambda: registry_sheet(view, EXPORT_WIDTH).plain + "\n")


def export_log(entries: Iterable[LogEntry]) -> ViewExport:
    """Return the entries, one per line."""
    kept = tuple(entries)
    return ViewExport("the log", "log", partial(_log_text, kept), partial(_log_document, kept))


def _log_document(log_entries: Sequence[LogEntry]) -> Any:
    entries = [
        {
            "at": iso(in_local_time(entry.at)),
            "level": entry.level,
            "kind": entry.kind,
            "subject": entry.subject,
            "text": entry.text,
            "run": entry.run,
        }
        for entry in log_entries
    ]
    return {"entries": entries}


def _log_text(entries: Sequence[LogEntry]) -> str:
    texts = (f"{one.at.isoformat()} {one.level} {one.kind} {one.subject}: {one.text}" for one in entries)
    return _lines(safe_text(text, EXPORT_LIMIT).plain.replace("\n", " ") for text in texts)


def export_hosts(
    comparison: HostComparison, lines: Sequence[Compared], runs: Sequence[RunAtHost] = (), *, different: bool
) -> ViewExport:
    """Return the matrix, and the runs of an event at every host if they are shown."""
    what = "the comparison and the runs" if runs else "the comparison"
    return ViewExport(
        what,
        "hosts",
        partial(_hosts_text, comparison, lines, runs),
        partial(_hosts_document, comparison, runs, different),
    )


def _hosts_text(comparison: HostComparison, lines: Sequence[Compared], runs: Sequence[RunAtHost]) -> str:
    widths = matrix_columns(comparison, EXPORT_WIDTH)
    table = _lines(
        line.plain
        for line in (matrix_heading(comparison, widths), *(matrix_row(line, widths) for line in lines))
    )
    return f"{table}\n{compared_runs_sheet(runs, EXPORT_WIDTH).plain}\n" if runs else table


def _hosts_document(comparison: HostComparison, runs: Sequence[RunAtHost], different: bool) -> Any:
    document = several_hosts.comparison_document(comparison, different=different)
    return {**document, "runs": several_hosts.run_documents(runs)} if runs else document


def export_event(event: Event) -> ViewExport:
    """Return the composed event."""
    document = json_documents.event_document(event)
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    return ViewExport("the event", file_stem(event.key), lambda: text, lambda: document)


def export_plan(plan: Plan, as_text: Callable[[], str]) -> ViewExport:
    """Return the plan; `as_text` returns its text."""
    return ViewExport(
        "the plan", f"plan-{file_stem(plan.event.key)}", as_text, partial(json_documents.plan_document, plan)
    )


def export_run(number: int, run: Run | None, text: str, dialect: str) -> ViewExport:
    """Return a run, with the drawn `text`; an unfinished run has no document."""
    document = partial(json_documents.run_document, run, dialect) if run is not None else None
    return ViewExport(f"run {number}", f"run-{number}", lambda: text, document)


def file_stem(text: str) -> str:
    """Return `text` in the form of a file name without extension, such as `command-new`."""
    return "-".join("".join(char if char.isalnum() else " " for char in text).split())[:60].lower() or "hook"


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line.rstrip()}\n" for line in lines)
