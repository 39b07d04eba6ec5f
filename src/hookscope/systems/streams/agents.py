"""The agents of a project: the root agent in `agent/`, and subagents below it, each with its own modules."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from hookscope.core.hooks import Beside
from hookscope.core.surroundings import Files
from hookscope.systems.streams.household import (
    MODULE,
    SUBAGENTS,
    kept_in,
    said_after,
    said_between,
    said_first,
    said_last,
)
from hookscope.systems.streams.slots import CHANNELS, CONNECTION, HOOKS, TOOLS
from hookscope.systems.streams.sources import (
    DECLARATION,
    OWN_MODULE,
    Diagnostic,
    FileRules,
    ModuleFolder,
    TakenModule,
    sources_in,
    stem_of,
)
from hookscope.values import dataclass

ROOT = "agent"  # below the workspace
DEEPER = "::"  # between the node ids of subagents in one another
# Modules outside of `hooks` that may hear events too: where their text says so. None of it is run.
CHANNEL_SIGN = (b"events",)
DYNAMIC_SIGNS = (b"defineDynamic", b"define_dynamic")
DYNAMIC = ("tools", "skills", "instructions")  # in the order in which they are asked
LARGEST_MODULE = 1_048_576  # bytes that are read to see whether a module hears events


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent of the project. `scope` is its node id: empty for the root, else `subagents/<name>`, and of a
    subagent's own `subagents/<name>::subagents/<name>`, as the program makes it."""

    scope: str
    root: Path
    workspace: Path

    @property
    def label(self) -> str:
        """Where it lies below the root agent."""
        return self.scope.replace(DEEPER, "/")


@dataclass(frozen=True, slots=True)
class Listener:
    """A module beside the hooks that hears events: a channel or a dynamic resolver."""

    role: str
    source: TakenModule
    folder: str  # channels, tools, …


@dataclass(frozen=True, slots=True)
class Discovery:
    """What an agent's folder holds, as far as hooks meet it."""

    agent: Agent
    hooks: ModuleFolder
    listeners: tuple[Listener, ...]
    beside: tuple[Beside, ...]
    diagnostics: tuple[Diagnostic, ...]  # in the host's order: its folder, channels, …, tools, hooks, …
    afterwards: tuple[Diagnostic, ...] = ()  # said when its subagents are done


def agents_of(workspace: Path, rules: FileRules, files: Files) -> tuple[Agent, ...]:
    """The root agent, then its subagents, each followed by its own. An unreadable folder has none."""
    return tuple(_with_subagents(Agent("", workspace / ROOT, workspace), rules, files))


def _with_subagents(agent: Agent, rules: FileRules, files: Files) -> Iterator[Agent]:
    yield agent
    for child in kept_in(agent.root / SUBAGENTS, rules, files):
        if child.folder:
            yield from _with_subagents(
                Agent(_below(agent, child.name), child.path, agent.workspace), rules, files
            )


def in_one_file(agent: Agent, rules: FileRules, files: Files) -> Iterator[tuple[str, Agent, Path]]:
    """Its subagents that are a module each, `subagents/helper.ts`: name, node, module. They have no hooks."""
    for child in kept_in(agent.root / SUBAGENTS, rules, files):
        stem = stem_of(child.name)
        declares = rules.declarations and DECLARATION.search(child.name)
        if stem is not None and not child.folder and not declares:
            yield stem, Agent(_below(agent, child.name), agent.root, agent.workspace), child.path


def module_of(agent: Agent, rules: FileRules, files: Files) -> Path | None:
    """The file that says what an agent is: `agent.ts`, and `agent.py` only where there is no other."""
    children = kept_in(agent.root, rules, files)
    named = [child.path for child in children if stem_of(child.name) == MODULE and not child.folder]
    return min(named, key=lambda path: path.suffix == OWN_MODULE, default=None)


def _below(agent: Agent, name: str) -> str:
    return DEEPER.join(filter(None, (agent.scope, f"{SUBAGENTS}/{name}")))


def in_order(discoveries: Sequence[Discovery]) -> Iterator[tuple[Agent, Diagnostic]]:
    """All that the host says, in its order; the discoveries are those of `agents_of`, in theirs."""
    around: list[Discovery] = []
    for discovery in discoveries:
        while around and not _is_below(discovery.agent, around[-1].agent):
            yield from _said(around[-1].agent, around.pop().afterwards)
        yield from _said(discovery.agent, discovery.diagnostics)
        around.append(discovery)
    for discovery in reversed(around):
        yield from _said(discovery.agent, discovery.afterwards)


def _said(agent: Agent, diagnostics: tuple[Diagnostic, ...]) -> Iterator[tuple[Agent, Diagnostic]]:
    return ((agent, one) for one in diagnostics)


def _is_below(agent: Agent, other: Agent) -> bool:
    return not other.scope or agent.scope.startswith(f"{other.scope}{DEEPER}")


def discover(agent: Agent, rules: FileRules, files: Files) -> Discovery:
    """An agent's modules, found as its host finds them. Raises OSError where a folder cannot be read."""
    channels = sources_in(agent.root, CHANNELS, rules, files) if not agent.scope else ModuleFolder()
    tools = sources_in(agent.root, TOOLS, rules, files)
    hooks = sources_in(agent.root, HOOKS, rules, files)
    return Discovery(
        agent,
        hooks,
        tuple(_listeners(agent, channels, tools, rules, files)),
        tuple(_beside(agent, tools, rules, files)),
        (
            *said_first(agent.root, bool(agent.scope), rules, files),
            *channels.diagnostics,
            *said_between(agent.root, bool(agent.scope), rules, files),
            *tools.diagnostics,
            *hooks.diagnostics,
            *said_last(agent.root, bool(agent.scope), rules, files),
        ),
        said_after(agent.root, agent.workspace, bool(agent.scope), rules, files),
    )


def _listeners(
    agent: Agent, channels: ModuleFolder, tools: ModuleFolder, rules: FileRules, files: Files
) -> Iterator[Listener]:
    for source in channels.found:
        if _mentions(source.path, CHANNEL_SIGN, files):
            yield Listener("channel", source, CHANNELS.folder)
    for folder in DYNAMIC:
        found = tools.found if folder == TOOLS.folder else _flat(agent.root / folder, rules, files)
        for source in found:
            if _mentions(source.path, DYNAMIC_SIGNS, files):
                yield Listener("dynamic", source, folder)


def _flat(folder: Path, rules: FileRules, files: Files) -> Iterator[TakenModule]:
    for child in kept_in(folder, rules, files):
        stem = stem_of(child.name)
        if stem is not None and not child.folder:
            yield TakenModule(stem, child.path, child.name.endswith(".py"))


def _mentions(path: Path, signs: tuple[bytes, ...], files: Files) -> bool:
    try:
        text = files.read(path, LARGEST_MODULE)
    except OSError:
        return False
    return any(sign in text for sign in signs)


def _beside(agent: Agent, tools: ModuleFolder, rules: FileRules, files: Files) -> Iterator[Beside]:
    """What `toolResultFrom` may be asked about. A tool in a folder is called `folder-file`."""
    for tool in tools.found:
        yield Beside("tool", tool.slug.replace("/", "-"), tool.path)
    for child in kept_in(agent.root / "connections", rules, files):
        stem, module = child.name, child.path
        if child.folder:
            inner = (one for one in _flat(child.path, rules, files) if one.slug == "connection")
            module = next((one.path for one in inner), child.path)
        else:
            stem = stem_of(child.name) or ""
        if module.suffix and CONNECTION.fullmatch(stem):
            yield Beside("connection", stem, module)
