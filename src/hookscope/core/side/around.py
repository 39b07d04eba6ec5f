"""One dialect in several surroundings: what they have otherwise, and which hooks that stops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from hookscope.core.side.model import Around, Cause, Cell, Comparison, Differing, Line, Side
from hookscope.values import dataclass

OF_PROGRAMS = ("bins", "anyBins")
MOST = 6  # folders that are named one by one
_LACKS = {"bins", "anyBins", "env"}


@dataclass(frozen=True, slots=True)
class Lacking:
    """A hook lacks in some surroundings what others have."""

    hook: str
    side: Side  # where it lacks
    what: str  # a program, or a variable
    there: Side  # where it is
    folder: str = ""  # of a program: the folder of PATH that has it there; empty for a variable


def explained(comparison: Comparison) -> Comparison:
    """The comparison with what is behind it: for each hook the program or variable, for all the causes."""
    sides, lacking = comparison.sides, lacking_in(comparison)
    lines = tuple(_explained(line, lacking) for line in comparison.lines)
    return replace(comparison, lines=lines, causes=tuple(_causes(sides, lacking)))


def lacking_in(comparison: Comparison) -> tuple[Lacking, ...]:
    """All that hooks lack somewhere and have elsewhere."""
    return tuple(
        one for line in comparison.lines for cell in line.cells for one in _lacking(line, cell, comparison)
    )


def _lacking(line: Line, cell: Cell, comparison: Comparison) -> Iterator[Lacking]:
    for gate in cell.row.verdict.shut() if cell.row is not None else ():
        for name in gate.missing if gate.name in _LACKS else ():
            for side in comparison.sides:
                if side is cell.side:
                    continue
                found = _program(name, side) if gate.name in OF_PROGRAMS else None
                if found is not None:
                    yield Lacking(line.name, cell.side, name, side, str(Path(found).parent))
                    break
                if gate.name == "env" and side.host.env.get(name):
                    yield Lacking(line.name, cell.side, name, side)
                    break


def _program(name: str, side: Side) -> str | None:
    around = side.host.surroundings
    return around.files.program(name, around.search_path()).path


def _explained(line: Line, lacking: Sequence[Lacking]) -> Line:
    own = [one for one in lacking if one.hook == line.name]
    more = [*map(_why, own), *_other_programs(line)]
    change = tuple(dict.fromkeys(_wish(one, line) for one in own))
    return replace(line, differs=(*line.differs, *more), change=change)


def _why(one: Lacking) -> Differing:
    if not one.folder:
        return Differing("variable", f"{one.what} is set {_in(one.there)} and not {_in(one.side)}")
    where = _short(Path(one.folder, one.what), one.there)
    number = len(one.side.host.surroundings.search_path())
    folders = f"none of the {number} folders" if number > 1 else "not the one folder"
    return Differing(
        "program", f"{one.what} is {where} {_in(one.there)}; {folders} of PATH {_in(one.side)} has it"
    )


def _in(side: Side) -> str:
    """A side as a place: `here`, `in unit gateway`."""
    return side.name if side.name == "here" else f"in {side.name}"


def _wish(one: Lacking, line: Line) -> str:
    if one.folder:
        return f"put {_short(Path(one.folder), one.there)} on PATH {_in(one.side)}"
    return f"set {one.what} {_in(one.side)}, or in its entry: `hookscope fix {line.name} --gate env`"


def _other_programs(line: Line) -> Iterator[Differing]:
    """The same name, and another program."""
    rows = [cell for cell in line.cells if cell.row is not None]
    names = dict.fromkeys(
        name
        for cell in rows
        for gate in (cell.row.verdict.gates if cell.row is not None else ())
        if gate.name in OF_PROGRAMS
        for name in gate.needed
    )
    for name in names:
        found = [(cell.side, path) for cell in rows if (path := _program(name, cell.side)) is not None]
        real = {side.host.surroundings.files.real(Path(path)) for side, path in found}
        if len(real) > 1:
            told = ", ".join(f"{_short(Path(path), side)} {_in(side)}" for side, path in found)
            yield Differing("program", f"{name} is {told}")


def _causes(sides: Sequence[Side], lacking: Sequence[Lacking]) -> Iterator[Cause]:
    yield from _apart("host", sides, lambda side: side.dialect.name)
    yield from _apart("platform", sides, lambda side: side.host.surroundings.platform)
    yield from _apart("home", sides, lambda side: str(side.host.surroundings.home))
    yield from _apart("settings", sides, lambda side: str(side.host.settings.file))
    yield from _apart("workspace", sides, lambda side: str(side.host.workspace))
    yield from _folders(sides, lacking)
    variables = dict.fromkeys(one.what for one in lacking if not one.folder)
    for name in variables:
        has = [side for side in sides if side.host.env.get(name)]
        hooks = dict.fromkeys(one.hook for one in lacking if one.what == name and not one.folder)
        yield Cause("variable", f"{name} is set {_only(has)}", tuple(hooks))


def _apart(what: Around, sides: Sequence[Side], value: Callable[[Side], str]) -> Iterator[Cause]:
    if len({value(side) for side in sides}) > 1:
        told = ", ".join(f"{value(side)} {_in(side)}" for side in sides)
        yield Cause(what, f"{what}: {told}")


def _folders(sides: Sequence[Side], lacking: Sequence[Lacking]) -> Iterator[Cause]:
    """The folders of PATH that not all have, by who has them; those that matter first."""
    paths = [side.host.surroundings.search_path() for side in sides]
    groups: dict[tuple[str, ...], list[str]] = {}
    for folder in dict.fromkeys(folder for path in paths for folder in path):
        has = tuple(side.name for side, path in zip(sides, paths, strict=True) if folder in path)
        if len(has) < len(sides):
            groups.setdefault(has, []).append(folder)
    for names, folders in groups.items():
        has_it = [side for side in sides if side.name in names]
        stops = [one for one in lacking if one.folder in folders]
        wanted = {one.folder for one in stops}
        folders.sort(key=lambda folder: folder not in wanted)
        told = ", ".join(_short(Path(folder), has_it[0]) for folder in folders[:MOST])
        more = f" and {len(folders) - MOST} more" if len(folders) > MOST else ""
        hooks = tuple(dict.fromkeys(one.hook for one in stops))
        yield Cause("path", f"PATH has {told}{more} {_only(has_it)}", hooks)


def _short(path: Path, side: Side) -> str:
    """A folder of PATH as people write it: never from the current folder."""
    home = side.host.surroundings.home
    return f"~/{path.relative_to(home)}" if path != home and path.is_relative_to(home) else str(path)


def _only(sides: Sequence[Side]) -> str:
    return f"{' and '.join(map(_in, sides))} only"
