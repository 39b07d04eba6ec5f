"""Fixes for failed gates and for handlers listed in the settings; one generator for each."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hookscope.authoring.fix.model import Fix, FixValues
from hookscope.authoring.fix.simulation import SimulatedHost
from hookscope.authoring.fix.source_fixes import source_place
from hookscope.formats.json5 import locate_json5
from hookscope.formats.positions import dotted_path, path_steps, text_of
from hookscope.hosts.gates.rules import UNNAMED
from hookscope.model.hook import Edit, FilePosition
from hookscope.model.hook_status import FixKind, Gate, HookStatus
from hookscope.model.text import shell_path
from hookscope.model.trust import trust_target
from hookscope.storage.edits.atomic_files import CannotEdit
from hookscope.storage.edits.change import Change
from hookscope.storage.edits.json5_edit import with_settings

INSTALL_COMMANDS = {  # kind of an install hint → member with the name, and the user's command
    "brew": ("formula", "brew install {}"),
    "npm": ("package", "npm install -g {}"),
    "node": ("package", "npm install -g {}"),
    "go": ("module", "go install {}"),
    "uv": ("package", "uv tool install {}"),
    "pip": ("package", "pip install {}"),
    "pipx": ("package", "pipx install {}"),
    "cargo": ("package", "cargo install {}"),
    "apt": ("package", "apt install {}"),
    "git": ("repository", "git clone {}"),
    "download": ("url", "{}"),
}


def install_line(item: Mapping[str, object]) -> str:
    """Return one install hint as a line to copy; its label if it names no command. Never run."""
    kind, label = str(item.get("kind") or item.get("type") or ""), str(item.get("label") or "")
    field, command = INSTALL_COMMANDS.get(kind.lower(), ("", ""))
    what = item.get(field) or item.get("package") or item.get("url")
    if command and isinstance(what, str) and what.strip():
        return command.format(what.strip())
    return label or kind


def install_lines(hints: Iterable[Mapping[str, object]]) -> str:
    """Return all install hints of a HOOK.md in one line; empty if there are none."""
    return "; ".join(line for item in hints if (line := install_line(item)))


def install_words(gate: Gate) -> str:
    """Return advice on missing programs for which HOOK.md has no install hint."""
    if gate.kind.any_of:
        return "install one of them, or add its folder to PATH"
    if len(gate.missing) > 1:
        return "install them, or add their folders to PATH"
    return "install it, or add its folder to PATH"


Recipe = Callable[[Gate, HookStatus, SimulatedHost, FixValues], Iterator[Fix]]


def settings_fix(gate: Gate, title: str, edits: list[Edit], simulated: SimulatedHost) -> Fix:
    """Return a fix that edits the settings file. Raises ChangeError if the edit is not safe."""
    file = simulated.host.settings.file
    old = simulated.read(file)
    meaning = ", ".join(edit.meaning for edit in edits)
    return Fix(gate.name, title, (Change(file.absolute(), meaning, old, with_settings(old, edits)),))


def fix_by_switch(
    gate: Gate, row: HookStatus, simulated: SimulatedHost, user_values: FixValues
) -> Iterator[Fix]:
    """Yield the settings edit that the gate itself proposes."""
    if gate.fix is not None:
        yield settings_fix(gate, f"Set {gate.fix.meaning}", [gate.fix], simulated)


def fix_env(gate: Gate, row: HookStatus, simulated: SimulatedHost, user_values: FixValues) -> Iterator[Fix]:
    """Yield a fix that sets each missing variable in the `env` of the hook's settings entry."""
    host = simulated.host
    _, entry = host.hooks_setting("entries", row.hook.key)
    names = tuple(dict.fromkeys(gate.missing))
    title = f"Set {', '.join(names)} in its entry, {dotted_path(entry)}.env"
    values = user_values.values_for(names)
    if values is None:
        yield Fix(gate.name, title, required_values=names)
        return
    paths = {name: (*entry, "env", name) for name in names}
    edits = [
        Edit(host.settings.file, path, values[name], f"{dotted_path(path)} set")
        for name, path in paths.items()
    ]
    yield settings_fix(gate, title, edits, simulated)


