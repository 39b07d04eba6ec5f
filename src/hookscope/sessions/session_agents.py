"""The agents of a session: each agent of a project with its tools, and the replies of its scripted model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import time
from typing import Any

from hookscope.app.event_templates import as_plain
from hookscope.app.load_record import load_attempts_for
from hookscope.app.project_config import LARGEST
from hookscope.app.snapshot import Snapshot
from hookscope.app.trust_requests import topmost_targets, untrusted_folders
from hookscope.app.workbench import Workbench
from hookscope.engine.discovery import discover
from hookscope.engine.hook_engine import HookEngine
from hookscope.engine.registry import LoadReport
from hookscope.formats.positions import FormatError
from hookscope.formats.script_values import LONGEST_SCRIPT
from hookscope.formats.subscriptions import agent_description
from hookscope.formats.yaml12 import read_yaml
from hookscope.hosts.dialects import GUIDES
from hookscope.hosts.streams import stream_system_of
from hookscope.hosts.streams.agent_layout import (
    Discovery,
    agent_module,
    agents_of,
    discover_agent,
    single_file_subagents,
)
from hookscope.hosts.streams.session_messages import AskModel, ModelReply, SessionAgent, Thrown, ToolCall
from hookscope.hosts.streams.session_rules import SessionRules
from hookscope.hosts.streams.stream_policy import project_name
from hookscope.model.failure import Failure, Refusal
from hookscope.model.hook import LANGUAGE_OF, Language
from hookscope.model.host import Host
from hookscope.model.regular_file import read_regular
from hookscope.model.run import Code, ModuleShape
from hookscope.model.text import error_reason
from hookscope.model.trust import TrustTarget, folder_target, is_folder_trusted
from hookscope.values import dataclass


async def session_engine(bench: Workbench) -> tuple[HookEngine, LoadReport]:
    """Return an engine with all trusted hooks loaded and executors for the project's tools.

    Raises Refusal if the host has no sessions; OSError if an agent's folder cannot be read.
    """
    host = bench.open()
    session_rules_of(host)
    languages, without = bench.worker_pools.languages(host, discover(host))
    needed_languages = languages | {
        LANGUAGE_OF[path.suffix] for member in session_agents_of(host).values() for path in member.files
    }
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
            f"{others} uses the rules of a host that has sessions.",
        )
    return rules


def session_agents_of(host: Host) -> SessionAgents:
    """Return all agents of the project. Raises OSError if an agent's folder cannot be read."""
    rules, files = stream_system_of(host.dialect).file_rules, host.machine.files
    found = [discover_agent(agent, rules, files) for agent in agents_of(host.workspace, rules, files)]
    members = {}
    for one in found:
        single_files = list(single_file_subagents(one.agent, rules, files))
        subagents = {name: node.scope for name, node, _ in single_files} | {
            other.agent.root.name: other.agent.scope
            for other in found
            if other.agent.root.parent.parent == one.agent.root
        }
        model = agent_module(one.agent, rules, files)
        members[one.agent.scope] = _agent_of_folder(one, subagents, model, host)
        for name, node, module in single_files:
            session_agent = SessionAgent(name=name, node=node.scope, delegated=True)
            members[node.scope] = _agent_code(session_agent, node.root, {}, module, host)
    return members


def _agent_of_folder(
    discovery: Discovery, subagents: Mapping[str, str], model: Path | None, host: Host
) -> AgentCode:
    agent = discovery.agent
    tools = {beside.name: beside.path for beside in discovery.siblings if beside.kind == "tool"}
    session_agent = SessionAgent(
        name=agent.root.name if agent.scope else project_name(host),
        node=agent.scope,
        tools=frozenset(tools),
        subagents=subagents,
        delegated=bool(agent.scope),
    )
    return _agent_code(session_agent, agent.root, tools, model, host)


def _agent_code(
    agent: SessionAgent, root: Path, tools: Mapping[str, Path], model: Path | None, host: Host
) -> AgentCode:
    real = host.machine.files.real(root)
    return AgentCode(
        agent,
        root,
        tools,
        model,
        trusted=is_folder_trusted(real, host),
        description=_description(model, host),
        real=None if host.trust.homes is None else real,
    )


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


def untrusted_agent_folders(agents: SessionAgents, host: Host) -> tuple[TrustTarget, ...]:
    """Return the agents' folders whose tools and models are not trusted."""
    refused = (member.root for member in agents.values() if member.files and not member.trusted)
    return tuple(folder_target(root, host) for root in refused)


