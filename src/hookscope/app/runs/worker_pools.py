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
from hookscope.model.hook_status import Inventory
from hookscope.model.host import Host
from hookscope.model.run import Code, Registration
from hookscope.runtime.failures import FaultCounter
from hookscope.runtime.limits import Limits
from hookscope.storage.state_files import state_folder

if TYPE_CHECKING:  # a scan runs nothing
    from pathlib import Path

    from hookscope.app.runs.sandboxed_run import RunWorkers, SandboxedWorkers
    from hookscope.runtime.debugger import Debugger
    from hookscope.runtime.executors import Executors, Node, NoNode
    from hookscope.runtime.process_executor import ProcessExecutor, SandboxAccess, WorkerFacts

    class _ExecutorOptions(TypedDict):
        """The arguments shared by the executors of all languages."""

        sandbox_access: SandboxAccess | None
        env: Mapping[str, str]
        cwd: Path
        limits: Limits
        fault_counter: FaultCounter
        spare: bool
        on_late: Callable[[str, str], None] | None
        debugger: Debugger | None


QUARANTINE = "in quarantine after three faults within five minutes; only a manual fire runs it"
HOST_STATE = "HOOKSCOPE_HOST_STATE"  # variable with the host's state folder
HOST_DIALECT = "HOOKSCOPE_HOST_DIALECT"  # variable with the dialect
PYTHON_ONLY: frozenset[Language] = frozenset({"python"})
_Env = tuple[frozenset[tuple[str, str]], NamedProgram | None, NamedProgram | None]  # variables, interpreters
NODE_VARIABLES: frozenset[Language] = frozenset({"typescript", "javascript"})


def handler_environment(host: Host) -> dict[str, str]:
    env = without_foreign_loaders(host.env)
    return {**env, HOST_STATE: str(host.state), HOST_DIALECT: host.dialect.name}


