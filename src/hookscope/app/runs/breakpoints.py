"""Breakpoints as users type them (`greet/handler.py:12 if n > 3`): and the files of a run that they name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from hookscope.model.failure import Refusal
from hookscope.model.machine import Machine, walk_folders
from hookscope.model.regular_file import read_regular
from hookscope.model.run import Code, Plan, Registration
from hookscope.model.text import nearest_word, one_line
from hookscope.runtime.debugger import Point
from hookscope.values import dataclass

SOURCES = (".py", ".ts", ".mts", ".cts", ".js", ".mjs", ".cjs")
FOREIGN = ("node_modules", "__pycache__", "venv", "dist-packages", "site-packages")
RunFiles: TypeAlias = tuple[tuple[Path, ...], tuple[Path, ...]]  # the user's files; shipped files
MOST = 2000  # files of a run that are searched
SHOWN = 4  # matches shown
_PLACE = re.compile(r"(?:(?P<file>.+?):)?(?P<line>\d{1,9})(?:\s+if\s+(?P<condition>.*\S))?\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TypedBreakpoint:
    """A breakpoint as typed."""

    file: str  # name, or end of the path; empty: none
    line: int
    condition: str = ""


def parse_breakpoint(text: str) -> TypedBreakpoint | None:
    """Return the breakpoint in a text; None if it has no line number."""
    found = _PLACE.fullmatch(text.strip())
    if found is None:
        return None
    return TypedBreakpoint(found["file"] or "", int(found["line"]), found["condition"] or "")


def breakpoint_files(plan: Plan) -> RunFiles:
    """Return the files of a run: its handlers, then other sources in their folders."""
    calls = [call for call in plan.calls if isinstance(call.target, Code)]
    shipped = [call for call in calls if call.hook is not None and call.hook.folder.source == "bundled"]
    return _folder_files([call for call in calls if call not in shipped]), _folder_files(shipped)


def _folder_files(calls: Iterable[Registration]) -> tuple[Path, ...]:
    codes = [call.target for call in calls if isinstance(call.target, Code)]
    around = (file for root in dict.fromkeys(code.root for code in codes) for file in _files_below(root))
    return tuple(islice(dict.fromkeys([*(code.path for code in codes), *around]), MOST))


def breakpoints_of(texts: Iterable[str], plan: Plan, machine: Machine) -> dict[Path, list[Point]]:
    """Return the breakpoints of a run by file. Raises Refusal for an invalid one."""
    files = breakpoint_files(plan)
    points: dict[Path, list[Point]] = {}
    for text in texts:
        place = parse_breakpoint(text)
        if place is None or not place.file:
            raise Refusal(
                f"`{one_line(text)}` has no line number.", "Write handler.py:12 or handler.py:12 if n > 3."
            )
        file = matching_file(place, files, machine)
        count = _lines_in(file)
        if not 1 <= place.line <= count:
            has = f"{one_line(machine.short(file))} has {count} line{'' if count == 1 else 's'}"
            raise Refusal(f"{has}, but no line {place.line}.", "Choose another line.")
        try:
            points.setdefault(file, []).append(Point(place.line, place.condition))
        except ValueError as error:
            raise Refusal(f"{one_line(place.file)}:{place.line}: {error}.") from None
    return points


def matching_file(place: TypedBreakpoint, files: RunFiles, machine: Machine) -> Path:
    """Return the named file, by its path or the end of it. The user's files win over shipped ones.

    Raises Refusal if no file matches, or several do.
    """
    path = machine.absolute(place.file)
    if os.path.isfile(path):
        return path
    typed = Path(place.file).parts
    fits = ([file for file in group if file.parts[-len(typed) :] == typed] for group in files)
    found = next(filter(None, fits), [])
    if len(found) == 1:
        return found[0]
    all_files = [*files[0], *files[1]]
    name = one_line(place.file)
    shown = ", ".join(one_line(machine.short(file)) for file in (found or all_files)[:SHOWN])
    more = " …" if len(found or all_files) > SHOWN else ""
    if found:
        raise Refusal(f"`{name}` matches several files of this run: {shown}{more}.", "Add more of the path.")
    closest = nearest_word(typed[-1] if typed else "", [file.name for file in all_files])
    next_step = f"Did you mean {one_line(closest)}:{place.line}?" if closest else f"Files: {shown}{more}."
    raise Refusal(f"No handler of this run has a file `{name}`.", next_step)


def _files_below(root: Path) -> Iterator[Path]:
    for folder, names in walk_folders(root, lambda name: name in FOREIGN or name.startswith(".")):
        yield from (Path(folder, name) for name in names if name.endswith(SOURCES))


def _lines_in(file: Path) -> int:
    try:
        return len(read_regular(file).splitlines())
    except OSError:
        return 0
