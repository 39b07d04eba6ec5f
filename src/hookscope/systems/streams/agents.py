"""The agents of a project: the root agent in `agent/`, and subagents below it, each with its own modules."""

from collections.abc import Iterator
from pathlib import Path

from hookscope.core.hooks import Beside
from hookscope.core.surroundings import Child, Files
from hookscope.systems.streams.collation import name_key
from hookscope.systems.streams.slots import CHANNELS, CONNECTION, HOOKS, TOOLS
from hookscope.systems.streams.sources import (
    Diagnostic,
    FileRules,
    Source,
    Sources,
    sources_in,
    stem_of,
)
from hookscope.values import dataclass

ROOT = "agent"  # below the workspace
SUBAGENTS = "subagents"
# Modules outside of `hooks` that may hear events too: where their text says so. None of it is run.
CHANNEL_SIGN = (b"events",)
DYNAMIC_SIGNS = (b"defineDynamic", b"define_dynamic")
DYNAMIC = ("tools", "skills", "instructions")  # in the order in which they are asked
LARGEST_MODULE = 1_048_576  # bytes that are read to see whether a module hears events


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent of the project. `scope` is its node id: empty for the root, else `subagents/<name>`."""

    scope: str
    root: Path


@dataclass(frozen=True, slots=True)
class Listener:
    """A module beside the hooks that hears events: a channel or a dynamic resolver."""

    role: str
    source: Source
    folder: str  # channels, tools, …


@dataclass(frozen=True, slots=True)
class Discovery:
    """What an agent's folder holds, as far as hooks meet it."""

    agent: Agent
    hooks: Sources
    listeners: tuple[Listener, ...]
    beside: tuple[Beside, ...]
    diagnostics: tuple[Diagnostic, ...]  # in the host's order: channels, tools, hooks


def agents_of(workspace: Path, files: Files) -> tuple[Agent, ...]:
    """The root agent, then its subagents, each followed by its own. An unreadable folder has none."""
    return tuple(_with_subagents(Agent("", workspace / ROOT), files))


def _with_subagents(agent: Agent, files: Files) -> Iterator[Agent]:
    yield agent
    for child in _children(agent.root / SUBAGENTS, files):
        if child.folder and not child.linked:
            scope = "/".join(filter(None, (agent.scope, SUBAGENTS, child.name)))
            yield from _with_subagents(Agent(scope, child.path), files)


def _children(folder: Path, files: Files) -> list[Child]:
    try:
        return sorted(files.children(folder), key=lambda child: name_key(child.name))
    except OSError:
        return []


def discover(agent: Agent, rules: FileRules, files: Files) -> Discovery:
    """An agent's modules, found as its host finds them. Raises OSError where a folder cannot be read."""
    channels = sources_in(agent.root, CHANNELS, rules, files) if not agent.scope else Sources()
    tools = sources_in(agent.root, TOOLS, rules, files)
    hooks = sources_in(agent.root, HOOKS, rules, files)
    return Discovery(
        agent,
        hooks,
        tuple(_listeners(agent, channels, tools, files)),
        tuple(_beside(agent, tools, files)),
        channels.diagnostics + tools.diagnostics + hooks.diagnostics,
    )


def _listeners(agent: Agent, channels: Sources, tools: Sources, files: Files) -> Iterator[Listener]:
    for source in channels.found:
        if _mentions(source.path, CHANNEL_SIGN, files):
            yield Listener("channel", source, CHANNELS.folder)
    for folder in DYNAMIC:
        found = tools.found if folder == TOOLS.folder else _flat(agent.root / folder, files)
        for source in found:
            if _mentions(source.path, DYNAMIC_SIGNS, files):
                yield Listener("dynamic", source, folder)


def _flat(folder: Path, files: Files) -> Iterator[Source]:
    for child in _children(folder, files):
        stem = stem_of(child.name)
        if stem is not None and not child.folder and not child.linked:
            yield Source(stem, child.path, child.name.endswith(".py"))


def _mentions(path: Path, signs: tuple[bytes, ...], files: Files) -> bool:
    try:
        text = files.read(path, LARGEST_MODULE)
    except OSError:
        return False
    return any(sign in text for sign in signs)


def _beside(agent: Agent, tools: Sources, files: Files) -> Iterator[Beside]:
    """What `toolResultFrom` may be asked about. A tool in a folder is called `folder-file`."""
    for tool in tools.found:
        yield Beside("tool", tool.slug.replace("/", "-"), tool.path)
    for child in _children(agent.root / "connections", files):
        stem, module = child.name, child.path
        if child.folder:
            inner = (one for one in _flat(child.path, files) if one.slug == "connection")
            module = next((one.path for one in inner), child.path)
        else:
            stem = stem_of(child.name) or ""
        if not child.linked and module.suffix and CONNECTION.fullmatch(stem):
            yield Beside("connection", stem, module)
