"""What an agent's folder must and must not hold, in the host's words (eve 22 and 23)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hookscope.hosts.streams.content_folders import (
    INSTRUCTIONS_FILE,
    LIB_CONTENT,
    ContentFolder,
    content_diagnostics,
    entries_in,
    entry_named,
    instruction_diagnostics,
    is_plain_file,
    is_plain_folder,
    module_stem,
    modules_named,
    quoted_names,
    with_read_error,
)
from hookscope.hosts.streams.extensions import (
    EXTENSIONS_FOLDER,
    mount_diagnostics,
    mount_file_diagnostics,
)
from hookscope.hosts.streams.module_folders import (
    COLLISION,
    COLLISION_TEXT,
    CONNECTION_NAME,
    MODULE_NAME,
    PYTHON_SUFFIX,
    WARNING,
    AgentLayout,
    Diagnostic,
    FileRules,
    collation_key,
    is_test_name,
    stem_of_module,
)
from hookscope.hosts.streams.skills import schedule_content, skill_diagnostics
from hookscope.model.machine import Files, FolderItem

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
EMPTY_SANDBOX_OLD = (
    'Sandbox folder "sandbox/" contains neither a "sandbox.<ext>" definition nor a "workspace/" '
    "subdirectory. Add one or the other, or remove the folder."
)
RESERVED = (
    '"sandbox/workspace/skills/" is reserved for the framework skill discovery. Move skill files under '
    '"agent/skills/" instead, or rename the subtree.'
)
MEMORY_CONTENT = ContentFolder(
    MEMORY_FOLDER,
    "discover/memory-directory-invalid",
    'Expected "{folder}" to be a directory of authored memory slots.',
    pattern=MODULE_NAME,
    name_code="discover/memory-name-invalid",
    name_text='Memory slot "{name}" must start with an ASCII letter and contain only letters, digits, '
    "underscores, or dashes (64 characters maximum).",
)


def connection_diagnostics(
    children: list[FolderItem], rules: FileRules, files: Files
) -> Iterator[Diagnostic]:
    """Yield diagnostics for connections: `connections/x.ts` or `connections/x/connection.ts`.

    Raises OSError.
    """
    place = entry_named(CONNECTIONS, children)
    if place is None:
        return
    if not is_plain_folder(place):
        text = f'Expected "{place.path}" to be a directory of authored connections.'
        yield Diagnostic("discover/connections-directory-invalid", text, place.path)
        return
    inner = entries_in(place.path, rules, files)
    stems = {module_stem(child.name, rules) for child in inner if is_plain_file(child)} - {None}
    names = sorted((stem for stem in stems if stem is not None), key=collation_key)
    for name in names:
        modules = modules_named(name, inner, rules)
        if len(modules) > 1:
            text = COLLISION_TEXT.format(slot=f"{CONNECTIONS}/{name}", files=quoted_names(modules))
            yield Diagnostic(COLLISION, text, place.path)
        elif not CONNECTION_NAME.fullmatch(name):
            yield _illegal_connection(name, place.path / modules[0])
    for child in inner:
        if is_plain_folder(child):
            yield from _connection_folder(child, names, rules, files)


def _connection_folder(
    child: FolderItem, names: list[str], rules: FileRules, files: Files
) -> Iterator[Diagnostic]:
    name = child.name
    if name in names:
        text = BOTH_FORMS.format(name=name)
        yield Diagnostic("discover/connection-file-folder-collision", text, child.path)
        return
    if not CONNECTION_NAME.fullmatch(name):
        yield _illegal_connection(name, child.path)
        return
    modules = modules_named("connection", entries_in(child.path, rules, files), rules)
    if len(modules) > 1:
        text = (
            f'Found multiple connection definition modules inside "{CONNECTIONS}/{name}": '
            f"{quoted_names(modules)}"
        )
        yield Diagnostic(COLLISION, text, child.path)
    elif not modules:
        text = EMPTY_CONNECTION.format(name=name)
        yield Diagnostic("discover/connection-folder-empty", text, child.path)


def _illegal_connection(name: str, path: Path) -> Diagnostic:
    return Diagnostic("discover/connection-name-invalid", ILLEGAL_CONNECTION.format(name=name), path)


def memory_diagnostics(
    root: Path, children: list[FolderItem], rules: FileRules, files: Files
) -> Iterator[Diagnostic]:
    """Yield diagnostics for memory: one module, or a folder of named ones. Raises OSError."""
    modules = modules_named(MEMORY_FOLDER, children, rules)
    if len(modules) > 1:
        yield Diagnostic(
            COLLISION, COLLISION_TEXT.format(slot=MEMORY_FOLDER, files=quoted_names(modules)), root
        )
    yield from content_diagnostics(MEMORY_CONTENT, root, children, rules, files)
    place = entry_named(MEMORY_FOLDER, children)
    if modules and place is not None and is_plain_folder(place):
        yield Diagnostic("discover/memory-slot-ambiguous", AMBIGUOUS_MEMORY, root)


def sandbox_diagnostics(
    root: Path, children: list[FolderItem], rules: FileRules, layout: AgentLayout, files: Files
) -> Iterator[Diagnostic]:
    """Yield diagnostics for the sandbox: one module, or a folder. Raises OSError.

    The folder holds a module, a workspace, or both.
    """
    place = entry_named(SANDBOX, children)
    if place is None:
        modules = modules_named(SANDBOX, children, rules)
        if len(modules) > 1:
            text = f"Found multiple top-level sandbox definition modules: {quoted_names(modules)}"
            yield Diagnostic(COLLISION, text, root)
        return
    if not is_plain_folder(place):
        text = f'Expected "{place.path}" to be the sandbox folder.'
        yield Diagnostic("discover/sandbox-directory-invalid", text, place.path)
        return
    inner = entries_in(place.path, rules, files)
    modules = modules_named(SANDBOX, inner, rules)
    workspace = next((child for child in inner if child.name == "workspace" and is_plain_folder(child)), None)
    has_dockerfile = (
        any(child.name == "Dockerfile" and is_plain_file(child) for child in inner)
        and layout.allows_dockerfile
    )
    if len(modules) > 1:
        text = f'Found multiple sandbox definition modules inside "{SANDBOX}": {quoted_names(modules)}'
        yield Diagnostic(COLLISION, text, place.path)
    elif not modules and workspace is None and not has_dockerfile:
        text = EMPTY_SANDBOX if layout.allows_dockerfile else EMPTY_SANDBOX_OLD
        yield Diagnostic("discover/sandbox-folder-empty", text, place.path)
    elif workspace is not None and not layout.allows_dockerfile:
        skills = entry_named("skills", entries_in(workspace.path, rules, files))
        if skills is not None:
            yield Diagnostic("discover/sandbox-workspace-skills-reserved", RESERVED, skills.path)


MODULE = "agent"  # the stem of the file that defines an agent
SUBAGENTS = "subagents"
SCHEDULES = "schedules"
FIRST_INSTRUCTIONS = b"You are a helpful assistant.\n"  # of a new project
MEMORY_NAME = "memory"

NO_MODULE = (
    'Expected one authored subagent config module at "agent.ts", "agent.cts", "agent.mts", "agent.js", '
    '"agent.cjs", or "agent.mjs".'
)
UNSUPPORTED = 'Ignoring unsupported directory "{name}/" in the {root} root.'
NO_FOLDER = 'Expected "{folder}" to be a directory of authored subagents.'
NO_SCHEDULES = 'Local subagent packages cannot define schedules at "{folder}".'


def regular_entries_in(folder: Path, rules: FileRules, files: Files) -> list[FolderItem]:
    """Return a folder's entries in the host's order, without links and tests; empty if it cannot be read."""
    try:
        children = sorted(files.children(folder), key=lambda child: collation_key(child.name))
    except OSError:
        return []
    return [child for child in children if not child.linked and not is_test_name(child.name, rules)]


def diagnostics_before_channels(
    root: Path, subagent: bool, rules: FileRules, files: Files
) -> tuple[Diagnostic, ...]:
    """Return the host's diagnostics for an agent's folder before it scans channels, tools and hooks."""
    if rules.layout is None or files.facts(root) is None:
        return ()
    children = regular_entries_in(root, rules, files)

    def collect() -> Iterator[Diagnostic]:
        yield from _unsupported(children, subagent, rules)
        yield from instruction_diagnostics(root, entries_in(root, rules, files), not subagent, rules, files)
        yield from _module_diagnostics(root, children, subagent)

    return with_read_error(collect)


def diagnostics_after_channels(
    root: Path, subagent: bool, rules: FileRules, files: Files
) -> tuple[Diagnostic, ...]:
    """Return the host's diagnostics after channels and before tools and hooks."""
    layout = rules.layout
    if layout is None or files.facts(root) is None:
        return ()

    def collect() -> Iterator[Diagnostic]:
        children = entries_in(root, rules, files)
        if not subagent:
            yield from content_diagnostics(LIB_CONTENT, root, children, rules, files)
            yield from content_diagnostics(schedule_content(layout), root, children, rules, files)
        yield from connection_diagnostics(children, rules, files)
        if MEMORY_NAME in layout.folders:
            yield from memory_diagnostics(root, children, rules, files)
        yield from sandbox_diagnostics(root, children, rules, layout, files)

    return with_read_error(collect)


