"""Replies of a scripted model, from a script or from a project's own model function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hookscope.app.event_templates import as_plain
from hookscope.app.project_config import LARGEST
from hookscope.formats.positions import FormatError
from hookscope.formats.yaml12 import read_yaml
from hookscope.hosts.streams.session_messages import AskModel, ModelReply, Thrown, ToolCall
from hookscope.model.failure import Failure, Refusal
from hookscope.model.regular_file import read_regular
from hookscope.model.text import error_reason
from hookscope.sessions.session_agents import AgentCode

# Executors' type names for thrown values that are not errors.
BARE_TYPES = frozenset(
    {"string", "number", "boolean", "undefined", "function", "symbol", "null"}
    | {"BigInt", "Object", "Array", "object", "Proxy"}
)
REPLY_SHAPE = (
    'a reply is a text, or an object with `text`, `toolCalls` or `fail`: {"toolCalls": [{"name": "add"}]}'
)

ReplyScript = Sequence[Any]  # indexed by the number of tool results so far; the last repeats


def thrown_from_failure(failure: Failure) -> Thrown:
    """Return a failure as a session sees it: its message, and its type if the thrown value is an error."""
    return Thrown(failure.own_text, "" if failure.type in BARE_TYPES else failure.type)


def scripted_reply(script: ReplyScript, request: AskModel) -> ModelReply:
    """Return the script's reply at this point of the conversation (the cases' README).

    Raises ValueError.
    """
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
            problem = f"Reply {number} of the script {file} is none: {error}."
            raise Refusal(problem, "No session was simulated.", code=2) from None
    return replies
