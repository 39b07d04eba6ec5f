"""Handlers that ran well and did nothing that shows: a mistake that lint finds is why, most of the time."""

from __future__ import annotations

from hookscope.core.runs import Result, Run
from hookscope.core.text import one_line
from hookscope.workbench.view import View

MOST = 5  # handlers that are read: each is parsed while somebody waits


def why_nothing_shows(run: Run, view: View) -> list[str]:
    """A sentence for each mistake of a handler that showed nothing. Blocks while scripts are parsed."""
    quiet = {result.call.hook for result in run.results if _is_quiet(result)}
    rows = [row for row in view.inventory.hooks if row.hook in quiet and row.hook.kind == "folder"]
    if not rows:
        return []
    from hookscope.lint.model import Severity  # here: most handlers show what they did
    from hookscope.workbench.linting import lint_one

    return [
        f"note: {one_line(row.hook.name)} ran and did nothing that shows: "
        f"{one_line(finding.place.file.name)}:{finding.place.line}: {one_line(finding.text, 300)}"
        for row in rows[:MOST]
        for finding in lint_one(row, view.host).findings
        if finding.severity is Severity.ERROR
    ]


def _is_quiet(result: Result) -> bool:
    shown = result.messages or result.stdout or result.stderr or result.patch or result.error
    return not shown and result.returned is None and not result.notes