def diagnostics_after_hooks(
    root: Path, subagent: bool, rules: FileRules, files: Files
) -> tuple[Diagnostic, ...]:
    """Return the host's diagnostics after hooks and before the agent's subagents."""
    layout = rules.layout
    if layout is None or files.facts(root) is None:
        return ()

    def collect() -> Iterator[Diagnostic]:
        children = entries_in(root, rules, files)
        if subagent:
            yield from content_diagnostics(LIB_CONTENT, root, children, rules, files)
            yield from _schedule_diagnostics(root, rules, files)
        elif EXTENSIONS_FOLDER in layout.folders:
            yield from mount_file_diagnostics(root, children, rules, files)
        yield from skill_diagnostics(root, rules, layout, files)
        yield from _non_folder_diagnostics(root / SUBAGENTS, files)

    return with_read_error(collect)


def diagnostics_after_subagents(
    root: Path, workspace: Path, subagent: bool, rules: FileRules, files: Files
) -> tuple[Diagnostic, ...]:
    """Return the host's diagnostics after the agent's subagents."""
    layout = rules.layout
    if layout is None or EXTENSIONS_FOLDER not in layout.folders or files.facts(root) is None:
        return ()

    def collect() -> Iterator[Diagnostic]:
        children = entries_in(root, rules, files)
        if subagent:
            yield from mount_file_diagnostics(root, children, rules, files)
        yield from mount_diagnostics(workspace, children, rules, files)

    return with_read_error(collect)


