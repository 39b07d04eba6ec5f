"""The agents of a project: the root agent and its subagents, each with its own modules."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from hookscope.hosts.streams.agent_layout import (
    MODULE,
    SUBAGENTS,
    diagnostics_after_channels,
    diagnostics_after_hooks,
    diagnostics_after_subagents,
    diagnostics_before_channels,
    regular_entries_in,
)
from hookscope.hosts.streams.module_folders import (
    CHANNELS_SLOT,
    CONNECTION_NAME,
    DECLARATION,
    HOOKS_SLOT,
    PYTHON_SUFFIX,
    TOOLS_SLOT,
    Diagnostic,
    FileRules,
    FoundModule,
    ModuleFolder,
    modules_in,
    stem_of_module,
)
from hookscope.model.hook import SiblingDefinition
from hookscope.model.machine import Files
from hookscope.values import dataclass

ROOT = "agent"  # below the workspace
SCOPE_SEPARATOR = "::"  # between the node ids of nested subagents
# Modules outside `hooks` that may receive events, found by their source. None of it is run.
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
    """Return the root agent, then its subagents, each followed by its own.

    A folder that cannot be read has no subagents.
    """
    return tuple(_with_subagents(Agent("", workspace / ROOT, workspace), rules, files))


def _with_subagents(agent: Agent, rules: FileRules, files: Files) -> Iterator[Agent]:
    yield agent
    for child in regular_entries_in(agent.root / SUBAGENTS, rules, files):
        if child.folder:
            yield from _with_subagents(
                Agent(_below(agent, child.name), child.path, agent.workspace), rules, files
            )


def single_file_subagents(agent: Agent, rules: FileRules, files: Files) -> Iterator[tuple[str, Agent, Path]]:
    """Yield the subagents that are one module, `subagents/helper.ts`: name, agent, module.

    They have no hooks.
    """
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
    """Return an agent's modules, found as the host finds them.

    Raises OSError if a folder cannot be read.
    """
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
    """Yield the definitions that `toolResultFrom` accepts.

    A tool in a folder is called `folder-file`.
    """
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
