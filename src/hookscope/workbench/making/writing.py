"""Writing what was sketched, all of it or nothing, and how the new one stands then."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from hookscope.core.standing import Gate, Standing
from hookscope.values import dataclass
from hookscope.workbench.making.readers import named
from hookscope.workbench.making.sketching import Sketched, sketched
from hookscope.workbench.making.wish import Wish
from hookscope.workbench.refusal import Refusal

if TYPE_CHECKING:
    from hookscope.workbench.bench import Workbench
    from hookscope.workbench.view import View

OWN_SWITCHES = ("enabled", "selected")
SWITCH = "switch"  # that of all hooks


@dataclass(frozen=True, slots=True)
class Stands:
    """The new one under one dialect."""

    dialect: str
    row: Standing | None  # None: this host does not find it there
    shut: tuple[Gate, ...] = ()


@dataclass(frozen=True, slots=True)
class Made:
    """What was written, and what is to be done next."""

    sketched: Sketched
    trusted: Path | None  # the folder that may run now
    stands: tuple[Stands, ...]
    next: tuple[str, ...]  # commands, in their order
    notes: tuple[str, ...]


def sketch_new(bench: Workbench, view: View, wish: Wish) -> Sketched:
    """What a wish comes to. Writes nothing; raises Refusal."""
    return sketched(wish, view.host, view.inventory)


def make(bench: Workbench, sketch: Sketched, *, trust: bool | None = None) -> Made:
    """Write it, as one change that can be taken back, and look again. Raises Refusal; then nothing is there.

    `trust`: whether it may run from now on. None: where its folder was not there before: what lies in it is
    ours, and its author's to go on with.
    """
    folder = _to_trust(sketch)
    trust = not os.path.lexists(folder) if trust is None else trust
    bench.edits.write(sketch.wish.name, sketch.change)
    trusted, notes = None, sketch.notes
    if trust:
        try:
            trusted = _bench(bench, sketch, sketch.readers.first.name).trust(folder)
        except Refusal as refused:
            notes = (*notes, str(refused))
    stands = tuple(_stands(bench, sketch, one.name) for one in sketch.readers.chosen)
    return Made(sketch, trusted, stands, tuple(_next(bench, sketch, stands)), notes)


def _to_trust(sketch: Sketched) -> Path:
    """Its own folder; of a module, the folder that it stands in."""
    return sketch.root.parent if sketch.kind == "stream" else sketch.root


def _bench(bench: Workbench, sketch: Sketched, dialect: str) -> Workbench:
    """The same machine under that dialect, at the workspace that the new one belongs to."""
    from hookscope.workbench.bench import Workbench  # here: it knows us

    options = replace(bench.options, dialect=dialect)
    if os.path.isdir(sketch.where.workspace):
        options = replace(options, workspace=sketch.where.workspace)
    return Workbench(options)


def _stands(bench: Workbench, sketch: Sketched, dialect: str) -> Stands:
    view = _bench(bench, sketch, dialect).look()
    folder = sketch.main.parent if sketch.kind in ("hook", "pack") else sketch.root
    row = next((row for row in view.inventory.hooks if row.hook.path == folder), None)
    shut = tuple(row.verdict.shut()) if row is not None else ()
    return Stands(dialect, row, shut)


def _next(bench: Workbench, sketch: Sketched, stands: tuple[Stands, ...]) -> Iterator[str]:
    """The commands that open what is shut, then the one that tries it out."""
    first = next((one for one in stands if one.row is not None), None)
    if sketch.saved is None or first is None or first.row is None:
        yield f"hookscope lint {_word(bench, sketch.root)}"
        return
    if any(gate.name == "trusted" for one in stands for gate in one.shut):
        yield f"hookscope trust {_word(bench, _to_trust(sketch))}"
    for one in stands:
        yield from _opening(one, bench, sketch)
    yield f"hookscope{_options(bench, sketch, first.dialect)} test {_word(bench, sketch.saved)}"


def _opening(one: Stands, bench: Workbench, sketch: Sketched) -> Iterator[str]:
    """What opens the other checks of one host."""
    more, name = _options(bench, sketch, one.dialect), sketch.wish.name
    shut = {gate.name for gate in one.shut} - {"trusted", "sent"}  # what is never sent is noted
    switched = set(OWN_SWITCHES)
    if named(one.dialect).switching.also_true:
        switched.add(SWITCH)
    if shut & switched:
        yield f"hookscope{more} enable {name}"
    if shut - switched:
        yield f"hookscope{more} fix {name}"


def _options(bench: Workbench, sketch: Sketched, dialect: str) -> str:
    """What a command has to be told, so that it looks where this one did."""
    given = bench.options
    said = ""
    if given.dialect is not None or dialect != bench.dialect.name:
        said += f" --dialect {dialect}"
    if given.workspace is not None or sketch.kind == "pack":
        said += f" --workspace {_word(bench, sketch.where.workspace)}"
    return said


def _word(bench: Workbench, path: Path) -> str:
    """A path as one types it here."""
    here = bench.setup.surroundings.cwd
    return quote(str(path.relative_to(here) if path.is_relative_to(here) else path))
