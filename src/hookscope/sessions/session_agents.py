"""The agents of a session: each agent of a project with its tools and scripted model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from time import time

from hookscope.app.load_record import load_attempts_for
from hookscope.app.snapshot import Snapshot
from hookscope.app.trust_requests import topmost_targets, untrusted_folders
from hookscope.app.workbench import Workbench
from hookscope.engine.discovery import discover
from hookscope.engine.hook_engine import HookEngine
from hookscope.engine.registry import LoadReport
from hookscope.formats.script_tokens import LONGEST_SCRIPT
from hookscope.formats.subscriptions import agent_description
from hookscope.hosts.dialects import GUIDES
from hookscope.hosts.streams import stream_system_of
from hookscope.hosts.streams.agent_layout import (
    Agent,
    Discovery,
    agent_module,
    agents_of,
    discover_agent,
    single_file_subagents,
)
from hookscope.hosts.streams.session_messages import SessionAgent
from hookscope.hosts.streams.session_rules import SessionRules
from hookscope.hosts.streams.stream_policy import project_name
from hookscope.model.failure import Refusal
from hookscope.model.hook import LANGUAGE_OF, Language
from hookscope.model.host import Host
from hookscope.model.run import Code, ModuleShape
from hookscope.model.trust import TrustTarget, folder_target, is_folder_trusted
from hookscope.values import dataclass


async def session_engine(bench: Workbench) -> tuple[HookEngine, LoadReport]:
    """Return an engine with all trusted hooks loaded and executors for the project's tools.

    Raises Refusal if the host has no sessions; OSError if an agent's folder cannot be read.
    """
    host = bench.open()
    session_rules_of(host)
    languages, without = bench.worker_pools.languages(host, discover(host))
    needed_languages = languages | languages_of_agents(session_agents_of(host))
    engine = HookEngine(
        host,
        bench.worker_pools.executors(host, needed_languages),
        bench.run_record.journal(host),
        without=without,
    )
    started = time()
    report = await engine.load()
    attempts = load_attempts_for(engine.inventory, host, engine.registry.registrations, report.failures)
    await bench.record_loads(host, attempts, started)
    return engine, report


def session_trust_targets(snapshot: Snapshot) -> tuple[TrustTarget, ...]:
    """Return the folders to trust so that a session can use all code of the project.

    Raises Refusal and OSError as `session_engine`.
    """
    session_rules_of(snapshot.host)
    return topmost_targets(
        (
            *untrusted_agent_folders(session_agents_of(snapshot.host), snapshot.host),
            *untrusted_folders(snapshot),
        )
    )


@dataclass(frozen=True, slots=True)
class AgentCode:
    """An agent, and the locations of its code."""

    agent: SessionAgent
    root: Path
    tools: Mapping[str, Path]
    model: Path | None
    trusted: bool  # whether its code may run
    description: str = ""  # from its own module
    real: Path | None = None  # its real folder, to check trust again; None: no check

    def code(self, path: Path, shape: ModuleShape, env: Mapping[str, str]) -> Code:
        """Return a file of this agent, for an executor."""
        language: Language = LANGUAGE_OF.get(path.suffix, "unknown")
        return Code(path, "default", self.root, language, env=env, shape=shape, trusted_root=self.real)

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that it may call."""
        return (*self.tools.values(), *((self.model,) if self.model is not None else ()))


SessionAgents = Mapping[str, AgentCode]  # by node id; empty for the root agent


def session_rules_of(host: Host) -> SessionRules:
    """Return the session rules of this host. Raises Refusal if it has none."""
    try:
        rules = stream_system_of(host.dialect).session_rules
    except LookupError:
        rules = None
    if rules is None:
        others = ", ".join(f"`--dialect {guide.name}`" for guide in GUIDES if "stream" in guide.kinds)
        raise Refusal(
            f"{host.dialect.product} has no sessions to simulate: its hooks receive no event stream.",
            f"{others} takes the rules of a host that has some.",
        )
    return rules


def session_agents_of(host: Host) -> SessionAgents:
    """Return all agents of the project. Raises OSError if an agent's folder cannot be read."""
    rules, files = stream_system_of(host.dialect).file_rules, host.machine.files
    found = [discover_agent(agent, rules, files) for agent in agents_of(host.workspace, rules, files)]
    members = {}
    for one in found:
        single_files = list(single_file_subagents(one.agent, rules, files))
        members[one.agent.scope] = _agent_code(
            one, found, {name: node.scope for name, node, _ in single_files}, host
        )
        for name, node, module in single_files:
            session_agent = SessionAgent(name=name, node=node.scope, delegated=True)
            members[node.scope] = AgentCode(
                session_agent,
                node.root,
                {},
                module,
                _is_trusted_folder(node.root, host),
                _description(module, host),
                _real_root_to_check(node.root, host),
            )
    return members


def _agent_code(
    discovery: Discovery, found: list[Discovery], single_files: Mapping[str, str], host: Host
) -> AgentCode:
    agent, files = discovery.agent, host.machine.files
    tools = {beside.name: beside.path for beside in discovery.siblings if beside.kind == "tool"}
    session_agent = SessionAgent(
        name=agent.root.name if agent.scope else project_name(host),
        node=agent.scope,
        tools=frozenset(tools),
        subagents={
            **single_files,
            **{child.root.name: child.scope for child in _direct_subagents(agent, found)},
        },
        delegated=bool(agent.scope),
    )
    model = agent_module(agent, stream_system_of(host.dialect).file_rules, files)
    trusted, real = _is_trusted_folder(agent.root, host), _real_root_to_check(agent.root, host)
    return AgentCode(session_agent, agent.root, tools, model, trusted, _description(model, host), real)


def _description(module: Path | None, host: Host) -> str:
    """Return the description in an agent's module, read from its text."""
    if module is None:
        return ""
    language = LANGUAGE_OF.get(module.suffix, "unknown")
    try:
        source = host.machine.files.read(module, LONGEST_SCRIPT + 1)
    except OSError:
        return ""
    return agent_description(source, language) or ""


def _direct_subagents(agent: Agent, found: list[Discovery]) -> Iterator[Agent]:
    """Return an agent's own subagents, without theirs."""
    return (other.agent for other in found if other.agent.root.parent.parent == agent.root)


def _is_trusted_folder(root: Path, host: Host) -> bool:
    return is_folder_trusted(host.machine.files.real(root), host)


def _real_root_to_check(root: Path, host: Host) -> Path | None:
    return None if host.trust.homes is None else host.machine.files.real(root)


def languages_of_agents(agents: SessionAgents) -> frozenset[Language]:
    """Return the languages of the agents' tools and models."""
    return frozenset(LANGUAGE_OF[path.suffix] for member in agents.values() for path in member.files)


def untrusted_agent_folders(agents: SessionAgents, host: Host) -> tuple[TrustTarget, ...]:
    """Return the agents' folders whose tools and models are not trusted."""
    refused = (member.root for member in agents.values() if member.files and not member.trusted)
    return tuple(folder_target(root, host) for root in refused)
