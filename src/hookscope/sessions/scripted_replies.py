"""Replies of a scripted model, from a script or from a project's own model function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hookscope.app.event_templates import as_plain
from hookscope.app.yaml_sections import LARGEST_YAML
from hookscope.formats.positions import FormatError
from hookscope.formats.yaml12 import read_yaml
from hookscope.hosts.streams.session_messages import AskModel, ModelReply, Thrown, ToolCall
from hookscope.model.failure import Failure
from hookscope.model.refusal import Refusal
from hookscope.model.regular_file import read_regular
from hookscope.model.text import error_reason
from hookscope.sessions.session_agents import AgentCode

# Executors' type names for thrown values that are no errors.
BARE_TYPES = frozenset(
    {"string", "number", "boolean", "undefined", "function", "symbol", "null"}
    | {"BigInt", "Object", "Array", "object", "Proxy"}
)
REPLY_SHAPE = (
    'a reply is a text, or an object with `text`, `toolCalls` or `fail`: {"toolCalls": [{"name": "add"}]}'
)

ReplyScript = Sequence[Any]  # indexed by the number of tool results so far; the last repeats


def thrown_from_failure(failure: Failure) -> Thrown:
    """Return a failure as a session sees it: its own text, and its type if that is an error's."""
    return Thrown(failure.own_text, "" if failure.type in BARE_TYPES else failure.type)


def scripted_reply(script: ReplyScript, asked: AskModel) -> ModelReply:
    """Return the script's reply at this point of the conversation (the cases' README).

    Raises ValueError.
    """
    results = sum(entry.call is not None for entry in asked.history)
    return parse_reply(script[min(results, len(script) - 1)], asked)


def parse_reply(told: Any, asked: AskModel) -> ModelReply:
    """Return the reply that a script or model function gave. Raises ValueError for anything else.

    Calls without an `id` get one in the format of the host's own mock model.
    """
    if isinstance(told, str):
        return ModelReply(told)
    if not isinstance(told, Mapping):
        raise ValueError(REPLY_SHAPE)
    if "fail" in told:
        return ModelReply(failure=Thrown(str(told["fail"])))
    text, calls = told.get("text", ""), told.get("toolCalls") or ()
    if not isinstance(text, str) or not isinstance(calls, list | tuple) or not ("text" in told or calls):
        raise ValueError(REPLY_SHAPE)
    return ModelReply(
        text, tuple(_parse_tool_call(one, place, asked) for place, one in enumerate(calls, start=1))
    )


def _parse_tool_call(told: Any, place: int, asked: AskModel) -> ToolCall:
    name = told.get("name") if isinstance(told, Mapping) else None
    if not isinstance(name, str):
        raise ValueError(f"tool call {place} has no name; {REPLY_SHAPE}")
    said = sum(entry.role in ("user", "note") for entry in asked.history)
    results = sum(entry.call is not None for entry in asked.history)
    own = told.get("id")
    return ToolCall(
        own if isinstance(own, str) else f"mock-tool-call-{said}-{results}-{place}", name, told.get("input")
    )


def tool_input_of(call: ToolCall) -> Any:
    """Return the tool's input, `{}` if there is none."""
    return {} if call.input is None else call.input


def has_input_schema(member: AgentCode, call: ToolCall) -> bool:
    """Return whether the tool may have an input schema. Python tools have none."""
    return call.name in member.tools and member.tools[call.name].suffix != ".py"


def checked_call(call: ToolCall, told: Any) -> ToolCall:
    """Return the call with its input as the tool's schema reads it, or with a refusal reason.

    `check_result` is the result of agents.mjs; without one, calling the tool reports what is wrong.
    """
    if not isinstance(told, Mapping):
        return call
    if "issues" in told:
        return replace(call, refused=f"its input does not fit its schema: {told['issues']}")
    return replace(call, input=as_plain(told["value"])) if "value" in told else call


def read_script(file: Path) -> ReplyScript:
    """Return the replies in a YAML or JSON file. Raises Refusal if it has none."""
    try:
        told = read_yaml(read_regular(file, LARGEST_YAML))
    except OSError as error:
        raise Refusal(
            f"Cannot read the script {file}: {error_reason(error)}.", "Name another file.", code=2
        ) from None
    except (FormatError, UnicodeDecodeError) as error:
        raise Refusal(f"The script {file} is not YAML: {error}.", "Nothing was played.", code=2) from None
    if not isinstance(told, list) or not told:
        raise Refusal(
            f"The script {file} is no list of replies.", f"{REPLY_SHAPE[0].upper()}{REPLY_SHAPE[1:]}.", code=2
        )
    for place, one in enumerate(told, start=1):
        try:
            parse_reply(one, AskModel((), 0))
        except ValueError as error:
            what = f"Reply {place} of the script {file} is none: {error}."
            raise Refusal(what, "Nothing was played.", code=2) from None
    return told
