"""A failure as JSON: the same in the journal and in what programs are told."""

from typing import Any

from hookscope.core.runs import Failure


def failure_document(failure: Failure | None) -> dict[str, Any] | None:
    """`{"type", "message", "phase", "frames": [{"file", "line", "column", "function", "source"}]}`."""
    if failure is None:
        return None
    return {
        "type": failure.type,
        "message": failure.message,
        "phase": failure.phase,
        "frames": [
            {
                "file": frame.file,
                "line": frame.line,
                "column": frame.column,
                "function": frame.function,
                "source": frame.source,
            }
            for frame in failure.frames
        ],
    }