def fix_config(
    gate: Gate, row: HookStatus, simulated: SimulatedHost, user_values: FixValues
) -> Iterator[Fix]:
    """Yield a fix that sets a value at each missing path of the settings."""
    host = simulated.host
    names = tuple(dict.fromkeys(path for path in gate.missing if path_steps(path)))
    title = f"Set {', '.join(names)} in {host.machine.short(host.settings.file)}"
    values = user_values.values_for(names)
    if values is None:
        yield Fix(gate.name, title, required_values=names)
        return
    edits = [
        Edit(host.settings.file, path_steps(name), _value(text), f"{name} set")
        for name, text in values.items()
    ]
    yield settings_fix(gate, title, edits, simulated)


def _value(text: str) -> Any:
    """Return the value of a JSON text, else the text itself."""
    try:
        return json.loads(text, parse_constant=lambda name: name)
    except (ValueError, RecursionError):
        return text


def fix_bins(gate: Gate, row: HookStatus, simulated: SimulatedHost, user_values: FixValues) -> Iterator[Fix]:
    """Yield fixes that make existing programs executable, then how to install the missing ones."""
    machine = simulated.host.machine
    changes, names = [], []
    for name in gate.missing:
        path = machine.files.program(name, machine.search_path()).unrunnable
        change = _runnable(Path(path)) if path is not None else None
        if change is not None:
            changes.append(change)
            names.append(machine.short(change.path))
    if changes:
        yield Fix(gate.name, f"Make {', '.join(names)} executable", tuple(changes))
    what = (" or " if gate.kind.any_of else ", ").join(gate.missing)
    if hint := install_lines(row.hook.meta.install):
        yield Fix(gate.name, f"Install {what}", hint=hint)
    yield Fix(gate.name, f"Install {what}", why_not=install_words(gate), is_manual=True)


def fix_packages(
    gate: Gate, row: HookStatus, simulated: SimulatedHost, user_values: FixValues
) -> Iterator[Fix]:
    """Yield the command that installs the packages of package.json. It is never run."""
    folder = simulated.host.machine.short(row.hook.path or row.hook.folder.path)
    what = ", ".join(gate.missing)
    yield Fix(gate.name, f"Install {what}", hint=f"npm install --prefix {shlex.quote(str(folder))}")


def _runnable(file: Path) -> Change | None:
    """Return the change that makes the user's own file executable for its readers."""

    try:
        facts = file.stat()
    except OSError:
        return None
    mode = facts.st_mode & 0o7777
    runnable_mode = mode | ((mode & 0o444) >> 2) | 0o100
    if not file.is_file() or facts.st_uid != os.geteuid() or runnable_mode == mode:
        return None
    return Change(file.absolute(), f"{file.name} becomes executable", None, None, modes=(mode, runnable_mode))


def fix_allow(gate: Gate, row: HookStatus, simulated: SimulatedHost, user_values: FixValues) -> Iterator[Fix]:
    """Yield a fix that adds the plugin's name to the allow-list."""
    yield from _with_list(gate, simulated, [*gate.needed, row.hook.name], f"Add {row.hook.name} to")


def fix_deny(gate: Gate, row: HookStatus, simulated: SimulatedHost, user_values: FixValues) -> Iterator[Fix]:
    """Yield a fix that removes the plugin's name from the deny-list."""
    listed = simulated.host.settings.get(gate.setting or ())
    kept = [name for name in listed if name != row.hook.name] if isinstance(listed, list) else []
    yield from _with_list(gate, simulated, kept, f"Remove {row.hook.name} from")


