"""Worker pools of a workbench: which languages run here, their worker processes, and hooks in quarantine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypedDict

from hookscope.app.project_config import NamedProgram
from hookscope.helpers import find_program, without_foreign_loaders
from hookscope.model.executor import Executor
from hookscope.model.hook import Hook, Language
from hookscope.model.host import Host
from hookscope.model.inventory import Inventory
from hookscope.model.run import Code, Registration
from hookscope.runtime.fault_counter import FaultCounter
from hookscope.runtime.limits import Limits
from hookscope.storage.state_files import state_folder

if TYPE_CHECKING:  # a scan runs nothing
    from pathlib import Path

    from hookscope.app.runs.sandboxed_run import RunWorkers, SandboxedWorkers
    from hookscope.runtime.debugger import Debugger
    from hookscope.runtime.executors import Executors, Node, NoNode
    from hookscope.runtime.process_executor import ProcessExecutor, SandboxAccess, WorkerFacts
    from hookscope.storage.known_programs import KnownPrograms

    class _OfLanes(TypedDict):
        """The arguments shared by the executors of all languages."""

        inside: SandboxAccess | None
        env: Mapping[str, str]
        cwd: Path
        limits: Limits
        fault_counter: FaultCounter
        spare: bool
        told_late: Callable[[str, str], None] | None
        debugger: Debugger | None


QUARANTINE = "in quarantine after three faults within five minutes; a fire by hand runs it"
HOST_STATE = "HOOKSCOPE_HOST_STATE"  # variable with the host's state folder
HOST_DIALECT = "HOOKSCOPE_HOST_DIALECT"  # variable with the dialect
PYTHON_ONLY: frozenset[Language] = frozenset({"python"})
_Env = tuple[frozenset[tuple[str, str]], NamedProgram | None, NamedProgram | None]  # what workers start with
NODE_VARIABLES: frozenset[Language] = frozenset({"typescript", "javascript"})


def handler_environment(host: Host) -> dict[str, str]:
    """Return the environment of handlers."""
    env = without_foreign_loaders(host.env)
    return {**env, HOST_STATE: str(host.state), HOST_DIALECT: host.dialect.name}


def _waiting_interpreter(named: NamedProgram | None, host: Host) -> str:
    """Return what handlers lack if their interpreter is named by an untrusted workspace; else ""."""
    if named is None or named.allowed_by(host):
        return ""
    return f"needs its interpreter ({named.not_trusted}); {named.way_out}"


class WorkerPools:
    """Owns the worker processes; `close` ends them. Node is looked up when a hook needs it.

    Args:
        python: the interpreter for handlers that the project names; None: the running one.
        node: the Node that the project names; None: an installed one, else the one from PyPI.
        spare: keep a spare worker ready beside each running one.
        on_late: called with the handler and text of what it did after its result.
    """

    def __init__(
        self,
        python: NamedProgram | None,
        node: NamedProgram | None,
        limits: Limits,
        *,
        spare: bool = False,
        told_late: Callable[[str, str], None] | None = None,
    ) -> None:
        self.fault_counter = FaultCounter()
        self.told_late = told_late
        self.warn_unprotected: Callable[[str], object] | None = None  # called before handlers run on copies
        self.use_programs(python, node)
        self._limits, self._spare = limits, spare
        self._nodes: dict[
            tuple[str | None, bool], Node | NoNode
        ] = {}  # by program, and whether the project names it
        self._programs: KnownPrograms | None = None  # programs asked for their Node version
        self._processes: dict[str, ProcessExecutor] = {}  # by language of the worker: python, node
        self._others: dict[_Env, dict[str, ProcessExecutor]] = {}  # by other environment, under a what-if
        self._env: _Env | None = None  # the environment of `_processes`

    @cached_property
    def _functions(self) -> Executor:
        from hookscope.runtime.in_process_executor import InProcessExecutor

        return InProcessExecutor()

    def use_programs(self, python: NamedProgram | None, node: NamedProgram | None) -> None:
        """Use other interpreters for workers that start from now on."""
        self._python, self._node_named = python, node

    def languages(
        self, host: Host, inventory: Inventory
    ) -> tuple[frozenset[Language], Mapping[Language, str]]:
        """Return the languages that run here, and what each other language lacks.

        Node is looked up only if a hook needs it.
        """
        needed = _waiting_interpreter(self._python, host)
        runs = frozenset[Language]() if needed else PYTHON_ONLY
        lacks = dict.fromkeys(PYTHON_ONLY, needed) if needed else {}
        if any(row.hook.language in NODE_VARIABLES for row in inventory.hooks):
            found = self.node(host)
            runs |= found.languages
            lacks |= dict.fromkeys(NODE_VARIABLES - found.languages, found.sentence)
        return runs, lacks

    def python(self, host: Host) -> str | None:
        """Return the interpreter for handlers; None if the project names an untrusted one."""
        if _waiting_interpreter(self._python, host):
            return None
        return self._python.path if self._python is not None else sys.executable

    def node(self, host: Host) -> Node | NoNode:
        """Return the Node that runs handlers here. The first call asks programs for their version."""
        from hookscope.runtime.executors import NAMED_IN_CONFIG, NoNode, find_node
        from hookscope.storage.known_programs import FILE, KnownPrograms

        named = self._node_named
        if named is not None and not named.allowed_by(host):
            return NoNode(named.not_trusted, NAMED_IN_CONFIG, named.way_out)
        workspace = (host.workspace, host.surroundings.cwd)
        on_path = find_program("node", workspace) if named is None else None
        key = (named.path, True) if named is not None else (on_path, False)
        if key not in self._nodes:
            self._programs = self._programs or KnownPrograms(state_folder() / FILE)
            asked = partial(self._programs.said_by, workspace=workspace)
            self._nodes[key] = find_node(on_path, named.path if named is not None else None, asked)
        return self._nodes[key]

    def holds(self, code: Code) -> bool:
        """Return whether any version of this handler is loaded."""
        return any(lane.holds(code) for lane in self._processes.values())

    def running(self) -> tuple[ProcessExecutor, ...]:
        """Return the process executors of the current environment."""
        return tuple(self._processes.values())

    @property
    def holds_any(self) -> bool:
        """True if any worker has loaded anything."""
        return any(lane.workers() for lane in self._processes.values())

    def quarantined(self, hook: Hook) -> bool:
        """Return whether the hook is in quarantine: it hung, died or dirtied its worker too often."""
        return hook.handler is not None and self.fault_counter.quarantined(hook.handler)

    def lift(self, hook: Hook) -> bool:
        """Let automatic fires run a hook again. False if it was not in quarantine."""
        return hook.handler is not None and self.fault_counter.lift(hook.handler)

    def barred(self, call: Registration) -> str:
        """Return why an automatic fire skips this call; empty if it does not."""
        return QUARANTINE if call.hook is not None and self.quarantined(call.hook) else ""

    def workers(self) -> dict[str, tuple[WorkerFacts, ...]]:
        """Return the running worker processes by `python` and `node`."""
        found: dict[str, tuple[WorkerFacts, ...]] = {}
        for lanes in (self._processes, *self._others.values()):
            for name, lane in lanes.items():
                found[name] = (*found.get(name, ()), *lane.workers())
        return found

    def lanes(self, host: Host, languages: frozenset[Language]) -> Executors:
        """Return executors for at least these languages. Existing ones stay, with what their workers loaded.

        Each environment has its own executors, since a worker keeps the environment it started with.
        """
        from hookscope.runtime.executors import Executors, Node
        from hookscope.runtime.process_executor import node_executor, python_executor

        python = self.python(host)
        self._turn_to((frozenset(handler_environment(host).items()), self._python, self._node_named))
        if "python" not in self._processes and python is not None:
            self._processes["python"] = python_executor(python=python, **self._of_lanes(host))
        node = self.node(host) if languages & NODE_VARIABLES or "node" in self._processes else None
        if isinstance(node, Node) and "node" not in self._processes:
            cache = state_folder() / "node-cache"
            self._processes["node"] = node_executor(node=node.path, cache=cache, **self._of_lanes(host))
        code: dict[Language, Executor] = (
            dict.fromkeys(PYTHON_ONLY, self._processes["python"]) if python else {}
        )
        if isinstance(node, Node):
            code |= dict.fromkeys(node.languages, self._processes["node"])
        return Executors(self._functions, code)

    def _turn_to(self, env: _Env) -> None:
        if self._env is not None and env != self._env:
            self._others[self._env] = self._processes
            self._processes = self._others.pop(env, {})
        self._env = env

    async def close_others(self) -> None:
        """End the workers of all environments except the last used one."""
        others, self._others = tuple(self._others.values()), {}
        for lanes in others:
            for lane in lanes.values():
                await lane.close()

    def _of_lanes(self, host: Host, inside: SandboxAccess | None = None) -> _OfLanes:
        return {
            "inside": inside,
            "env": handler_environment(host),
            "cwd": host.surroundings.cwd,
            "limits": self._limits,
            "fault_counter": self.fault_counter,
            "spare": self._spare,
            "told_late": self.told_late,
            "debugger": None,
        }

    async def guarded(
        self, host: Host, languages: frozenset[Language], debugger: Debugger | None = None
    ) -> SandboxedWorkers:
        """Return a sandbox and executors for one run in it. Raises OSError if the copies cannot be made."""
        import asyncio

        from hookscope.app.runs.sandboxed_run import SandboxedWorkers, make_sandbox, sandbox_needs
        from hookscope.runtime.process_executor import SandboxAccess

        sandbox = await asyncio.to_thread(make_sandbox, host)
        inside = SandboxAccess(sandbox, tuple(sandbox_needs(host)))
        lanes = self._lanes_apart(host, languages, inside, debugger)
        return SandboxedWorkers(sandbox, self._functions, lanes, self.warn_unprotected)

    def apart(self, host: Host, languages: frozenset[Language], debugger: Debugger) -> RunWorkers:
        """Return executors for one run under this debugger, without time limits."""
        from hookscope.app.runs.sandboxed_run import RunWorkers

        return RunWorkers(self._functions, self._lanes_apart(host, languages, None, debugger))

    def _lanes_apart(
        self,
        host: Host,
        languages: frozenset[Language],
        inside: SandboxAccess | None,
        debugger: Debugger | None,
    ) -> dict[str, ProcessExecutor]:
        """Return the executors of one run by worker name, without spare workers."""
        from hookscope.runtime.executors import Node
        from hookscope.runtime.process_executor import node_executor, python_executor

        shared = self._of_lanes(host, inside)
        shared["spare"], shared["told_late"], shared["debugger"] = False, None, debugger
        if debugger is not None:
            shared["limits"] = self._limits.without_time()
            if inside is not None:
                debugger.runs_on(inside.sandbox)
        python = self.python(host)
        lanes = {"python": python_executor(python=python, **shared)} if python is not None else {}
        node = self.node(host) if languages & NODE_VARIABLES else None
        if isinstance(node, Node):
            lanes["node"] = node_executor(node=node.path, **shared)
        return lanes

    async def close(self) -> None:
        """End all workers and wait until they have exited."""
        await self.close_others()
        lanes, self._processes = tuple(self._processes.values()), {}
        for lane in lanes:
            await lane.close()
        if lanes and self._programs is not None:  # a scan stores nothing
            self._programs.keep()
