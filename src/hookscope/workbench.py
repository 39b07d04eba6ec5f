"""The names that the command line and the console use, imported on first use.

Both user interfaces call the workbench and only render its results, so they cannot disagree. The
workbench owns the executors that it starts; `close` ends them. Users' files are written only by
`storage.edits`, and only on request.

The modules that write, watch and run are loaded when they are used, so a scan does not pay for
them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookscope.app.edits import Toggle, Undoing
    from hookscope.app.event_templates import BadContext, event_keys, parse_context
    from hookscope.app.options import Options
    from hookscope.app.snapshot import PastRun, Snapshot
    from hookscope.app.watching import Watch
    from hookscope.app.workbench import Workbench
    from hookscope.model.failure import Refusal
    from hookscope.model.hook_status import Effect
    from hookscope.runtime.debugger import Bound, Debugger, Logged, Member, Point, StackFrame, Stepper, Stop
    from hookscope.runtime.firing import Firing
    from hookscope.runtime.limits import LimitName, Limits, size_in_words
    from hookscope.runtime.process_executor import WorkerFacts
    from hookscope.storage.edits.change import Change
    from hookscope.storage.journal.journal import Journal as Journal
    from hookscope.storage.journal.reader import JournalEntry as JournalEntry
    from hookscope.storage.journal.reader import StoredRun as StoredRun

_HOMES = {
    "BadContext": "hookscope.app.event_templates",
    "Bound": "hookscope.runtime.debugger",
    "Change": "hookscope.storage.edits.change",
    "Debugger": "hookscope.runtime.debugger",
    "Effect": "hookscope.app.edits",
    "Firing": "hookscope.runtime.firing",
    "Journal": "hookscope.storage.journal.journal",
    "JournalEntry": "hookscope.storage.journal.reader",
    "LimitName": "hookscope.runtime.limits",
    "Limits": "hookscope.runtime.limits",
    "Logged": "hookscope.runtime.debugger",
    "Member": "hookscope.runtime.debugger",
    "Options": "hookscope.app.options",
    "PastRun": "hookscope.app.snapshot",
    "Point": "hookscope.runtime.debugger",
    "Refusal": "hookscope.model.failure",
    "Snapshot": "hookscope.app.snapshot",
    "StackFrame": "hookscope.runtime.debugger",
    "Stepper": "hookscope.runtime.debugger",
    "Stop": "hookscope.runtime.debugger",
    "StoredRun": "hookscope.storage.journal.reader",
    "Toggle": "hookscope.app.edits",
    "Undoing": "hookscope.app.edits",
    "Watch": "hookscope.app.watching",
    "Workbench": "hookscope.app.workbench",
    "WorkerFacts": "hookscope.runtime.process_executor",
    "event_keys": "hookscope.app.event_templates",
    "parse_context": "hookscope.app.event_templates",
    "size_in_words": "hookscope.runtime.limits",
}

__all__ = [
    "BadContext",
    "Bound",
    "Change",
    "Debugger",
    "Effect",
    "Firing",
    "LimitName",
    "Limits",
    "Logged",
    "Member",
    "Options",
    "PastRun",
    "Point",
    "Refusal",
    "Snapshot",
    "StackFrame",
    "Stepper",
    "Stop",
    "Toggle",
    "Undoing",
    "Watch",
    "Workbench",
    "WorkerFacts",
    "event_keys",
    "parse_context",
    "size_in_words",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
