"""Discovers the contents of an agent's folder, with the host's own diagnostics about them (eve 22, 23)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from hookscope.hosts.streams.extensions import EXTENSIONS_FOLDER, mount_diagnostics, mount_file_diagnostics
from hookscope.hosts.streams.module_folders import (
    CHANNELS_SLOT,
    CONNECTION_NAME,
    DECLARATION,
    HOOKS_SLOT,
    MODULE_NAME,
    PYTHON_SUFFIX,
    TOOLS_SLOT,
    WARNING,
    AgentLayout,
    Diagnostic,
    FileRules,
    FoundModule,
    ModuleFolder,
    collation_key,
    diagnostic,
    is_test_name,
    modules_in,
    stem_of_module,
)
from hookscope.hosts.streams.skills import schedule_content, skill_diagnostics
from hookscope.model.hook import SiblingDefinition
from hookscope.model.machine import Files, FolderItem
from hookscope.values import dataclass

ROOT = "agent"  # below the workspace
SCOPE_SEPARATOR = "::"  # between the node ids of nested subagents
# Text in the source of a channel or dynamic resolver, which is searched and not run.
CHANNEL_SIGN = (b"events",)
DYNAMIC_SIGNS = (b"defineDynamic", b"define_dynamic")
DYNAMIC_FOLDERS = ("tools", "skills", "instructions")  # in call order
LARGEST_MODULE = 1_048_576  # bytes of a module that are searched


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent of the project.

    `scope` is its node id, as the program makes it: empty for the root, else `subagents/<name>`,
    and for a subagent of a subagent `subagents/<name>::subagents/<name>`.
    """

    scope: str
    root: Path
    workspace: Path

    @property
    def label(self) -> str:
        """Return the agent's path below the root agent."""
        return self.scope.replace(SCOPE_SEPARATOR, "/")


@dataclass(frozen=True, slots=True)
class OtherListener:
    """A module outside the hooks that receives events: a channel or a dynamic resolver."""

    role: str
    module: FoundModule
    folder: str  # channels, tools, …


@dataclass(frozen=True, slots=True)
class Discovery:
    """What an agent's folder holds, as far as hooks need it."""

    agent: Agent
    hooks: ModuleFolder
    listeners: tuple[OtherListener, ...]
    siblings: tuple[SiblingDefinition, ...]
    diagnostics: tuple[Diagnostic, ...]  # in the host's order: its folder, channels, …, tools, hooks, …
    final_diagnostics: tuple[Diagnostic, ...] = ()  # reported after its subagents


def agents_of(workspace: Path, rules: FileRules, files: Files) -> tuple[Agent, ...]:
    """Return the root agent, then its subagents, each followed by its own; none in an unreadable folder."""
    return tuple(_with_subagents(Agent("", workspace / ROOT, workspace), rules, files))


def _with_subagents(agent: Agent, rules: FileRules, files: Files) -> Iterator[Agent]:
    yield agent
    for child in regular_entries_in(agent.root / SUBAGENTS, rules, files):
        if child.folder:
            yield from _with_subagents(
                Agent(_below(agent, child.name), child.path, agent.workspace), rules, files
            )


def single_file_subagents(agent: Agent, rules: FileRules, files: Files) -> Iterator[tuple[str, Agent, Path]]:
    """Yield name, agent and module of each subagent without hooks that is one module: `subagents/x.ts`."""
    for child in regular_entries_in(agent.root / SUBAGENTS, rules, files):
        stem = stem_of_module(child.name)
        declares = rules.skips_declarations and DECLARATION.search(child.name)
        if stem is not None and not child.folder and not declares:
            yield stem, Agent(_below(agent, child.name), agent.root, agent.workspace), child.path


def agent_module(agent: Agent, rules: FileRules, files: Files) -> Path | None:
    """Return the file that defines an agent: `agent.ts`, and `agent.py` only if there is no other."""
    children = regular_entries_in(agent.root, rules, files)
    named = [child.path for child in children if stem_of_module(child.name) == MODULE and not child.folder]
    return min(named, key=lambda path: path.suffix == PYTHON_SUFFIX, default=None)


def _below(agent: Agent, name: str) -> str:
    return SCOPE_SEPARATOR.join(filter(None, (agent.scope, f"{SUBAGENTS}/{name}")))


