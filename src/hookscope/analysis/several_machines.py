"""The same hooks on several machines: this shell, a service, a running process."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path

from hookscope.analysis.host_alignment import align_hosts
from hookscope.analysis.host_comparison import (
    CauseKind,
    ComparedHook,
    ComparedHost,
    DifferenceCause,
    HookAtHost,
    HostComparison,
    HostDifference,
    Remedy,
)
from hookscope.analysis.several_hosts import host_side
from hookscope.app.options import Options
from hookscope.app.whatif.assumptions import CLEAN_ENVIRONMENT, assumed_machine
from hookscope.app.whatif.source_lookup import EnvironmentSource
from hookscope.app.workbench import Workbench
from hookscope.formats.service_units import unit_word
from hookscope.model.failure import Refusal
from hookscope.model.hook_status import FixKind
from hookscope.values import dataclass

MOST_FOLDERS = 6  # folders named one by one


@dataclass(frozen=True, slots=True)
class MissingRequirement:
    """A requirement of a hook that one machine lacks and another has."""

    hook: str
    missing_at: ComparedHost  # the machine that lacks it
    name: str  # a program, or a variable
    found_at: ComparedHost  # the machine that has it
    folder: str = ""  # of a program: its PATH folder there; empty for a variable


def _missing_at_host(
    line: ComparedHook, cell: HookAtHost, comparison: HostComparison
) -> Iterator[MissingRequirement]:
    for gate in cell.row.verdict.failed() if cell.row is not None else ():
        for name in gate.missing:
            for side in comparison.sides:
                if side is cell.side:
                    continue
                found = _program(name, side) if gate.kind.fix is FixKind.PROGRAMS else None
                if found is not None:
                    yield MissingRequirement(line.name, cell.side, name, side, str(Path(found).parent))
                    break
                if gate.kind.fix is FixKind.SET_VARIABLES and side.host.env.get(name):
                    yield MissingRequirement(line.name, cell.side, name, side)
                    break


def _program(name: str, side: ComparedHost) -> str | None:
    machine = side.host.machine
    return machine.files.program(name, machine.search_path()).path


def _with_explanation(line: ComparedHook, lacking: Sequence[MissingRequirement]) -> ComparedHook:
    own = [one for one in lacking if one.hook == line.name]
    more = [*map(_explanation, own), *_other_programs(line)]
    change = tuple(dict.fromkeys(_suggested_change(one, line) for one in own))
    return replace(line, differs=(*line.differs, *more), suggestions=change)


def _explanation(requirement: MissingRequirement) -> HostDifference:
    if not requirement.folder:
        return HostDifference(
            "variable",
            f"{requirement.name} is set {_location_phrase(requirement.found_at)} but "
            f"not {_location_phrase(requirement.missing_at)}",
        )
    where = _short(Path(requirement.folder, requirement.name), requirement.found_at)
    number = len(requirement.missing_at.host.machine.search_path())
    folders = f"none of the {number} folders" if number > 1 else "no folder"
    return HostDifference(
        "program",
        f"{requirement.name} is {where} {_location_phrase(requirement.found_at)}; {folders} of PATH "
        f"{_location_phrase(requirement.missing_at)} has it",
    )


def _location_phrase(side: ComparedHost) -> str:
    """Return a side as a location: `here`, `in unit gateway`."""
    return side.name if side.name == "here" else f"in {side.name}"


def _suggested_change(requirement: MissingRequirement, line: ComparedHook) -> str:
    if requirement.folder:
        return (
            f"put {_short(Path(requirement.folder), requirement.found_at)} on PATH "
            f"{_location_phrase(requirement.missing_at)}"
        )
    return (
        f"set {requirement.name} {_location_phrase(requirement.missing_at)}, or in its entry: `hookscope fix "
        f"{line.name} --gate env`"
    )


def _other_programs(line: ComparedHook) -> Iterator[HostDifference]:
    """Yield programs with the same name that are different files."""
    rows = [cell for cell in line.cells if cell.row is not None]
    names = dict.fromkeys(
        name
        for cell in rows
        for gate in (cell.row.verdict.gates if cell.row is not None else ())
        if gate.kind.fix is FixKind.PROGRAMS
        for name in gate.needed
    )
    for name in names:
        found = [(cell.side, path) for cell in rows if (path := _program(name, cell.side)) is not None]
        real = {side.host.machine.files.real(Path(path)) for side, path in found}
        if len(real) > 1:
            locations = ", ".join(
                f"{_short(Path(path), side)} {_location_phrase(side)}" for side, path in found
            )
            yield HostDifference("program", f"{name} is {locations}")


def _causes(
    sides: Sequence[ComparedHost], lacking: Sequence[MissingRequirement]
) -> Iterator[DifferenceCause]:
    yield from _differing_values("host", sides, lambda side: side.dialect.name)
    yield from _differing_values("platform", sides, lambda side: side.host.machine.platform)
    yield from _differing_values("home", sides, lambda side: str(side.host.machine.home))
    yield from _differing_values("settings", sides, lambda side: str(side.host.settings.file))
    yield from _differing_values("workspace", sides, lambda side: str(side.host.workspace))
    yield from _folders(sides, lacking)
    variables = dict.fromkeys(one.name for one in lacking if not one.folder)
    for name in variables:
        has = [side for side in sides if side.host.env.get(name)]
        hooks = dict.fromkeys(one.hook for one in lacking if one.name == name and not one.folder)
        yield DifferenceCause("variable", f"{name} is set {_only_phrase(has)}", tuple(hooks))


def _differing_values(
    what: CauseKind, sides: Sequence[ComparedHost], value: Callable[[ComparedHost], str]
) -> Iterator[DifferenceCause]:
    if len({value(side) for side in sides}) > 1:
        values = ", ".join(f"{value(side)} {_location_phrase(side)}" for side in sides)
        yield DifferenceCause(what, f"{what}: {values}")


def _folders(
    sides: Sequence[ComparedHost], lacking: Sequence[MissingRequirement]
) -> Iterator[DifferenceCause]:
    """Yield PATH folders that not all machines have, grouped by machine, needed ones first."""
    paths = [side.host.machine.search_path() for side in sides]
    groups: dict[tuple[str, ...], list[str]] = {}
    for folder in dict.fromkeys(folder for path in paths for folder in path):
        has = tuple(side.name for side, path in zip(sides, paths, strict=True) if folder in path)
        if len(has) < len(sides):
            groups.setdefault(has, []).append(folder)
    for names, folders in groups.items():
        has_it = [side for side in sides if side.name in names]
        blocked = [one for one in lacking if one.folder in folders]
        needed = {one.folder for one in blocked}
        folders.sort(key=lambda folder: folder not in needed)
        listed = ", ".join(_short(Path(folder), has_it[0]) for folder in folders[:MOST_FOLDERS])
        more = f" and {len(folders) - MOST_FOLDERS} more" if len(folders) > MOST_FOLDERS else ""
        hooks = tuple(dict.fromkeys(one.hook for one in blocked))
        yield DifferenceCause("path", f"PATH has {listed}{more} {_only_phrase(has_it)}", hooks)


def _short(path: Path, side: ComparedHost) -> str:
    """Return a PATH folder as people write it, never relative to the current folder."""
    home = side.host.machine.home
    return f"~/{path.relative_to(home)}" if path != home and path.is_relative_to(home) else str(path)


def _only_phrase(sides: Sequence[ComparedHost]) -> str:
    return f"{' and '.join(map(_location_phrase, sides))} only"


THIS_MACHINE = "here"
MACHINE_WORDS = "`here`, `clean`, FILE, unit:NAME, launchd:LABEL, pid:NUMBER, process:NAME"
HIDDEN_VALUE = "…"


@dataclass(frozen=True, slots=True)
class ComparedMachine:
    """One of the compared machines."""

    label: str
    options: Options
    source: EnvironmentSource | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What is unknown about it."""
        return self.source.notes if self.source is not None else ()


