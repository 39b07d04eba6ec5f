"""The data of a session's events: actions, results, failures, labels.

Recorded in eve 13, 16 and 19.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from hookscope.hosts.streams.session_messages import ToolCall, ToolResult
from hookscope.hosts.streams.session_rules import SessionRules

FAILED = "ACTION_RESULT_FAILED"
SUBAGENT_FAILED = "SUBAGENT_EXECUTION_FAILED"
MODEL_FAILED = "MODEL_CALL_FAILED"
LONGEST_LABEL = 500


def tool_action(call: ToolCall) -> dict[str, Any]:
    """Return a tool call as event data."""
    return {"callId": call.id, "input": call.input, "kind": "tool-call", "toolName": call.name}


def subagent_action(call: ToolCall, node: str) -> dict[str, Any]:
    """Return a call of a subagent, which runs as `node`, as event data."""
    return {
        "callId": call.id,
        "input": call.input,
        "kind": "subagent-call",
        "name": call.name,
        "nodeId": node,
        "subagentName": call.name,
    }


def tool_result(result: ToolResult, name: str, rules: SessionRules) -> dict[str, Any]:
    """Return the data of action.result: `result`, `status` and, after a failure, `error`."""
    result_data = {"callId": result.id, "kind": "tool-result", "output": result.output, "toolName": name}
    failure = result.failure
    if failure is None:
        return _outcome(result_data, rules)
    error_name = {"name": failure.name or "Error"} if rules.error_names else {}
    result_data |= {"output": failure.message, "isError": True}
    if rules.error_names:
        result_data["errorName"] = error_name["name"]
    error = {"code": FAILED, "message": failure.message, **error_name}
    return {"result": result_data, "status": "failed", "error": error}


def task_receipt(call: ToolCall, text: str) -> dict[str, Any]:
    """Return the data of action.result for a call that a task will answer later."""
    result_data = {"callId": call.id, "kind": "tool-result", "output": text, "toolName": call.name}
    return {"result": result_data, "status": "completed"}


def subagent_result(call: ToolCall, output: str, failure: str | None) -> dict[str, Any]:
    """Return the data of action.result for a subagent that the step waited for."""
    result_data: dict[str, Any] = {"callId": call.id, "kind": "subagent-result", "subagentName": call.name}
    if failure is None:
        return {"result": {**result_data, "output": output}, "status": "completed"}
    error = {"code": SUBAGENT_FAILED, "message": failure}
    return {"result": {**result_data, "output": error, "isError": True}, "status": "failed", "error": error}


def _outcome(result_data: dict[str, Any], rules: SessionRules) -> dict[str, Any]:
    error = error_in(result_data["output"]) if rules.output_can_fail else None
    if error is None:
        return {"result": result_data, "status": "completed"}
    return {"result": result_data, "status": "failed", "error": error}


def error_in(output: Any) -> dict[str, str] | None:
    """Return the code and message in an output, or in its JSON; None if it has none."""
    if isinstance(output, str):
        try:
            output = json.loads(output)
        except ValueError:
            return None
    if not isinstance(output, Mapping):
        return None
    members = {name: output.get(name) for name in ("code", "message")}
    texts = {name: text for name, text in members.items() if isinstance(text, str) and text}
    return texts if len(texts) == len(members) else None


def failure_data(code: str, message: str, id: str, thrown: str, name: str = "") -> dict[str, Any]:  # noqa: A002  (theirs)
    """Return the data of step.failed, turn.failed and session.failed."""
    details = {"errorId": id, "message": thrown, **({"name": name} if name else {})}
    return {"code": code, "message": message, "details": details}


def call_label(call: ToolCall) -> dict[str, Any]:
    """Return the label of a subagent's call in actions.requested: its title and the first sentence."""
    title = display_title(call.name)
    message = call.input.get("message") if isinstance(call.input, Mapping) else None
    sentence = first_sentence(message) if isinstance(message, str) else ""
    return {call.id: {"label": f"{title}: {sentence}" if sentence else title}}


def display_title(name: str) -> str:
    """Return a readable name: `weather_helper` is `Weather helper`, `readPDF` is `Read PDF`."""
    last = next((part for part in reversed(name.split("__")) if part), name)
    spaced = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1 \2", re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", last))
    words = [word for word in re.split(r"[\s_-]+", spaced) if word]
    title = " ".join(word if len(word) > 1 and word.isupper() else word.lower() for word in words) or name
    return title[:1].upper() + title[1:]


def first_sentence(text: str) -> str:
    """Return the first sentence of the first non-empty line.

    A number before a full stop does not end it.
    """
    lines = (" ".join(re.sub(r"[\x00-\x1f\x7f-\x9f]", " ", line).split()) for line in text.splitlines())
    line = next((line for line in lines if line), "")[:LONGEST_LABEL]
    for end in re.finditer(r"(?<=[.!?])\s+(?=[A-Z\"'`(])", line):
        if not re.search(r"(?:^|\s)\d{1,2}\.$", line[: end.start()]):
            return line[: end.start()]
    return line