def _waiting_interpreter(named: NamedProgram | None, host: Host) -> str:
    """Return why handlers cannot run if an untrusted workspace names their interpreter; else ""."""
    if named is None or named.is_trusted(host):
        return ""
    return f"needs its interpreter ({named.untrusted_reason}); {named.trust_hint}"


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
        on_late: Callable[[str, str], None] | None = None,
    ) -> None:
        self.fault_counter = FaultCounter()
        self.on_late = on_late
        self.warn_unprotected: Callable[[str], object] | None = None  # called before handlers run on copies
        self.use_programs(python, node)
        self._limits, self._spare = limits, spare
        # by program, and whether the project names it
        self._nodes: dict[tuple[str | None, bool], Node | NoNode] = {}
        self._processes: dict[str, ProcessExecutor] = {}  # by language of the worker: python, node
        # by other environment, under a what-if
        self._other_environments: dict[_Env, dict[str, ProcessExecutor]] = {}
        self._env: _Env | None = None  # the environment of `_processes`

    @cached_property
    def _functions(self) -> Executor:
        from hookscope.runtime.in_process_executor import InProcessExecutor

        return InProcessExecutor()

    def use_programs(self, python: NamedProgram | None, node: NamedProgram | None) -> None:
        """Use other interpreters for workers that start from now on."""
        self._python_program, self._node_program = python, node

    def languages(
        self, host: Host, inventory: Inventory
    ) -> tuple[frozenset[Language], Mapping[Language, str]]:
        """Return the languages that run here, and what others lack. Looks up Node only if a hook needs it."""
        needed = _waiting_interpreter(self._python_program, host)
        available = frozenset[Language]() if needed else PYTHON_ONLY
        unavailable = dict.fromkeys(PYTHON_ONLY, needed) if needed else {}
        if any(row.hook.language in NODE_VARIABLES for row in inventory.hooks):
            found = self.node(host)
            available |= found.languages
            unavailable |= dict.fromkeys(NODE_VARIABLES - found.languages, found.missing_reason)
        return available, unavailable

    def python(self, host: Host) -> str | None:
        """Return the interpreter for handlers; None if the project names an untrusted one."""
        if _waiting_interpreter(self._python_program, host):
            return None
        return self._python_program.path if self._python_program is not None else sys.executable

    def node(self, host: Host) -> Node | NoNode:
        """Return the Node that runs handlers here. The first call runs programs to get their version."""
        from hookscope.runtime.executors import NAMED_IN_CONFIG, NoNode, find_node
        from hookscope.storage.known_programs import FILE, KnownPrograms

        named = self._node_program
        if named is not None and not named.is_trusted(host):
            return NoNode(named.untrusted_reason, NAMED_IN_CONFIG, named.trust_hint)
        workspace = (host.workspace, host.machine.cwd)
        on_path = find_program("node", workspace) if named is None else None
        key = (named.path, True) if named is not None else (on_path, False)
        if key not in self._nodes:
            programs = KnownPrograms(state_folder() / FILE)
            find_version = partial(programs.report_of, workspace=workspace)
            self._nodes[key] = find_node(on_path, named.path if named is not None else None, find_version)
            programs.save()
        return self._nodes[key]

    def has_loaded(self, code: Code) -> bool:
        """Return whether any version of this handler is loaded."""
        return any(executor.has_loaded(code) for executor in self._processes.values())

    def process_executors(self) -> tuple[ProcessExecutor, ...]:
        """Return the process executors of the current environment."""
        return tuple(self._processes.values())

    @property
    def has_loaded_any(self) -> bool:
        """True if any worker has loaded anything."""
        return any(executor.workers() for executor in self._processes.values())

    def quarantined(self, hook: Hook) -> bool:
        """Return whether the hook is in quarantine: it hung, crashed or disturbed its worker too often."""
        return hook.handler is not None and self.fault_counter.is_quarantined(hook.handler)

    def lift_quarantine(self, hook: Hook) -> bool:
        """Let automatic fires run a hook again. False if it was not in quarantine."""
        return hook.handler is not None and self.fault_counter.lift_quarantine(hook.handler)

    def quarantine_reason(self, call: Registration) -> str:
        """Return why an automatic fire skips this call; empty if it does not."""
        return QUARANTINE if call.hook is not None and self.quarantined(call.hook) else ""

    def workers(self) -> dict[str, tuple[WorkerFacts, ...]]:
        """Return the running worker processes by `python` and `node`."""
        found: dict[str, tuple[WorkerFacts, ...]] = {}
        for executors in (self._processes, *self._other_environments.values()):
            for name, executor in executors.items():
                found[name] = (*found.get(name, ()), *executor.workers())
        return found

    def executors(self, host: Host, languages: frozenset[Language]) -> Executors:
        """Return executors for at least these languages. Existing ones stay, with what their workers loaded.

        Each environment has its own executors, since a worker keeps the environment it started with.
        """
        from hookscope.runtime.executors import Executors, Node
        from hookscope.runtime.process_executor import node_executor, python_executor

        python = self.python(host)
        self._switch_environment(
            (frozenset(handler_environment(host).items()), self._python_program, self._node_program)
        )
        if "python" not in self._processes and python is not None:
            self._processes["python"] = python_executor(python=python, **self._executor_options(host))
        node = self.node(host) if languages & NODE_VARIABLES or "node" in self._processes else None
        if isinstance(node, Node) and "node" not in self._processes:
            cache = state_folder() / "node-cache"
            self._processes["node"] = node_executor(
                node=node.path, cache=cache, **self._executor_options(host)
            )
        code: dict[Language, Executor] = (
            dict.fromkeys(PYTHON_ONLY, self._processes["python"]) if python else {}
        )
        if isinstance(node, Node):
            code |= dict.fromkeys(node.languages, self._processes["node"])
        return Executors(self._functions, code)

    def _switch_environment(self, env: _Env) -> None:
        if self._env is not None and env != self._env:
            self._other_environments[self._env] = self._processes
            self._processes = self._other_environments.pop(env, {})
        self._env = env

    async def close_others(self) -> None:
        """End the workers of all environments except the last used one."""
        others, self._other_environments = tuple(self._other_environments.values()), {}
        for executors in others:
            for executor in executors.values():
                await executor.close()

    def _executor_options(self, host: Host, sandbox_access: SandboxAccess | None = None) -> _ExecutorOptions:
        return {
            "sandbox_access": sandbox_access,
            "env": handler_environment(host),
            "cwd": host.machine.cwd,
            "limits": self._limits,
            "fault_counter": self.fault_counter,
            "spare": self._spare,
            "on_late": self.on_late,
            "debugger": None,
        }

    async def sandboxed(
        self, host: Host, languages: frozenset[Language], debugger: Debugger | None = None
    ) -> SandboxedWorkers:
        """Return a sandbox and executors for one run in it. Raises OSError if the copies cannot be made."""
        import asyncio

        from hookscope.app.runs.sandboxed_run import SandboxedWorkers, make_sandbox, sandbox_needs
        from hookscope.runtime.process_executor import SandboxAccess

        sandbox = await asyncio.to_thread(make_sandbox, host)
        sandbox_access = SandboxAccess(sandbox, tuple(sandbox_needs(host)))
        executors = self._executors_of_run(host, languages, sandbox_access, debugger)
        return SandboxedWorkers(sandbox, self._functions, executors, self.warn_unprotected)

    def for_debugger(self, host: Host, languages: frozenset[Language], debugger: Debugger) -> RunWorkers:
        """Return executors for one run under this debugger, without time limits."""
        from hookscope.app.runs.sandboxed_run import RunWorkers

        return RunWorkers(self._functions, self._executors_of_run(host, languages, None, debugger))

    def _executors_of_run(
        self,
        host: Host,
        languages: frozenset[Language],
        sandbox_access: SandboxAccess | None,
        debugger: Debugger | None,
    ) -> dict[str, ProcessExecutor]:
        """Return the executors of one run by worker name, without spare workers."""
        from hookscope.runtime.executors import Node
        from hookscope.runtime.process_executor import node_executor, python_executor

        shared = self._executor_options(host, sandbox_access)
        shared["spare"], shared["on_late"], shared["debugger"] = False, None, debugger
        if debugger is not None:
            shared["limits"] = self._limits.without_time()
            if sandbox_access is not None:
                debugger.use_sandbox(sandbox_access.sandbox)
        python = self.python(host)
        executors = {"python": python_executor(python=python, **shared)} if python is not None else {}
        node = self.node(host) if languages & NODE_VARIABLES else None
        if isinstance(node, Node):
            executors["node"] = node_executor(node=node.path, **shared)
        return executors

    async def close(self) -> None:
        """End all workers and wait until they have exited."""
        await self.close_others()
        executors, self._processes = tuple(self._processes.values()), {}
        for executor in executors:
            await executor.close()
