"""Running handlers: dispatch, executors, worker processes and the sandbox.

The public names are imported on first use, so that a command that runs no handler does not import asyncio.
This package does not depend on the console, the journal or a particular host.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hookscope.runtime.dispatch import dispatch  # not lazily: a submodule has the same name

if TYPE_CHECKING:
    from hookscope.runtime.batch import WorkerProgram
    from hookscope.runtime.debugger import Bound, Debugger, Logged, Member, Point, StackFrame, Stepper, Stop
    from hookscope.runtime.executors import Node, NoNode, find_node
    from hookscope.runtime.failures import FaultCounter
    from hookscope.runtime.firing import Firing
    from hookscope.runtime.handler_code import digest_of
    from hookscope.runtime.in_process_executor import InProcessExecutor
    from hookscope.runtime.limits import Limits
    from hookscope.runtime.process_executor import (
        ProcessExecutor,
        WorkerFacts,
        node_executor,
        python_executor,
    )
    from hookscope.runtime.worker_process import WorkerProcess

_HOMES = {
    "Bound": "debugger",
    "Debugger": "debugger",
    "FaultCounter": "failures",
    "Firing": "firing",
    "InProcessExecutor": "in_process_executor",
    "Limits": "limits",
    "Logged": "debugger",
    "Member": "debugger",
    "NoNode": "executors",
    "Node": "executors",
    "Point": "debugger",
    "ProcessExecutor": "process_executor",
    "StackFrame": "debugger",
    "Stepper": "debugger",
    "Stop": "debugger",
    "WorkerFacts": "process_executor",
    "WorkerProcess": "worker_process",
    "WorkerProgram": "batch",
    "digest_of": "handler_code",
    "find_node": "executors",
    "node_executor": "process_executor",
    "python_executor": "process_executor",
}

__all__ = [
    "Bound",
    "Debugger",
    "FaultCounter",
    "Firing",
    "InProcessExecutor",
    "Limits",
    "Logged",
    "Member",
    "NoNode",
    "Node",
    "Point",
    "ProcessExecutor",
    "StackFrame",
    "Stepper",
    "Stop",
    "WorkerFacts",
    "WorkerProcess",
    "WorkerProgram",
    "digest_of",
    "dispatch",
    "find_node",
    "node_executor",
    "python_executor",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
