"""Types of the events and answers of plugin hooks, for type checkers; their members are the guide's.

`@api.on("before_tool_call")` checks its handler against them. An event also has every other field
that its host sends, as an item (`event["toolCallId"]`) and as an attribute (`event.tool_call_id`).

Source: seed 003 ("Hook Reference") and seed 004 (section 8).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, TypedDict, TypeVar

from hookscope.model.handler_arguments import Record

E = TypeVar("E", contravariant=True)
A = TypeVar("A", covariant=True)
# A handler takes the event and its context, or the event alone, and may be async.
PluginHandler: TypeAlias = (
    Callable[[E, Any], A | Awaitable[A | None] | None] | Callable[[E], A | Awaitable[A | None] | None]
)


class ToolCallEvent(Record):
    """The event of `before_tool_call`."""

    tool_name: str
    params: dict[str, Any]


class ToolResultEvent(Record):
    """The event of `tool_result_persist`."""

    tool_name: str
    result: Any
    message: dict[str, Any]


class OutgoingMessageEvent(Record):
    """The event of `message_sending`."""

    to: str
    content: str


class MessageWriteEvent(Record):
    """The event of `before_message_write`."""

    message: dict[str, Any]


class PromptEvent(Record):
    """The event of `before_agent_start` and `before_prompt_build`."""

    prompt: str
    messages: list[dict[str, Any]]


class ToolCallAnswer(TypedDict, total=False):
    """The answer to `before_tool_call`."""

    params: dict[str, Any]
    block: bool
    blockReason: str
    requireApproval: dict[str, Any]


class ToolResultAnswer(TypedDict, total=False):
    """The answer to `tool_result_persist`."""

    result: Any
    message: dict[str, Any]


class OutgoingMessageAnswer(TypedDict, total=False):
    """The answer to `message_sending`."""

    content: str
    cancel: bool
    cancelReason: str
    metadata: dict[str, Any]


class MessageWriteAnswer(TypedDict, total=False):
    """The answer to `before_message_write`."""

    message: dict[str, Any]
    block: bool
    blockReason: str


class PromptAnswer(TypedDict, total=False):
    """The answer to `before_prompt_build`."""

    prompt: str
    messages: list[dict[str, Any]]
    systemPrompt: str
    prependContext: str
    appendContext: str
    prependSystemContext: str
    appendSystemContext: str
    toolsAllow: list[str]


class AgentStartAnswer(PromptAnswer, total=False):
    """The answer to `before_agent_start`."""

    modelOverride: str
    providerOverride: str
