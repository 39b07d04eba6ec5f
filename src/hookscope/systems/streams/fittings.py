"""Connections, memory and the sandbox of an agent: each with rules of its own for files and folders.

What the host says of them when it builds the project. Pure but for `Files`.
"""

from collections.abc import Iterator
from pathlib import Path

from hookscope.core.surroundings import Files, FolderItem
from hookscope.systems.streams.collation import name_key
from hookscope.systems.streams.rooms import (
    Room,
    entries_in,
    is_file,
    is_folder,
    module_stem,
    modules_named,
    of_name,
    quoted,
    said_of_room,
)
from hookscope.systems.streams.slots import CONNECTION, NAME
from hookscope.systems.streams.sources import COLLISION, COLLISION_TEXT, Diagnostic, FileRules, Household

CONNECTIONS, MEMORY_FOLDER, SANDBOX = "connections", "memory", "sandbox"
ILLEGAL_CONNECTION = (
    'Connection filename "{name}" is not a legal connection name. Expected lowercase ASCII letters, digits, '
    "and dashes only, starting with a letter, up to 64 characters."
)
BOTH_FORMS = (
    'Connection "{name}" is defined twice. Found both file-form "connections/{name}.ts" and folder-form '
    '"connections/{name}/". Use one form, not both.'
)
EMPTY_CONNECTION = (
    'Connection folder "connections/{name}/" contains no "connection.ts" definition. Add '
    '"connections/{name}/connection.ts" or use the file form "connections/{name}.ts".'
)
AMBIGUOUS_MEMORY = (
    'Memory must use either the flat "memory.ts" form or the named "memory/" directory form, not both.'
)
EMPTY_SANDBOX = (
    'Sandbox folder "sandbox/" contains no "Dockerfile", "sandbox.<ext>" definition, or "workspace/" '
    "subdirectory. Add one or remove the folder."
)
EMPTY_SANDBOX_ELDER = (
    'Sandbox folder "sandbox/" contains neither a "sandbox.<ext>" definition nor a "workspace/" '
    "subdirectory. Add one or the other, or remove the folder."
)
RESERVED = (
    '"sandbox/workspace/skills/" is reserved for the framework skill discovery. Move skill files under '
    '"agent/skills/" instead, or rename the subtree.'
)
MEMORY = Room(
    MEMORY_FOLDER,
    "discover/memory-directory-invalid",
    'Expected "{folder}" to be a directory of authored memory slots.',
    pattern=NAME,
    name_code="discover/memory-name-invalid",
    name_text='Memory slot "{name}" must start with an ASCII letter and contain only letters, digits, '
    "underscores, or dashes (64 characters maximum).",
)


def said_of_connections(children: list[FolderItem], rules: FileRules, files: Files) -> Iterator[Diagnostic]:
    """A connection is `connections/x.ts` or `connections/x/connection.ts`. Raises OSError."""
    place = of_name(CONNECTIONS, children)
    if place is None:
        return
    if not is_folder(place):
        text = f'Expected "{place.path}" to be a directory of authored connections.'
        yield Diagnostic("discover/connections-directory-invalid", text, place.path)
        return
    inner = entries_in(place.path, rules, files)
    stems = {module_stem(child.name, rules) for child in inner if is_file(child)} - {None}
    names = sorted((stem for stem in stems if stem is not None), key=name_key)
    for name in names:
        modules = modules_named(name, inner, rules)
        if len(modules) > 1:
            text = COLLISION_TEXT.format(slot=f"{CONNECTIONS}/{name}", files=quoted(modules))
            yield Diagnostic(COLLISION, text, place.path)
        elif not CONNECTION.fullmatch(name):
            yield _illegal(name, place.path / modules[0])
    for child in inner:
        if is_folder(child):
            yield from _of_folder(child, names, rules, files)


def _of_folder(child: FolderItem, names: list[str], rules: FileRules, files: Files) -> Iterator[Diagnostic]:
    name = child.name
    if name in names:
        text = BOTH_FORMS.format(name=name)
        yield Diagnostic("discover/connection-file-folder-collision", text, child.path)
        return
    if not CONNECTION.fullmatch(name):
        yield _illegal(name, child.path)
        return
    modules = modules_named("connection", entries_in(child.path, rules, files), rules)
    if len(modules) > 1:
        text = (
            f'Found multiple connection definition modules inside "{CONNECTIONS}/{name}": {quoted(modules)}'
        )
        yield Diagnostic(COLLISION, text, child.path)
    elif not modules:
        text = EMPTY_CONNECTION.format(name=name)
        yield Diagnostic("discover/connection-folder-empty", text, child.path)


def _illegal(name: str, path: Path) -> Diagnostic:
    return Diagnostic("discover/connection-name-invalid", ILLEGAL_CONNECTION.format(name=name), path)


def said_of_memory(
    root: Path, children: list[FolderItem], rules: FileRules, files: Files
) -> Iterator[Diagnostic]:
    """One module, or a folder of named ones. Raises OSError."""
    modules = modules_named(MEMORY_FOLDER, children, rules)
    if len(modules) > 1:
        yield Diagnostic(COLLISION, COLLISION_TEXT.format(slot=MEMORY_FOLDER, files=quoted(modules)), root)
    yield from said_of_room(MEMORY, root, children, rules, files)
    place = of_name(MEMORY_FOLDER, children)
    if modules and place is not None and is_folder(place):
        yield Diagnostic("discover/memory-slot-ambiguous", AMBIGUOUS_MEMORY, root)


def said_of_sandbox(
    root: Path, children: list[FolderItem], rules: FileRules, household: Household, files: Files
) -> Iterator[Diagnostic]:
    """One module beside the agent's, or a folder with one, a workspace, or both. Raises OSError."""
    place = of_name(SANDBOX, children)
    if place is None:
        modules = modules_named(SANDBOX, children, rules)
        if len(modules) > 1:
            text = f"Found multiple top-level sandbox definition modules: {quoted(modules)}"
            yield Diagnostic(COLLISION, text, root)
        return
    if not is_folder(place):
        text = f'Expected "{place.path}" to be the sandbox folder.'
        yield Diagnostic("discover/sandbox-directory-invalid", text, place.path)
        return
    inner = entries_in(place.path, rules, files)
    modules = modules_named(SANDBOX, inner, rules)
    workspace = next((child for child in inner if child.name == "workspace" and is_folder(child)), None)
    docker = any(child.name == "Dockerfile" and is_file(child) for child in inner) and household.dockerfile
    if len(modules) > 1:
        text = f'Found multiple sandbox definition modules inside "{SANDBOX}": {quoted(modules)}'
        yield Diagnostic(COLLISION, text, place.path)
    elif not modules and workspace is None and not docker:
        text = EMPTY_SANDBOX if household.dockerfile else EMPTY_SANDBOX_ELDER
        yield Diagnostic("discover/sandbox-folder-empty", text, place.path)
    elif workspace is not None and not household.dockerfile:
        skills = of_name("skills", entries_in(workspace.path, rules, files))
        if skills is not None:
            yield Diagnostic("discover/sandbox-workspace-skills-reserved", RESERVED, skills.path)
