"""From a shut gate to what may open it: settings, permissions, words. One generator a gate.

A recipe yields candidates, the smallest first; `repairing` takes the first that opens its gate when the
host's own rules look at the result. So a recipe may try what only some dialects understand.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hookscope.changes import CannotEdit, Change, edited_all
from hookscope.core.hooks import Edit
from hookscope.core.standing import Gate, Standing
from hookscope.core.trust import trust_target
from hookscope.formats import locate_json5, text_of
from hookscope.formats.places import steps_of, with_dots
from hookscope.workbench.fixing.by_hand import install_lines, install_words
from hookscope.workbench.fixing.fix import Fix, Given
from hookscope.workbench.fixing.sketch import Sketch

Recipe = Callable[[Gate, Standing, Sketch, Given], Iterator[Fix]]


def settings_fix(gate: Gate, title: str, edits: list[Edit], sketch: Sketch) -> Fix:
    """A fix that edits the settings file. Raises ChangeError where that cannot be done with certainty."""
    file = sketch.host.settings.file
    old = sketch.read(file)
    meaning = ", ".join(edit.meaning for edit in edits)
    return Fix(gate.name, title, (Change(file.absolute(), meaning, old, edited_all(old, edits)),))


def by_edit(gate: Gate, row: Standing, sketch: Sketch, given: Given) -> Iterator[Fix]:
    """What the gate itself asks for: a switch."""
    if gate.fix is not None:
        yield settings_fix(gate, f"Set {gate.fix.meaning}", [gate.fix], sketch)


def env(gate: Gate, row: Standing, sketch: Sketch, given: Given) -> Iterator[Fix]:
    """Each missing variable in the `env` of the hook's entry."""
    host = sketch.host
    _, entry = host.hooks_setting("entries", row.hook.key)
    names = tuple(dict.fromkeys(gate.missing))
    title = f"Set {', '.join(names)} in its entry, {with_dots(entry)}.env"
    values = given.of(names)
    if values is None:
        yield Fix(gate.name, title, asks=names)
        return
    paths = {name: (*entry, "env", name) for name in names}
    edits = [
        Edit(host.settings.file, path, values[name], f"{with_dots(path)} set") for name, path in paths.items()
    ]
    yield settings_fix(gate, title, edits, sketch)


def config(gate: Gate, row: Standing, sketch: Sketch, given: Given) -> Iterator[Fix]:
    """A value at each missing path of the settings."""
    host = sketch.host
    names = tuple(dict.fromkeys(path for path in gate.missing if steps_of(path)))
    title = f"Set {', '.join(names)} in {host.surroundings.short(host.settings.file)}"
    values = given.of(names)
    if values is None:
        yield Fix(gate.name, title, asks=names)
        return
    edits = [
        Edit(host.settings.file, steps_of(name), _value(text), f"{name} set") for name, text in values.items()
    ]
    yield settings_fix(gate, title, edits, sketch)


def _value(text: str) -> Any:
    """A value as JSON has it, else the text itself."""
    try:
        return json.loads(text, parse_constant=lambda name: name)
    except (ValueError, RecursionError):
        return text


def bins(gate: Gate, row: Standing, sketch: Sketch, given: Given) -> Iterator[Fix]:
    """Permission to run a program that is there; else the author's own words on how to install it."""
    here = sketch.host.surroundings
    changes, names = [], []
    for name in gate.missing:
        path = here.files.program(name, here.search_path()).unrunnable
        change = _runnable(Path(path)) if path is not None else None
        if change is not None:
            changes.append(change)
            names.append(here.short(change.path))
    if changes:
        yield Fix(gate.name, f"Allow {', '.join(names)} to be run", tuple(changes))
    what = " or ".join(gate.missing) if gate.name == "anyBins" else ", ".join(gate.missing)
    if hint := install_lines(row.hook.meta.install):
        yield Fix(gate.name, f"Install {what}", hint=hint)
    yield Fix(gate.name, f"Install {what}", why_not=install_words(gate), by_hand=True)