def ordered_diagnostics(discoveries: Sequence[Discovery]) -> Iterator[tuple[Agent, Diagnostic]]:
    """Yield all diagnostics in the host's order. The discoveries are in the order of `agents_of`."""
    ancestors: list[Discovery] = []
    for discovery in discoveries:
        while ancestors and not _is_below(discovery.agent, ancestors[-1].agent):
            yield from _with_scope(ancestors[-1].agent, ancestors.pop().final_diagnostics)
        yield from _with_scope(discovery.agent, discovery.diagnostics)
        ancestors.append(discovery)
    for discovery in reversed(ancestors):
        yield from _with_scope(discovery.agent, discovery.final_diagnostics)


def _with_scope(agent: Agent, diagnostics: tuple[Diagnostic, ...]) -> Iterator[tuple[Agent, Diagnostic]]:
    return ((agent, diagnostic) for diagnostic in diagnostics)


def _is_below(agent: Agent, other: Agent) -> bool:
    return not other.scope or agent.scope.startswith(f"{other.scope}{SCOPE_SEPARATOR}")


def discover_agent(agent: Agent, rules: FileRules, files: Files) -> Discovery:
    """Return an agent's modules as the host finds them. Raises OSError if a folder cannot be read."""
    channels = modules_in(agent.root, CHANNELS_SLOT, rules, files) if not agent.scope else ModuleFolder()
    tools = modules_in(agent.root, TOOLS_SLOT, rules, files)
    hooks = modules_in(agent.root, HOOKS_SLOT, rules, files)
    return Discovery(
        agent,
        hooks,
        tuple(_listeners(agent, channels, tools, rules, files)),
        tuple(_result_sources(agent, tools, rules, files)),
        (
            *diagnostics_before_channels(agent.root, bool(agent.scope), rules, files),
            *channels.diagnostics,
            *diagnostics_after_channels(agent.root, bool(agent.scope), rules, files),
            *tools.diagnostics,
            *hooks.diagnostics,
            *diagnostics_after_hooks(agent.root, bool(agent.scope), rules, files),
        ),
        diagnostics_after_subagents(agent.root, agent.workspace, bool(agent.scope), rules, files),
    )


def _listeners(
    agent: Agent, channels: ModuleFolder, tools: ModuleFolder, rules: FileRules, files: Files
) -> Iterator[OtherListener]:
    for source in channels.found:
        if _mentions(source.path, CHANNEL_SIGN, files):
            yield OtherListener("channel", source, CHANNELS_SLOT.folder)
    for folder in DYNAMIC_FOLDERS:
        found = tools.found if folder == TOOLS_SLOT.folder else _flat(agent.root / folder, rules, files)
        for source in found:
            if _mentions(source.path, DYNAMIC_SIGNS, files):
                yield OtherListener("dynamic", source, folder)


def _flat(folder: Path, rules: FileRules, files: Files) -> Iterator[FoundModule]:
    for child in regular_entries_in(folder, rules, files):
        stem = stem_of_module(child.name)
        if stem is not None and not child.folder:
            yield FoundModule(stem, child.path, child.name.endswith(".py"))


def _mentions(path: Path, signs: tuple[bytes, ...], files: Files) -> bool:
    try:
        text = files.read(path, LARGEST_MODULE)
    except OSError:
        return False
    return any(sign in text for sign in signs)


def _result_sources(
    agent: Agent, tools: ModuleFolder, rules: FileRules, files: Files
) -> Iterator[SiblingDefinition]:
    """Yield the definitions that `toolResultFrom` accepts; `tools/a/b.ts` is called `a-b`."""
    for tool in tools.found:
        yield SiblingDefinition("tool", tool.slug.replace("/", "-"), tool.path)
    for child in regular_entries_in(agent.root / "connections", rules, files):
        stem, module = child.name, child.path
        if child.folder:
            inner = (found for found in _flat(child.path, rules, files) if found.slug == "connection")
            module = next((found.path for found in inner), child.path)
        else:
            stem = stem_of_module(child.name) or ""
        if module.suffix and CONNECTION_NAME.fullmatch(stem):
            yield SiblingDefinition("connection", stem, module)


CONNECTIONS, MEMORY_FOLDER, SANDBOX = "connections", "memory", "sandbox"
MEMORY_CONTENT = ContentFolder(MEMORY_FOLDER, pattern=MODULE_NAME)