def _with_list(gate: Gate, simulated: SimulatedHost, names: list[Any], title: str) -> Iterator[Fix]:
    """Yield a fix that replaces a list. Raises CannotEdit if it has comments, which would be lost."""
    path, file = gate.setting, simulated.host.settings.file
    source = simulated.read(file)
    span = locate_json5(source, path) if path and source else None
    if path is None or source is None or span is None:
        return
    written = text_of(source)[span.start : span.end]
    if "//" in written or "/*" in written:
        raise CannotEdit(
            f"{dotted_path(path)} contains comments", f"{dotted_path(path)}: {json.dumps(names)}"
        )
    yield settings_fix(
        gate,
        f"{title} {dotted_path(path)}",
        [Edit(file, path, names, f"{dotted_path(path)} changed")],
        simulated,
    )


def fix_trust(gate: Gate, row: HookStatus, simulated: SimulatedHost, user_values: FixValues) -> Iterator[Fix]:
    """Yield the command that trusts the folder. Only the user decides which code may run."""
    target, short = trust_target(row.hook, simulated.host), simulated.host.machine.short
    title = f"Allow {target.path_text(short)} to run"
    yield Fix(
        gate.name,
        f"{title}: {target.refusal_reason}" if target.refusal_reason else title,
        hint=target.command(short),
    )


def fix_not_reached(
    gate: Gate, row: HookStatus, simulated: SimulatedHost, user_values: FixValues
) -> Iterator[Fix]:
    """Yield advice for a hook that the load never reaches: fix the hook that stops it."""
    stops = next(
        (one.hook.name for one in simulated.inventory.hooks if one.verdict.stops_load is not None), ""
    )
    yield Fix(
        gate.name, "Let the load continue", why_not=f"{stops} stops it: run `hookscope fix {stops}` first"
    )


GATE_RECIPES: Mapping[FixKind, Recipe] = {
    FixKind.EDIT: fix_by_switch,
    FixKind.TOGGLE: fix_by_switch,
    FixKind.SET_VARIABLES: fix_env,
    FixKind.SET_VALUES: fix_config,
    FixKind.PROGRAMS: fix_bins,
    FixKind.PACKAGES: fix_packages,
    FixKind.ADD_TO_LIST: fix_allow,
    FixKind.TAKE_FROM_LIST: fix_deny,
    FixKind.TRUST: fix_trust,
    FixKind.LOAD_BEFORE: fix_not_reached,
}

_ENTRY = re.compile(r"listed in (.+)\[(\d+)\]")


def is_entry_gate(gate: Gate, row: HookStatus) -> bool:
    """Return whether the gate is decided by an entry of the settings."""
    return row.hook.kind == "legacy" and bool(gate.kind.entry_advice)


def fix_entry(gate: Gate, row: HookStatus, simulated: SimulatedHost, user_values: FixValues) -> Iterator[Fix]:
    """Yield an instruction for the user, who alone knows which file was meant."""
    if gate.place is not None:
        why = f"correct it at {source_place(gate.place, simulated)}, then scan again"
    else:
        file = simulated.host.machine.short(row.hook.handler) if row.hook.handler is not None else ""
        why = gate.kind.entry_advice.format(entry=_entry(row, simulated), file=file)
    yield Fix(gate.name, gate.reason, why_not=why + _hook_folder_advice(row))


def _entry(row: HookStatus, simulated: SimulatedHost) -> str:
    """Return the entry's place, such as `hooks.internal.handlers[0] (~/.openclaw/openclaw.json:3)`."""
    settings, match = simulated.host.settings, _ENTRY.fullmatch(row.hook.description)
    if match is None:
        return simulated.host.machine.short(settings.file)
    place = settings.locate((*match[1].split("."), int(match[2]))) or FilePosition(settings.file)
    return f"{match[1]}[{match[2]}] ({source_place(place, simulated)})"


def _hook_folder_advice(row: HookStatus) -> str:
    """Return the advice to use a hook folder instead of an entry in the settings."""
    events, file = row.hook.meta.events or (), row.hook.handler
    if not events or file is None or row.hook.role == UNNAMED:
        return ""
    named = " ".join(f"--event {shell_path(key)}" for key in events)
    return f"; or create a folder with a HOOK.md instead: `hookscope new {shell_path(file.stem)} {named}`"
