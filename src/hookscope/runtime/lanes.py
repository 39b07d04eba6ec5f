"""The lanes there are: a worker program for each language."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.core import event as event_file
from hookscope.runtime.ledger import Ledger
from hookscope.runtime.limits import Limits
from hookscope.runtime.peer import WorkerProgram
from hookscope.runtime.process_lane import ProcessLane
from hookscope.runtime.worker import Worker
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.runtime.debugging import Debugger
    from hookscope.runtime.sandbox import Sandbox

ToldLate = Callable[[str, str], None]  # a hook, and what it did after it had answered
HERE = Path(__file__).parent
FOR_NODE_ALONE = ("NODE_OPTIONS", "NODE_COMPILE_CACHE")  # they would change the worker, not the handler
# A module whose package.json says no type is read all the same; Node's word on that is none of the handler's.
QUIET = ("ExperimentalWarning", "MODULE_TYPELESS_PACKAGE_JSON")
FLAGS = (*(f"--disable-warning={warning}" for warning in QUIET), "--enable-source-maps")


@dataclass(frozen=True, slots=True)
class Inside:
    """The sandbox that workers start in, and what they read outside of it."""

    sandbox: Sandbox
    needs: tuple[Path, ...] = ()


def python_lane(
    *,
    env: Mapping[str, str],
    cwd: Path,
    python: str = sys.executable,
    limits: Limits = Limits(),
    ledger: Ledger | None = None,
    spare: bool = False,
    told_late: ToldLate | None = None,
    inside: Inside | None = None,
    debugger: Debugger | None = None,
) -> ProcessLane:
    """A lane for Python handlers. Its workers have exactly this environment, and start in `cwd`.

    `python` is the interpreter, 3.9 or newer. It runs isolated (no PYTHON* variables, no user
    site) and writes no `__pycache__` into the hooks' folders. With a `debugger` handlers stop, and wait for
    its words: give them no limits.
    """
    worker = HERE / "python_worker" / "worker.py"
    memory = str(limits.memory or 0)
    program = WorkerProgram(
        argv=(python, "-I", "-B", "-u", str(worker), str(event_file.__file__), memory),
        env=dict(env),
        cwd=cwd,
        missing="`python:` in .hookscope/config.yaml names the interpreter, 3.9 or newer.",
        control=True,
        bell=True,
    )
    dump = 0 if inside is not None else int(signal.SIGUSR2)  # what stands in front of it would die of that
    make = partial(Worker, _put(program, inside), debugger)
    return ProcessLane(make, limits, ledger=ledger, spare=spare, told_late=told_late, dump=dump)


def node_lane(
    *,
    env: Mapping[str, str],
    cwd: Path,
    node: str,
    cache: Path | None = None,
    limits: Limits = Limits(),
    ledger: Ledger | None = None,
    spare: bool = False,
    told_late: ToldLate | None = None,
    inside: Inside | None = None,
    debugger: Debugger | None = None,
) -> ProcessLane:
    """A lane for handlers in TypeScript and JavaScript; as `python_lane`.

    `node` is Node 22.18 or newer (see `find_node`); `cache` a folder for what it has compiled.
    """
    worker = HERE / "node_worker" / "worker.mjs"
    program = WorkerProgram(
        argv=(node, *FLAGS, str(worker), str(cache or "")),
        env={name: value for name, value in env.items() if name not in FOR_NODE_ALONE},
        cwd=cwd,
        missing="`node:` in .hookscope/config.yaml names the program, 22.18 or newer.",
        control=True,
    )
    make = partial(Worker, _put(program, inside), debugger)
    return ProcessLane(make, limits, ledger=ledger, spare=spare, told_late=told_late)


def _put(program: WorkerProgram, inside: Inside | None) -> WorkerProgram:
    """The program as it starts in a sandbox; unchanged where there is none."""
    if inside is None:
        return program
    sandbox = inside.sandbox
    programs = map(Path, program.env.get("PATH", "").split(os.pathsep))
    needs = [*inside.needs, HERE, Path(sys.prefix), Path(sys.base_prefix), *programs]
    return replace(
        program,
        argv=sandbox.argv(program.argv, needs),
        env=sandbox.environment(program.env),
        cwd=sandbox.started_in(program.cwd),
        walled=True,
        filter=sandbox.filter,
    )
