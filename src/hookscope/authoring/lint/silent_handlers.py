"""Handlers that succeeded without any visible effect, and the lint finding that explains it."""

from __future__ import annotations

from hookscope.app.snapshot import Snapshot
from hookscope.model.run import Result, Run
from hookscope.model.text import one_line

MOST = 5  # handlers that are parsed while the user waits


def silent_handler_reasons(run: Run, view: Snapshot) -> list[str]:
    """Return a note for each lint error of handlers without visible effect. Blocks while parsing."""
    quiet = {result.call.hook for result in run.results if _is_silent(result)}
    rows = [row for row in view.inventory.hooks if row.hook in quiet and row.hook.kind == "folder"]
    if not rows:
        return []
    from hookscope.authoring.lint.linting import lint_one
    from hookscope.authoring.lint.model import Severity  # most handlers have a visible effect

    return [
        f"note: {one_line(row.hook.name)} ran and did nothing that shows: "
        f"{one_line(finding.place.file.name)}:{finding.place.line}: {one_line(finding.text, 300)}"
        for row in rows[:MOST]
        for finding in lint_one(row, view.host).findings
        if finding.severity is Severity.ERROR
    ]


def _is_silent(result: Result) -> bool:
    shown = result.messages or result.stdout or result.stderr or result.patch or result.error
    return not shown and result.returned is None and not result.notes