# Executors' type names for thrown values that are not errors.
BARE_TYPES = frozenset(
    {"string", "number", "boolean", "undefined", "function", "symbol", "null"}
    | {"BigInt", "Object", "Array", "object", "Proxy"}
)
REPLY_SHAPE = (
    'a reply is a string, or an object with `text`, `toolCalls` or `fail`: {"toolCalls": [{"name": "add"}]}'
)

ReplyScript = Sequence[Any]  # indexed by the number of tool results so far; the last repeats


def thrown_from_failure(failure: Failure) -> Thrown:
    """Return a failure as a session sees it: its message, and its type if the thrown value is an error."""
    return Thrown(failure.own_text, "" if failure.type in BARE_TYPES else failure.type)


def scripted_reply(script: ReplyScript, request: AskModel) -> ModelReply:
    """Return the script's reply at this point of the conversation (the cases' README). Raises ValueError."""
    results = sum(entry.call is not None for entry in request.history)
    return parse_reply(script[min(results, len(script) - 1)], request)


def parse_reply(value: Any, request: AskModel) -> ModelReply:
    """Return the reply that a script or model function gave. Raises ValueError for anything else.

    Calls without an `id` get one in the format of the host's own mock model.
    """
    if isinstance(value, str):
        return ModelReply(value)
    if not isinstance(value, Mapping):
        raise ValueError(REPLY_SHAPE)
    if "fail" in value:
        return ModelReply(failure=Thrown(str(value["fail"])))
    text, calls = value.get("text", ""), value.get("toolCalls") or ()
    if not isinstance(text, str) or not isinstance(calls, list | tuple) or not ("text" in value or calls):
        raise ValueError(REPLY_SHAPE)
    return ModelReply(
        text, tuple(_parse_tool_call(call, number, request) for number, call in enumerate(calls, start=1))
    )


def _parse_tool_call(value: Any, number: int, request: AskModel) -> ToolCall:
    name = value.get("name") if isinstance(value, Mapping) else None
    if not isinstance(name, str):
        raise ValueError(f"tool call {number} has no name; {REPLY_SHAPE}")
    messages = sum(entry.role in ("user", "note") for entry in request.history)
    results = sum(entry.call is not None for entry in request.history)
    own_id = value.get("id")
    return ToolCall(
        own_id if isinstance(own_id, str) else f"mock-tool-call-{messages}-{results}-{number}",
        name,
        value.get("input"),
    )


def tool_input_of(call: ToolCall) -> Any:
    """Return the tool's input, `{}` if there is none."""
    return {} if call.input is None else call.input


def has_input_schema(member: AgentCode, call: ToolCall) -> bool:
    """Return whether the tool may have an input schema. Python tools have none."""
    return call.name in member.tools and member.tools[call.name].suffix != ".py"


def checked_call(call: ToolCall, check_result: Any) -> ToolCall:
    """Return the call with its input as the tool's schema reads it, or with a refusal reason.

    `check_result` is the result of agents.mjs; without one, calling the tool reports what is wrong.
    """
    if not isinstance(check_result, Mapping):
        return call
    if "issues" in check_result:
        return replace(call, refusal=f"its input does not fit its schema: {check_result['issues']}")
    return replace(call, input=as_plain(check_result["value"])) if "value" in check_result else call


def read_script(file: Path) -> ReplyScript:
    """Return the replies in a YAML or JSON file. Raises Refusal if it has none."""
    try:
        replies = read_yaml(read_regular(file, LARGEST))
    except OSError as error:
        raise Refusal(
            f"Cannot read the script {file}: {error_reason(error)}.", "Name another file.", code=2
        ) from None
    except (FormatError, UnicodeDecodeError) as error:
        raise Refusal(f"{file} is not YAML: {error}.", "No session was simulated.", code=2) from None
    if not isinstance(replies, list) or not replies:
        raise Refusal(
            f"{file} is not a list of replies.", f"{REPLY_SHAPE[0].upper()}{REPLY_SHAPE[1:]}.", code=2
        )
    for number, reply in enumerate(replies, start=1):
        try:
            parse_reply(reply, AskModel((), 0))
        except ValueError as error:
            problem = f"Reply {number} of the script {file} is invalid: {error}."
            raise Refusal(problem, "No session was simulated.", code=2) from None
    return replies
