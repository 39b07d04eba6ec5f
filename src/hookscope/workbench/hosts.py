"""The same folders under the rules of several hosts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from hookscope.core.dialect import Dialect
from hookscope.core.examine import examine
from hookscope.core.look import look
from hookscope.core.side.line_up import line_up
from hookscope.core.side.model import Comparison, Reads, Side
from hookscope.core.text import nearest
from hookscope.dialects import DIALECTS, GUIDES, UnknownDialect, dialect_named
from hookscope.systems.folders import folder_system_of
from hookscope.systems.folders.line_header import read_line_header
from hookscope.workbench.bench import Workbench
from hookscope.workbench.options import LINGER, Options, set_up
from hookscope.workbench.refusal import Refusal


def usual_dialects(bench: Workbench, *, shipped: bool = False) -> tuple[Dialect, ...]:
    """The guides of all hosts with HOOK.md folders, the dialect in force in place of its own guide.

    `shipped`: their programs as they ship, in the installed version or else the newest that is known.
    Of a host whose hooks are none of folders, its own guide and versions: nobody else reads those.
    """
    if "folder" not in bench.dialect.kinds:
        return tuple(dialect for dialect in comparable_dialects(bench) if dialect.version or not shipped)
    chosen = []
    for guide in GUIDES:
        if "folder" not in guide.kinds:
            continue
        if shipped:
            program = set_up(replace(_options(bench, guide), dialect=guide.name)).shipped
            chosen.append(program or guide)
        else:
            chosen.append(bench.dialect if bench.dialect.product == guide.product else guide)
    return tuple(chosen)


def comparable_dialects(bench: Workbench) -> tuple[Dialect, ...]:
    """All that have HOOK.md folders, or all of a host that has none: guides first."""
    here, known = bench.dialect, DIALECTS.values()
    if "folder" not in here.kinds:
        return tuple(dialect for dialect in known if dialect.product == here.product)
    return tuple(dialect for dialect in known if "folder" in dialect.kinds)


def chosen_dialects(names: str) -> tuple[Dialect, ...]:
    """`openclaw,milady`, each once. Raises Refusal for an unknown one, and for fewer than two."""
    try:
        found = {name: dialect_named(name) for name in map(str.strip, names.split(",")) if name}
    except UnknownDialect as error:
        raise Refusal(str(error), code=2) from None
    if len(found) < 2:
        known = ", ".join(DIALECTS)
        raise Refusal("--dialects wants two dialects or more.", f"Known are {known}.", code=2)
    return tuple(found.values())


def bench_at(bench: Workbench, dialect: Dialect, *, trust_all: bool = False) -> Workbench:
    """The same folders under another host's rules: the workspace in force and what the options assume are
    its own too; its settings, state folder and managed hooks are that host's."""
    made = Workbench(_options(bench, dialect), trust_all=trust_all, limits=bench.limits, lingers=LINGER)
    made.crew.warn_unprotected = bench.crew.warn_unprotected
    return made


def compared(bench: Workbench, dialects: Sequence[Dialect]) -> Comparison:
    """Every hook as each of these hosts sees it, as though all folders were trusted. Runs nothing."""
    return line_up([side_of(bench_at(bench, dialect, trust_all=True)) for dialect in dialects])


def only(comparison: Comparison, names: Sequence[str]) -> Comparison:
    """The hooks of these names alone. Raises Refusal for one that no host has."""
    known = {line.name for line in comparison.lines}
    for name in names:
        if name not in known:
            near = nearest(name, known)
            then = f"Did you mean {near}?" if near else "`hookscope compare` shows all there are."
            raise Refusal(f"No host has a hook named {name!r}.", then)
    lines = tuple(line for line in comparison.lines if line.name in names)
    return replace(comparison, lines=lines)


def _options(bench: Workbench, dialect: Dialect) -> Options:
    same = dialect.product == bench.dialect.product
    workspace = bench.open().workspace
    return replace(
        bench.options,
        dialect=dialect.name,
        workspace=workspace if os.path.isdir(workspace) else bench.options.workspace,
        config=bench.options.config if same else None,
        agent=bench.options.agent if same else None,
    )


def side_of(bench: Workbench) -> Side:
    """What this workbench finds, for a comparison."""
    host = bench.open()
    return Side(host, examine(look(host), host), _reads(host.dialect))


def _reads(dialect: Dialect) -> Reads | None:
    if "folder" not in dialect.kinds:
        return None
    shape = folder_system_of(dialect).shape
    return Reads(
        shape.namespace,
        shape.handlers if shape.marks_python else shape.candidates,
        json_only=shape.read is read_line_header,
    )
