"""What the command line and the console talk to: hosts opened, hooks looked at, events fired, trust.

Both faces ask the same questions here and only show the answers, so they cannot disagree. The
workbench owns the lanes it starts: `close` ends them. Users' files are written through `changes` only,
when somebody asks for it.

What writes, watches and runs is loaded when it is used: a command line that only looks pays for none of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookscope.changes import Change
    from hookscope.journal import Entry as Entry
    from hookscope.journal import Journal as Journal
    from hookscope.journal import StoredRun as StoredRun
    from hookscope.runtime import (
        Bound,
        Debugger,
        Firing,
        Logged,
        Member,
        Point,
        StackFrame,
        Stepper,
        Stop,
        WorkerFacts,
    )
    from hookscope.runtime.limits import LimitName, Limits, size_in_words
    from hookscope.workbench.bench import Workbench
    from hookscope.workbench.compose import BadContext, event_keys, parse_context
    from hookscope.workbench.options import Options
    from hookscope.workbench.refusal import Refusal
    from hookscope.workbench.toggle import Effect, Toggle, Undoing
    from hookscope.workbench.view import PastRun, View
    from hookscope.workbench.watching import Watch

_HOMES = {
    "BadContext": "hookscope.workbench.compose",
    "LimitName": "hookscope.runtime.limits",
    "Limits": "hookscope.runtime.limits",
    "Options": "hookscope.workbench.options",
    "PastRun": "hookscope.workbench.view",
    "Refusal": "hookscope.workbench.refusal",
    "View": "hookscope.workbench.view",
    "Workbench": "hookscope.workbench.bench",
    "event_keys": "hookscope.workbench.compose",
    "parse_context": "hookscope.workbench.compose",
    "size_in_words": "hookscope.runtime.limits",
    "Bound": "hookscope.runtime",
    "Change": "hookscope.changes",
    "Debugger": "hookscope.runtime",
    "Effect": "hookscope.workbench.toggle",
    "Firing": "hookscope.runtime",
    "Logged": "hookscope.runtime",
    "Member": "hookscope.runtime",
    "Point": "hookscope.runtime",
    "Stepper": "hookscope.runtime",
    "StackFrame": "hookscope.runtime",
    "Stop": "hookscope.runtime",
    "Toggle": "hookscope.workbench.toggle",
    "Undoing": "hookscope.workbench.toggle",
    "Watch": "hookscope.workbench.watching",
    "WorkerFacts": "hookscope.runtime",
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
    "StackFrame",
    "Stepper",
    "Stop",
    "Toggle",
    "Undoing",
    "View",
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