def missing_files_in(root: Path, rules: FileRules, files: Files) -> tuple[Path, ...]:
    """Return the files that a root agent lacks and that the host needs to build the project."""
    if rules.layout is not None and files.facts(root) is None:
        return (root / INSTRUCTIONS_FILE,)
    return tuple(
        diagnostic.missing_file
        for diagnostic in diagnostics_before_channels(root, False, rules, files)
        if diagnostic.missing_file is not None
    )


def _unsupported(children: list[FolderItem], subagent: bool, rules: FileRules) -> Iterator[Diagnostic]:
    assert rules.layout is not None
    known = rules.layout.folders | rules.layout.ignored_folders
    known -= rules.layout.root_only if subagent else frozenset()
    agent_kind = "local subagent" if subagent else "agent"
    for child in children:
        if child.folder and child.name not in known:
            text = UNSUPPORTED.format(name=child.name, root=agent_kind)
            yield Diagnostic("discover/unsupported-directory", text, child.path, WARNING)


def _module_diagnostics(root: Path, children: list[FolderItem], subagent: bool) -> Iterator[Diagnostic]:
    """Yield diagnostics for agent modules: at most one, and exactly one for a subagent.

    A Python module is Hookscope's own addition.
    """
    named = [child.name for child in children if stem_of_module(child.name) == MODULE and not child.folder]
    host_modules = [name for name in named if not name.endswith(PYTHON_SUFFIX)]
    if len(host_modules) > 1:
        quoted = ", ".join(f'"{name}"' for name in host_modules)
        yield Diagnostic(COLLISION, COLLISION_TEXT.format(slot=MODULE, files=quoted), root)
    elif subagent and not named:
        yield Diagnostic("discover/required-subagent-config-module-missing", NO_MODULE, root)


def _schedule_diagnostics(root: Path, rules: FileRules, files: Files) -> Iterator[Diagnostic]:
    for child in regular_entries_in(root, rules, files):
        if child.folder and child.name == SCHEDULES:
            text = NO_SCHEDULES.format(folder=child.path)
            yield Diagnostic("discover/local-subagent-schedules-invalid", text, child.path)


def _non_folder_diagnostics(folder: Path, files: Files) -> Iterator[Diagnostic]:
    """Yield an error for a file in place of the folder.

    A link to a folder is allowed, a dangling link is ignored.
    """
    facts = files.facts(folder)
    if facts is not None and not facts.folder:
        yield Diagnostic("discover/subagents-directory-invalid", NO_FOLDER.format(folder=folder), folder)