def packages(gate: Gate, row: Standing, sketch: Sketch, given: Given) -> Iterator[Fix]:
    """The command that brings what its package.json asks for. Nothing here runs it."""
    folder = sketch.host.surroundings.short(row.hook.path or row.hook.folder.path)
    what = ", ".join(gate.missing)
    yield Fix(gate.name, f"Install {what}", hint=f"npm install --prefix {shlex.quote(str(folder))}")


def _runnable(file: Path) -> Change | None:
    """The user's own file made executable for those who may read it."""
    import os

    try:
        facts = file.stat()
    except OSError:
        return None
    mode = facts.st_mode & 0o7777
    wanted = mode | ((mode & 0o444) >> 2) | 0o100
    if not file.is_file() or facts.st_uid != os.geteuid() or wanted == mode:
        return None
    return Change(file.absolute(), f"{file.name} may be run", None, None, modes=(mode, wanted))


def allow(gate: Gate, row: Standing, sketch: Sketch, given: Given) -> Iterator[Fix]:
    """The plugin's name added to the list of those that are allowed."""
    yield from _with_list(gate, sketch, [*gate.needed, row.hook.name], f"Add {row.hook.name} to")


def deny(gate: Gate, row: Standing, sketch: Sketch, given: Given) -> Iterator[Fix]:
    """The plugin's name taken out of the list of those that are denied."""
    listed = sketch.host.settings.get(gate.setting or ())
    kept = [name for name in listed if name != row.hook.name] if isinstance(listed, list) else []
    yield from _with_list(gate, sketch, kept, f"Take {row.hook.name} out of")


def _with_list(gate: Gate, sketch: Sketch, names: list[Any], title: str) -> Iterator[Fix]:
    """Another list in place of one that holds no comment, which would be lost."""
    path, file = gate.setting, sketch.host.settings.file
    source = sketch.read(file)
    span = locate_json5(source, path) if path and source else None
    if path is None or source is None or span is None:
        return
    written = text_of(source)[span.start : span.end]
    if "//" in written or "/*" in written:
        raise CannotEdit(f"{with_dots(path)} has comments in it", f"{with_dots(path)}: {json.dumps(names)}")
    yield settings_fix(
        gate, f"{title} {with_dots(path)}", [Edit(file, path, names, f"{with_dots(path)} changed")], sketch
    )


def trusted(gate: Gate, row: Standing, sketch: Sketch, given: Given) -> Iterator[Fix]:
    """Whose code runs is its user's decision, asked for by a command of its own."""
    target, short = trust_target(row.hook, sketch.host), sketch.host.surroundings.short
    title = f"Allow {target.shown(short)} to run"
    yield Fix(
        gate.name, f"{title}: {target.refused}" if target.refused else title, hint=target.command(short)
    )


def reached(gate: Gate, row: Standing, sketch: Sketch, given: Given) -> Iterator[Fix]:
    """Of a hook that the load never reaches: the one before it is what helps."""
    stops = next((one.hook.name for one in sketch.inventory.hooks if one.verdict.stops_load is not None), "")
    yield Fix(
        gate.name, "Let the load go on", why_not=f"{stops} ends it; `hookscope fix {stops}` is what helps"
    )


# Gates that nothing here opens, and why.
WHY_NOT = {
    "os": "it is made for another platform",
    "path": "its handler must lie in the hook's own folder: move it there",
    "handler": "only its author can write what belongs there",
    "fields": "only its author knows what was meant",
    "manifest": "only its author can write what belongs there",
    "schema": "only its user knows what belongs there: write it into its entry's `config`",
    "events": "only its author knows what it should listen to",
    "settings": "the settings file must be mended by hand first",
    "build": "the host builds nothing before this is mended by hand",
    "export": "only its author knows which function is meant",
    "load": "its code failed; its error says where",
    "sent": "no event of this host is near enough to what it listens to",
}

WORLD: Mapping[str, Recipe] = {
    "env": env,
    "config": config,
    "bins": bins,
    "anyBins": bins,
    "switch": by_edit,
    "enabled": by_edit,
    "selected": by_edit,
    "allow": allow,
    "deny": deny,
    "access": by_edit,
    "slot": by_edit,
    "packages": packages,
    "trusted": trusted,
    "reached": reached,
}