def connection_diagnostics(
    children: list[FolderItem], rules: FileRules, files: Files
) -> Iterator[Diagnostic]:
    """Yield diagnostics for `connections/x.ts` and `connections/x/connection.ts`. Raises OSError."""
    place = entry_named(CONNECTIONS, children)
    if place is None:
        return
    if not is_plain_folder(place):
        yield diagnostic("connections-directory-invalid", place.path, folder=place.path)
        return
    inner = entries_in(place.path, rules, files)
    stems = {module_stem(child.name, rules) for child in inner if is_plain_file(child)} - {None}
    names = sorted((stem for stem in stems if stem is not None), key=collation_key)
    for name in names:
        modules = modules_named(name, inner, rules)
        if len(modules) > 1:
            slot = f"{CONNECTIONS}/{name}"
            yield diagnostic("module-slot-collision", place.path, slot=slot, files=quoted_names(modules))
        elif not CONNECTION_NAME.fullmatch(name):
            yield diagnostic("connection-name-invalid", place.path / modules[0], name=name)
    for child in inner:
        if is_plain_folder(child):
            yield from _connection_folder(child, names, rules, files)


def _connection_folder(
    child: FolderItem, names: list[str], rules: FileRules, files: Files
) -> Iterator[Diagnostic]:
    name = child.name
    if name in names:
        yield diagnostic("connection-file-folder-collision", child.path, name=name)
        return
    if not CONNECTION_NAME.fullmatch(name):
        yield diagnostic("connection-name-invalid", child.path, name=name)
        return
    modules = modules_named("connection", entries_in(child.path, rules, files), rules)
    if len(modules) > 1:
        case = "module-slot-collision, connection"
        yield diagnostic(case, child.path, name=name, files=quoted_names(modules))
    elif not modules:
        yield diagnostic("connection-folder-empty", child.path, name=name)


def memory_diagnostics(
    root: Path, children: list[FolderItem], rules: FileRules, files: Files
) -> Iterator[Diagnostic]:
    """Yield diagnostics for memory: one module, or a folder of named ones. Raises OSError."""
    modules = modules_named(MEMORY_FOLDER, children, rules)
    if len(modules) > 1:
        yield diagnostic("module-slot-collision", root, slot=MEMORY_FOLDER, files=quoted_names(modules))
    yield from content_diagnostics(MEMORY_CONTENT, root, children, rules, files)
    place = entry_named(MEMORY_FOLDER, children)
    if modules and place is not None and is_plain_folder(place):
        yield diagnostic("memory-slot-ambiguous", root)


def sandbox_diagnostics(
    root: Path, children: list[FolderItem], rules: FileRules, layout: AgentLayout, files: Files
) -> Iterator[Diagnostic]:
    """Yield diagnostics for the sandbox: a module, or a folder with a module or workspace. Raises OSError."""
    place = entry_named(SANDBOX, children)
    if place is None:
        modules = modules_named(SANDBOX, children, rules)
        if len(modules) > 1:
            case = "module-slot-collision, top-level sandbox"
            yield diagnostic(case, root, files=quoted_names(modules))
        return
    if not is_plain_folder(place):
        yield diagnostic("sandbox-directory-invalid", place.path, folder=place.path)
        return
    inner = entries_in(place.path, rules, files)
    modules = modules_named(SANDBOX, inner, rules)
    workspace = next((child for child in inner if child.name == "workspace" and is_plain_folder(child)), None)
    has_dockerfile = (
        any(child.name == "Dockerfile" and is_plain_file(child) for child in inner)
        and layout.allows_dockerfile
    )
    if len(modules) > 1:
        yield diagnostic("module-slot-collision, sandbox", place.path, files=quoted_names(modules))
    elif not modules and workspace is None and not has_dockerfile:
        older = "" if layout.allows_dockerfile else ", without Dockerfile"
        yield diagnostic(f"sandbox-folder-empty{older}", place.path)
    elif workspace is not None and not layout.allows_dockerfile:
        skills = entry_named("skills", entries_in(workspace.path, rules, files))
        if skills is not None:
            yield diagnostic("sandbox-workspace-skills-reserved", skills.path)


MODULE = "agent"  # name without suffix of the file that defines an agent
SUBAGENTS = "subagents"
SCHEDULES = "schedules"
FIRST_INSTRUCTIONS = b"You are a helpful assistant.\n"  # of a new project


def regular_entries_in(folder: Path, rules: FileRules, files: Files) -> list[FolderItem]:
    """Return a folder's entries in the host's order, without links and tests; empty if it is unreadable."""
    try:
        children = sorted(files.children(folder), key=lambda child: collation_key(child.name))
    except OSError:
        return []
    return [child for child in children if not child.linked and not is_test_name(child.name, rules)]


