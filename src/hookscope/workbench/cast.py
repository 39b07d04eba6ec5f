"""Who plays in a session: the agents of a project, each with its tools and its scripted model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from hookscope.core.dialect import Host
from hookscope.core.hooks import LANGUAGE_OF, Language
from hookscope.core.runs import Code, Shape
from hookscope.dialects import GUIDES
from hookscope.systems.streams import StreamSystem, stream_system_of
from hookscope.systems.streams.agents import SUBAGENTS, Discovery, agents_of, discover
from hookscope.systems.streams.session_rules import SessionRules
from hookscope.systems.streams.session_words import Agent
from hookscope.systems.streams.sources import stem_of
from hookscope.systems.streams.stamping import project_name
from hookscope.values import dataclass
from hookscope.workbench.refusal import Refusal

MODEL = "agent"  # the stem of the file that names an agent's model


@dataclass(frozen=True, slots=True)
class Member:
    """An agent, and where the code lies that it calls."""

    agent: Agent
    root: Path
    tools: Mapping[str, Path]
    model: Path | None
    trusted: bool  # may its code run

    def code(self, path: Path, shape: Shape, env: Mapping[str, str]) -> Code:
        """A file of this agent, for a lane."""
        language: Language = LANGUAGE_OF.get(path.suffix, "unknown")
        return Code(path, "default", self.root, language, env=env, shape=shape)

    @property
    def files(self) -> tuple[Path, ...]:
        """All code that it may call."""
        return (*self.tools.values(), *((self.model,) if self.model is not None else ()))


Cast = Mapping[str, Member]  # by node id; empty for the root agent


def rules_of(host: Host) -> SessionRules:
    """How sessions go under this host's rules. Raises Refusal where it has none."""
    try:
        rules = stream_system_of(host.dialect).sessions
    except LookupError:
        rules = None
    if rules is None:
        others = ", ".join(f"`--dialect {guide.name}`" for guide in GUIDES if "stream" in guide.kinds)
        raise Refusal(
            f"{host.dialect.product} has no sessions to play: its hooks hear no stream of events.",
            f"{others} takes the rules of a host that has some.",
        )
    return rules


def cast_of(host: Host) -> Cast:
    """All agents of the project. Raises OSError where a folder of one cannot be read."""
    system, files = stream_system_of(host.dialect), host.surroundings.files
    found = [discover(agent, system.files, files) for agent in agents_of(host.workspace, files)]
    return {one.agent.scope: _member(one, found, host, system) for one in found}


def _member(one: Discovery, found: list[Discovery], host: Host, system: StreamSystem) -> Member:
    scope, root = one.agent.scope, one.agent.root
    tools = {beside.name: beside.path for beside in one.beside if beside.kind == "tool"}
    agent = Agent(
        name=scope.rpartition("/")[2] or project_name(host),
        node=scope,
        tools=frozenset(tools),
        subagents=dict(_subagents(scope, found)),
        delegated=bool(scope),
    )
    trusted = host.trust.allows(host.surroundings.files.real(root))
    return Member(agent, root, tools, _model(root, host), trusted)


def _subagents(scope: str, found: list[Discovery]) -> Iterator[tuple[str, str]]:
    """The agents right below, by name."""
    below = f"{scope}/{SUBAGENTS}/" if scope else f"{SUBAGENTS}/"
    for other in found:
        name = other.agent.scope.removeprefix(below)
        if other.agent.scope.startswith(below) and name and "/" not in name:
            yield name, other.agent.scope


def _model(root: Path, host: Host) -> Path | None:
    try:
        children = sorted(host.surroundings.files.children(root), key=lambda child: child.name)
    except OSError:
        return None
    named = (child for child in children if stem_of(child.name) == MODEL and not child.folder)
    return next((child.path for child in named if not child.linked), None)


def languages_of(cast: Cast) -> frozenset[Language]:
    """The languages that the agents' own code is written in."""
    return frozenset(LANGUAGE_OF[path.suffix] for member in cast.values() for path in member.files)


def untrusted_in(cast: Cast) -> tuple[Path, ...]:
    """The agents' folders whose tools and models may not run."""
    return tuple(member.root for member in cast.values() if member.files and not member.trusted)
