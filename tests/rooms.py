"""The rooms of `src/hookscope`: which rooms each may import, and which rooms each test folder tests.

A room is a folder of `src/hookscope`, or a module beside them. `tests/test_architecture.py` proves the
imports. `pytest --room NAME` uses them to choose the tests that a change of one room can break.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent

# Room → the rooms that it may import, beside itself and SHARED. Each imports only rooms above it.
MAY_IMPORT: dict[str, set[str]] = {
    "values": set(),
    "host_options": set(),
    "installation": set(),
    "helpers": set(),
    "formats": set(),
    "model": {"formats"},
    "hosts": {"formats", "model"},
    "runtime": {"model"},
    "storage": {"formats", "model", "runtime"},
    "telemetry": {"model", "storage"},
    "otel": {"telemetry", "model"},  # the public door to telemetry
    "engine": {"formats", "model", "hosts", "runtime", "otel"},
    "embedding": {"model", "hosts", "runtime", "engine"},
    "plugins": {"embedding"},  # the library's plugin API
    "packs": {"formats", "model", "hosts", "storage", "engine"},
    "recording": {"model", "hosts", "storage"},
    "app": {"formats", "model", "hosts", "runtime", "storage", "engine", "packs", "recording"},
    "workbench": {"model", "runtime", "storage", "app"},  # the public door to app
    "sessions": {"formats", "model", "hosts", "runtime", "engine", "app"},
    "authoring": {
        *(
            "formats",
            "model",
            "hosts",
            "runtime",
            "storage",
            "engine",
            "packs",
            "recording",
            "app",
            "sessions",
        )
    },
    "analysis": {
        "formats",
        "model",
        "hosts",
        "runtime",
        "storage",
        "engine",
        "recording",
        "app",
        "authoring",
    },
    "manual": set(),
    "console": {
        *("model", "hosts", "runtime", "storage", "packs", "recording", "app", "sessions", "authoring"),
        *("analysis", "manual"),
    },
    "integrations": {"model", "runtime", "engine", "app", "authoring"},
    "cli": {
        *("model", "hosts", "runtime", "storage", "engine", "packs", "recording", "app", "sessions"),
        *("authoring", "analysis", "manual", "console"),
    },
    "__init__": {"plugins", "embedding", "engine", "runtime", "model"},
    "__main__": {"cli"},
}
# Room → the rooms that a command of it starts and uses for nothing else. The tests of the started room go
# through that module, so a change of `integrations` needs no test of `cli`.
MAY_START: dict[str, set[str]] = {"cli": {"integrations"}}
SHARED = {"values", "host_options", "installation", "helpers"}  # every room may import these

# Folder of tests → the rooms that it tests, where it is not named after one.
TOP = ("__main__", "__init__", "workbench")  # between them, they import every room that another imports
TESTED_ROOMS: dict[str, tuple[str, ...]] = {
    "benchmarks": TOP,
    "bundled_hooks": TOP,
    "cli": ("__main__", "cli"),
    "conformance": TOP,
    "contracts": TOP,
    "faults": ("runtime",),
    "seeds": TOP,
    "shipped": TOP,
}


def room_and_dependents(room: str) -> set[str]:
    """Return the room and every room that imports it, directly or indirectly."""
    if room in SHARED:
        return set(MAY_IMPORT)
    found = {room}
    while more := {name for name, below in MAY_IMPORT.items() if below & found} - found:
        found |= more
    return found


def can_break(rooms: Iterable[str], test: Path) -> bool:
    """Return whether a change of these rooms can break a test of this module.

    A module tests the rooms of its folder and each room that it imports. A module beside this file tests all.
    """
    folder = test.relative_to(TESTS).parts[0]
    if folder == test.name:
        return True
    tested = {*TESTED_ROOMS.get(folder, [folder]), *rooms_imported(test)}
    return any(not tested.isdisjoint(room_and_dependents(room)) for room in rooms)


def rooms_imported(test: Path) -> set[str]:
    """Return the rooms that a test module imports, itself or through other modules of tests."""
    found: set[str] = set()
    seen: set[Path] = set()
    waiting = [test, *(folder / "conftest.py" for folder in test.parents if TESTS in folder.parents)]
    while waiting:
        path = waiting.pop()
        if path in seen or not path.is_file():
            continue
        seen.add(path)
        for name in imported(path, TESTS.parent):
            if name == "hookscope":
                found.add("__init__")
            elif name.startswith("hookscope."):
                found.add(name.split(".")[1])
            elif name.startswith("tests."):
                waiting.append(TESTS.parent.joinpath(*name.split(".")).with_suffix(".py"))
    return found


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield all statements of a file, however deep, without their expressions: those are most of a tree."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            within = getattr(node, field, ())
            waiting += within if isinstance(within, list) else ()  # the body of a lambda is an expression


@cache
def imported(path: Path, root: Path) -> frozenset[str]:
    """Return every module that a file below `root` imports: inside functions and under TYPE_CHECKING too."""
    package = path.relative_to(root).parent.parts
    names = []
    for node in statements(tree_of(path)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*start, *filter(None, [node.module])))
            names += [
                module,
                *(f"{module}.{alias.name}" for alias in node.names if module.startswith("tests")),
            ]
    return frozenset(names)
