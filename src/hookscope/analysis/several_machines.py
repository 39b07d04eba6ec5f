"""The same hooks on several machines: this shell, a service, a running process."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace

from hookscope.analysis.host_alignment import align_hosts
from hookscope.analysis.host_comparison import ComparedHost, HostComparison, Remedy
from hookscope.analysis.machine_differences import (
    MissingRequirement,
    missing_requirements,
    with_causes,
)
from hookscope.analysis.several_hosts import host_side
from hookscope.app.options import Options
from hookscope.app.whatif.assumptions import CLEAN_ENVIRONMENT, assumed_machine
from hookscope.app.whatif.source import EnvironmentSource
from hookscope.app.workbench import Workbench
from hookscope.formats.service_units import unit_word
from hookscope.model.refusal import Refusal
from hookscope.values import dataclass

THIS_MACHINE = "here"
MACHINE_WORDS = "`here`, `clean`, FILE, unit:NAME, launchd:LABEL, pid:NUMBER, process:NAME"
HIDDEN_VALUE = "…"


@dataclass(frozen=True, slots=True)
class ComparedMachine:
    """One of the compared machines."""

    label: str
    options: Options
    source: EnvironmentSource | None = None
    notes: tuple[str, ...] = ()  # what is unknown about it


def compared_machines(text: str, options: Options) -> tuple[ComparedMachine, ...]:
    """Return the machines in `here,unit:gateway`; a single one is compared with `here`. Raises Refusal.

    All other assumptions of the options apply to each of them.
    """
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise Refusal("--surroundings names none.", f"They are {MACHINE_WORDS}.", code=2)
    if len(names) == 1 and names[0] != THIS_MACHINE:
        names.insert(0, THIS_MACHINE)
    if len(names) == 1:
        raise Refusal("--surroundings wants another one beside `here`.", f"They are {MACHINE_WORDS}.", code=2)
    return tuple(_compared_machine(name, options) for name in names)


def _compared_machine(name: str, options: Options) -> ComparedMachine:
    bare = replace(options, env_from=None, clean_env=name == CLEAN_ENVIRONMENT)
    if name in (THIS_MACHINE, CLEAN_ENVIRONMENT):
        return ComparedMachine(name, bare)
    assumed = replace(bare, env_from=name)
    _, source = assumed_machine(assumed)
    label = source.description if source is not None else name
    return ComparedMachine(label, assumed, source, source.notes if source is not None else ())


def real_and_assumed(
    supposed: Options, real: Options, dialect: str
) -> tuple[ComparedMachine, ComparedMachine]:
    """Return the real and the assumed machine, under one dialect unless the what-if names another.
    Raises Refusal.
    """
    _, source = assumed_machine(supposed)
    label = source.description if source is not None else "what if"
    assumed = replace(supposed, dialect=dialect)
    real_options = real if "host" in supposed.supposed else replace(real, dialect=dialect)
    return ComparedMachine(THIS_MACHINE, real_options), ComparedMachine(
        label, assumed, source, source.notes if source is not None else ()
    )


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
    found = with_causes(align_hosts(sides))
    lacking = missing_requirements(found)
    remedies = (
        _remedy(place, side, [one for one in lacking if one.missing_at is side])
        for place, side in zip(places, sides, strict=True)
    )
    return replace(found, remedies=tuple(one for one in remedies if one is not None))


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
                f"<key>{_xml(name)}</key><string>{_xml(text)}</string>" for name, text in assignments.items()
            ]
            where = f"{source.files[0]}, in the dictionary EnvironmentVariables"
            return Remedy(place.label, where, tuple(lines), "Then unload the job and load it again.")
        case "file" if source is not None:
            return Remedy(place.label, str(source.files[0]), _assigned(assignments))
        case "process":
            next_step = "A process keeps its environment: start it again with these."
            return Remedy(place.label, "where it is started from", _assigned(assignments), next_step)
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


def _xml(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
