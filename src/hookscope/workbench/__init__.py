"""What the command line and the console talk to: hosts opened, hooks looked at, events fired, trust.

Both faces ask the same questions here and only show the answers, so they cannot disagree. The
workbench owns the lanes it starts: `close` ends them. Users' files are written through `changes` only,
when somebody asks for it.
"""

from typing import TYPE_CHECKING

from hookscope.changes import Change
from hookscope.runtime import Firing, Limits, WorkerFacts
from hookscope.runtime.limits import LimitName, size_in_words
from hookscope.workbench.bench import Workbench
from hookscope.workbench.compose import BadContext, event_keys, parse_context
from hookscope.workbench.options import Options
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.toggle import Effect, Toggle, Undoing
from hookscope.workbench.view import PastRun, View
from hookscope.workbench.watching import Watch

if TYPE_CHECKING:  # a look needs no database
    from hookscope.journal import Entry as Entry
    from hookscope.journal import Journal as Journal
    from hookscope.journal import StoredRun as StoredRun

__all__ = [
    "BadContext",
    "Change",
    "Effect",
    "Firing",
    "LimitName",
    "Limits",
    "Options",
    "PastRun",
    "Refusal",
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
