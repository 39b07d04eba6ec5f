"""The size and shape of `src/hookscope`, which a change may make better and not worse (CONTRIBUTING.md)."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

from tests.rooms import statements, tree_of

import hookscope

SOURCE = Path(hookscope.__file__).parent
FILES = sorted(path for path in SOURCE.rglob("*.py") if "bundled_hooks" not in path.parts)

# The aims are 480 files, 90,000 lines and 6.5 % of imports: lower a bound whenever a change allows it.
MOST_FILES = 533
MOST_LINES = 117_300
MOST_IMPORT_LINES = 7.7  # per cent of all lines
MOST_LINES_OF_A_FILE = 600
MOST_LINES_OF_A_FUNCTION = 60
MOST_FILES_OF_A_FOLDER = 26
MOST_FILES_OF_A_CIRCLE = 3

ONE_FILE_EACH = {"authoring/lint/rules", "cli/commands"}  # one file a rule, one a command or family
COMMON_NAMES = {"__init__", "screen", "pane", "model"}
WORKER_PROGRAMS = ("runtime/python_worker/",)  # started by path: they import nothing of the project


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def lines_of(path: Path) -> int:
    return path.read_text().count("\n")


def length(node: ast.stmt) -> int:
    assert node.end_lineno is not None
    return node.end_lineno - node.lineno + 1


def test_the_project_stays_small() -> None:
    assert len(FILES) <= MOST_FILES
    assert sum(map(lines_of, FILES)) <= MOST_LINES


def test_few_lines_are_imports() -> None:
    imports = sum(
        length(node)
        for path in FILES
        for node in tree_of(path).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test))
    )
    assert 100 * imports / sum(map(lines_of, FILES)) <= MOST_IMPORT_LINES


def test_no_file_is_too_long_to_read() -> None:
    assert {name_of(path): lines_of(path) for path in FILES if lines_of(path) > MOST_LINES_OF_A_FILE} == {}


def test_every_function_fits_on_a_screen() -> None:
    assert [
        f"{name_of(path)}:{node.lineno}: {node.name} has {length(node)} lines"
        for path in FILES
        for node in statements(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and length(node) > MOST_LINES_OF_A_FUNCTION
    ] == []


def test_no_folder_is_a_pile() -> None:
    folders = Counter(path.parent.relative_to(SOURCE).as_posix() for path in FILES)
    piles = {folder: count for folder, count in folders.items() if count > MOST_FILES_OF_A_FOLDER}
    assert piles.keys() <= ONE_FILE_EACH


def test_no_two_modules_of_a_room_have_one_name() -> None:
    names = Counter(
        (name_of(path).split("/")[0], path.stem)
        for path in FILES
        if not name_of(path).startswith(WORKER_PROGRAMS)
    )
    assert [name for name, count in names.items() if count > 1 and name[1] not in COMMON_NAMES] == []


def test_no_two_classes_have_one_name() -> None:
    names = Counter(
        node.name
        for path in FILES
        if not name_of(path).startswith(WORKER_PROGRAMS)
        for node in tree_of(path).body
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in names.items() if count > 1] == []


def module_of(path: Path) -> str:
    """Return the dotted name of a file below `src`."""
    return ".".join(("hookscope", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")


def imports_of_modules() -> dict[str, set[str]]:
    """Return module → modules of the project that it imports, inside functions and for types too."""
    modules = {module_of(path): path for path in FILES}
    found: dict[str, set[str]] = {name: set() for name in modules}
    for name, path in modules.items():
        for node in statements(tree_of(path)):
            if isinstance(node, ast.ImportFrom):
                inner = {f"{node.module}.{alias.name}" for alias in node.names} & modules.keys()
                found[name] |= inner or {node.module or ""}
            elif isinstance(node, ast.Import):
                found[name] |= {alias.name for alias in node.names}
    return {name: (others & modules.keys()) - {name} for name, others in found.items()}


def circles(imports: dict[str, set[str]]) -> list[set[str]]:
    """Return the sets of modules that import each other, directly or through others."""
    reached: dict[str, set[str]] = {}
    for name in imports:
        found: set[str] = set()
        waiting = [name]
        while waiting:
            for other in imports[waiting.pop()] - found:
                found.add(other)
                waiting.append(other)
        reached[name] = found
    return [
        circle
        for name in imports
        if name == min(circle := {name} | {other for other in reached[name] if name in reached[other]})
    ]


def test_few_modules_import_each_other() -> None:
    found = circles(imports_of_modules())
    assert [sorted(circle) for circle in found if len(circle) > MOST_FILES_OF_A_CIRCLE] == []