def compared_machines(text: str, options: Options) -> tuple[ComparedMachine, ...]:
    """Return the machines that `text` lists, as in `here,unit:gateway`. Raises Refusal.

    A single machine is compared with `here`. The other assumptions in `options` apply to every machine.
    """
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise Refusal("--surroundings names no machine.", f"Use {MACHINE_WORDS}.", code=2)
    if len(names) == 1 and names[0] != THIS_MACHINE:
        names.insert(0, THIS_MACHINE)
    if len(names) == 1:
        raise Refusal("--surroundings needs a machine besides `here`.", f"Use {MACHINE_WORDS}.", code=2)
    return tuple(_compared_machine(name, options) for name in names)


def _compared_machine(name: str, options: Options) -> ComparedMachine:
    bare = replace(options, env_from=None, clean_env=name == CLEAN_ENVIRONMENT)
    if name in (THIS_MACHINE, CLEAN_ENVIRONMENT):
        return ComparedMachine(name, bare)
    assumed = replace(bare, env_from=name)
    _, source = assumed_machine(assumed)
    label = source.description if source is not None else name
    return ComparedMachine(label, assumed, source)


def real_and_assumed(
    supposed: Options, real: Options, dialect: str
) -> tuple[ComparedMachine, ComparedMachine]:
    """Return the real and the assumed machine; only a what-if may change the dialect. Raises Refusal."""
    _, source = assumed_machine(supposed)
    label = source.description if source is not None else "what if"
    assumed = replace(supposed, dialect=dialect)
    real_options = real if "host" in supposed.supposed else replace(real, dialect=dialect)
    return ComparedMachine(THIS_MACHINE, real_options), ComparedMachine(label, assumed, source)


