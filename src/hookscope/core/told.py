"""Which lines of a run's log people are told beside its results."""

from __future__ import annotations

from hookscope.core.hooks import LogLine
from hookscope.core.runs import Run

NOT_RECORDED = "This run could not be recorded"


def not_recorded(why: str) -> str:
    """The sentence for a run that the record has not taken."""
    return f"{NOT_RECORDED}: {why}"


def log_told(run: Run) -> tuple[LogLine, ...]:
    """What the host logs of a stream or plugin event. Of a folder's it is what the results say already, but
    for a record that is missing: nobody finds such a run again."""
    if run.event.kind != "folder" or any(result.call.breakage is not None for result in run.results):
        return run.ending.log
    return tuple(line for line in run.ending.log if line.text.startswith(NOT_RECORDED))
