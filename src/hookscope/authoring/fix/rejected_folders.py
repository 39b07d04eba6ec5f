"""Fixes for folders that look like hooks but are rejected: file names and headers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hookscope.authoring.fix.model import Fix
from hookscope.authoring.fix.simulation import SimulatedHost
from hookscope.hosts.folders import FolderSystem
from hookscope.hosts.folders.hook_discovery import MANIFEST, PYTHON_HANDLERS
from hookscope.model.hook import LANGUAGE_OF
from hookscope.model.inventory import RejectedHook
from hookscope.storage.edits.change import Change
from hookscope.storage.edits.errors import ChangeError
from hookscope.storage.edits.header_edit import (
    parse_header_text,
    with_header_first,
    with_header_value,
)


def reject_fixes(item: RejectedHook, simulated: SimulatedHost) -> Iterator[Fix]:
    """Yield fixes that may turn the folder into a hook, most likely first."""
    folder = item.path
    try:
        names = sorted(simulated.host.machine.files.names(folder))
    except OSError:
        return
    if MANIFEST not in names:
        yield from (
            _renamed("manifest", folder / name, MANIFEST, simulated)
            for name in names
            if name.lower() == MANIFEST.lower()
        )
        return
    yield from _headers(folder / MANIFEST, folder.name, simulated)
    yield from _handlers(folder, names, simulated)


def _renamed(gate: str, path: Path, name: str, simulated: SimulatedHost) -> Fix:
    content, title = simulated.read(path), f"Rename {path.name} to {name}"
    meaning = f"{path.parent.name}: {path.name} → {name}"
    return Fix(gate, title, (Change(path, meaning, content, content, renamed_to=path.with_name(name)),))


def _headers(file: Path, name: str, simulated: SimulatedHost) -> Iterator[Fix]:
    source = simulated.read(file)
    if source is None:
        return
    first = with_header_first(source)
    if first != source:
        yield Fix(
            "manifest",
            "Let the header stand first",
            (Change(file, f"{name}: its header first", source, first),),
        )
    try:
        if parse_header_text(first).get("name"):
            return
        named = with_header_value(first, ("name",), name)
    except ChangeError:
        return
    if named != first:
        yield Fix("manifest", f"Name it {name}", (Change(file, f"{name}: its name", source, named),))


def _handlers(folder: Path, names: list[str], simulated: SimulatedHost) -> Iterator[Fix]:
    """Yield renames of a file that is clearly the handler to names that the host looks for."""
    systems = (system for system in simulated.host.dialect.systems if isinstance(system, FolderSystem))
    shape = next(systems, None)
    handler_names = (*shape.shape.handlers, *PYTHON_HANDLERS) if shape is not None else PYTHON_HANDLERS
    scripts = [name for name in names if Path(name).suffix.lower() in (*LANGUAGE_OF, ".tsx", ".jsx")]
    likely = [name for name in scripts if Path(name).stem.lower() in ("handler", "index", "hook")]
    for name in likely or (scripts if len(scripts) == 1 else []):
        for other in sorted(
            handler_names, key=lambda other: (_language(name) != _language(other), handler_names.index(other))
        ):
            if other not in names and _fits(name, other):
                yield _renamed("handler", folder / name, other, simulated)


def _fits(name: str, new_name: str) -> bool:
    """Return whether the new name keeps the language. JavaScript is also valid TypeScript."""
    language, other = _language(name), _language(new_name)
    return language == other or (language, other) == ("javascript", "typescript")


def _language(name: str) -> str:
    ending = Path(name).suffix.lower()
    return {".tsx": "typescript", ".jsx": "javascript"}.get(ending) or str(LANGUAGE_OF.get(ending, ""))