def compare_machines(places: Sequence[ComparedMachine], dialect: str | None = None) -> HostComparison:
    """Return every hook as the host sees it on each machine, with all folders trusted. Runs nothing.

    `dialect` applies to machines that name none. Raises Refusal.
    """
    benches = [
        Workbench(replace(place.options, dialect=place.options.dialect or dialect), trust_all=True)
        for place in places
    ]
    sides = [
        replace(host_side(bench), label=place.label) for bench, place in zip(benches, places, strict=True)
    ]
    aligned = align_hosts(sides)
    cells = ((line, cell) for line in aligned.lines for cell in line.cells)
    lacking = tuple(one for line, cell in cells for one in _missing_at_host(line, cell, aligned))
    remedies = (
        _remedy(place, side, [one for one in lacking if one.missing_at is side])
        for place, side in zip(places, sides, strict=True)
    )
    return replace(
        aligned,
        lines=tuple(_with_explanation(line, lacking) for line in aligned.lines),
        causes=tuple(_causes(sides, lacking)),
        remedies=tuple(one for one in remedies if one is not None),
    )


def _remedy(
    place: ComparedMachine, side: ComparedHost, lacking: Sequence[MissingRequirement]
) -> Remedy | None:
    """Return the lines that give a machine what its hooks lack there."""
    folders = dict.fromkeys(one.folder for one in lacking if one.folder)
    variables = dict.fromkeys(one.name for one in lacking if not one.folder)
    if not folders and not variables:
        return None
    assignments = dict.fromkeys(variables, HIDDEN_VALUE)
    if folders:
        assignments = {"PATH": ":".join((*side.host.machine.search_path(), *folders)), **assignments}
    source = place.source
    match source.kind if source is not None else place.label:
        case "unit" if source is not None:
            return _unit_remedy(place, source, assignments)
        case "launchd" if source is not None:
            lines = [
                f"<key>{escape(name, quote=False)}</key><string>{escape(text, quote=False)}</string>"
                for name, text in assignments.items()
            ]
            where = f"{source.files[0]}, in the dictionary EnvironmentVariables"
            return Remedy(place.label, where, tuple(lines), "Then unload the job and load it again.")
        case "file" if source is not None:
            return Remedy(place.label, str(source.files[0]), _assigned(assignments))
        case "process":
            next_step = "A process keeps its environment: restart it with these variables."
            return Remedy(place.label, "where the process is started", _assigned(assignments), next_step)
        case "here":
            return Remedy(
                place.label, "in this shell", tuple(f"export {line}" for line in _assigned(assignments))
            )
    return Remedy(place.label, "in its environment", _assigned(assignments))


def _unit_remedy(place: ComparedMachine, source: EnvironmentSource, assignments: dict[str, str]) -> Remedy:
    unit = source.description.removeprefix("unit ")
    control = "systemctl --user" if source.is_user_unit else "sudo systemctl"
    lines = tuple(f"Environment={unit_word(f'{name}={text}')}" for name, text in assignments.items())
    where = f"`{control} edit {shlex.quote(unit)}`, under [Service]"
    return Remedy(place.label, where, lines, f"Then `{control} restart {shlex.quote(unit)}`.")


def _assigned(assignments: dict[str, str]) -> tuple[str, ...]:
    return tuple(
        f"{name}={text if text == HIDDEN_VALUE else shlex.quote(text)}" for name, text in assignments.items()
    )