@with_read_error
def diagnostics_before_channels(
    root: Path, subagent: bool, rules: FileRules, files: Files
) -> Iterator[Diagnostic]:
    """Return the host's diagnostics for an agent's folder before it scans channels, tools and hooks."""
    if rules.layout is not None and files.facts(root) is not None:
        children = regular_entries_in(root, rules, files)
        yield from _unsupported(children, subagent, rules.layout)
        yield from instruction_diagnostics(root, entries_in(root, rules, files), not subagent, rules, files)
        yield from _module_diagnostics(root, children, subagent)


@with_read_error
def diagnostics_after_channels(
    root: Path, subagent: bool, rules: FileRules, files: Files
) -> Iterator[Diagnostic]:
    """Return the host's diagnostics after channels and before tools and hooks."""
    layout = rules.layout
    if layout is None or files.facts(root) is None:
        return
    children = entries_in(root, rules, files)
    if not subagent:
        yield from content_diagnostics(LIB_CONTENT, root, children, rules, files)
        yield from content_diagnostics(schedule_content(layout), root, children, rules, files)
    yield from connection_diagnostics(children, rules, files)
    if MEMORY_FOLDER in layout.folders:
        yield from memory_diagnostics(root, children, rules, files)
    yield from sandbox_diagnostics(root, children, rules, layout, files)


@with_read_error
def diagnostics_after_hooks(
    root: Path, subagent: bool, rules: FileRules, files: Files
) -> Iterator[Diagnostic]:
    """Return the host's diagnostics after hooks and before the agent's subagents."""
    layout = rules.layout
    if layout is None or files.facts(root) is None:
        return
    children = entries_in(root, rules, files)
    if subagent:
        yield from content_diagnostics(LIB_CONTENT, root, children, rules, files)
        yield from _schedule_diagnostics(root, rules, files)
    elif EXTENSIONS_FOLDER in layout.folders:
        yield from mount_file_diagnostics(root, children, rules, files)
    yield from skill_diagnostics(root, rules, layout, files)
    yield from _non_folder_diagnostics(root / SUBAGENTS, files)


@with_read_error
def diagnostics_after_subagents(
    root: Path, workspace: Path, subagent: bool, rules: FileRules, files: Files
) -> Iterator[Diagnostic]:
    """Return the host's diagnostics after the agent's subagents."""
    layout = rules.layout
    if layout is not None and EXTENSIONS_FOLDER in layout.folders and files.facts(root) is not None:
        children = entries_in(root, rules, files)
        if subagent:
            yield from mount_file_diagnostics(root, children, rules, files)
        yield from mount_diagnostics(workspace, children, rules, files)


def missing_files_in(root: Path, rules: FileRules, files: Files) -> tuple[Path, ...]:
    """Return the files that a root agent lacks and that the host needs to build the project."""
    if rules.layout is not None and files.facts(root) is None:
        return (root / INSTRUCTIONS_FILE,)
    return tuple(
        diagnostic.missing_file
        for diagnostic in diagnostics_before_channels(root, False, rules, files)
        if diagnostic.missing_file is not None
    )


def _unsupported(children: list[FolderItem], subagent: bool, layout: AgentLayout) -> Iterator[Diagnostic]:
    known = layout.folders | layout.ignored_folders
    known -= layout.root_only if subagent else frozenset()
    agent_kind = "local subagent" if subagent else "agent"
    for child in children:
        if child.folder and child.name not in known:
            yield diagnostic("unsupported-directory", child.path, WARNING, name=child.name, root=agent_kind)


def _module_diagnostics(root: Path, children: list[FolderItem], subagent: bool) -> Iterator[Diagnostic]:
    """Yield a diagnostic for more than one agent module, and for a subagent without one; Python counts."""
    named = [child.name for child in children if stem_of_module(child.name) == MODULE and not child.folder]
    host_modules = [name for name in named if not name.endswith(PYTHON_SUFFIX)]
    if len(host_modules) > 1:
        yield diagnostic("module-slot-collision", root, slot=MODULE, files=quoted_names(host_modules))
    elif subagent and not named:
        yield diagnostic("required-subagent-config-module-missing", root)


def _schedule_diagnostics(root: Path, rules: FileRules, files: Files) -> Iterator[Diagnostic]:
    for child in regular_entries_in(root, rules, files):
        if child.folder and child.name == SCHEDULES:
            yield diagnostic("local-subagent-schedules-invalid", child.path, folder=child.path)


def _non_folder_diagnostics(folder: Path, files: Files) -> Iterator[Diagnostic]:
    """Yield an error if `folder` is a file. A link to a folder is allowed, a dangling link is ignored."""
    facts = files.facts(folder)
    if facts is not None and not facts.folder:
        yield diagnostic("subagents-directory-invalid", folder, folder=folder)
