"""Running handlers: dispatch, the lanes it hands batches to, and the workers behind them.

Who owns what: a Firing owns the task of one run. A lane owns what handlers run in: the task of a batch
in this process, or a worker process. A thread owns that process: it spawns, awaits and reaps it.

What always holds: a firing ends in exactly one Run, and every planned call in one result or one
`not_run`. Dispatch never raises for what a handler did. Whoever ends something waits until it is
gone, however often it is cancelled meanwhile. Limits of process lanes end in SIGKILL of the group.
Output is kept within bounds, and nobody ever waits for its end.

Names are loaded when they are used: a command line that runs nothing imports no asyncio.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hookscope.runtime.dispatch import dispatch  # not lazily: the submodule of that name would win

if TYPE_CHECKING:
    from hookscope.runtime.debugging import Debugger
    from hookscope.runtime.digest import digest_of
    from hookscope.runtime.firing import Firing
    from hookscope.runtime.inprocess import InProcessLane
    from hookscope.runtime.lanes import node_lane, python_lane
    from hookscope.runtime.ledger import Ledger
    from hookscope.runtime.limits import Limits
    from hookscope.runtime.node import Node, NoNode, find_node
    from hookscope.runtime.peer import WorkerProgram
    from hookscope.runtime.points import Point
    from hookscope.runtime.process_lane import ProcessLane, WorkerFacts
    from hookscope.runtime.stepping import Stepper
    from hookscope.runtime.stops import Bound, Logged, Member, StackFrame, Stop
    from hookscope.runtime.worker import Worker

_HOMES = {
    "Bound": "stops",
    "Debugger": "debugging",
    "Firing": "firing",
    "InProcessLane": "inprocess",
    "Ledger": "ledger",
    "Limits": "limits",
    "Logged": "stops",
    "Member": "stops",
    "NoNode": "node",
    "Node": "node",
    "Point": "points",
    "ProcessLane": "process_lane",
    "WorkerProgram": "peer",
    "Stepper": "stepping",
    "StackFrame": "stops",
    "Stop": "stops",
    "Worker": "worker",
    "WorkerFacts": "process_lane",
    "digest_of": "digest",
    "find_node": "node",
    "node_lane": "lanes",
    "python_lane": "lanes",
}

__all__ = [
    "Bound",
    "Debugger",
    "Firing",
    "InProcessLane",
    "Ledger",
    "Limits",
    "Logged",
    "Member",
    "NoNode",
    "Node",
    "Point",
    "ProcessLane",
    "StackFrame",
    "Stepper",
    "Stop",
    "Worker",
    "WorkerFacts",
    "WorkerProgram",
    "digest_of",
    "dispatch",
    "find_node",
    "node_lane",
    "python_lane",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
