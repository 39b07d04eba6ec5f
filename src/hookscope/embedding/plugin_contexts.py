"""The second argument of plugin handlers, for type checkers: the four contexts of seed 003.

At run time it is a Record, whose members are attributes too: `ctx["runId"]`, `ctx.run_id`. The
shipped program has more members, and no fixed set of them, so none is required.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict


class AgentContext(TypedDict, total=False):
    """The context of `before_agent_start`, `before_prompt_build`, compactions and model calls."""

    runId: str
    config: Mapping[str, Any]
    workspaceDir: str
    agentDir: str


class MessageContext(TypedDict, total=False):
    """The context of `message_received`, `message_sending` and `message_sent`."""

    sessionKey: str
    channel: str
    senderId: str
    direction: Literal["received", "sending", "sent"]


class ToolContext(TypedDict, total=False):
    """The context of `before_tool_call`, `after_tool_call` and `tool_result_persist`."""

    runId: str
    toolName: str
    args: Mapping[str, Any]  # before the call
    result: Any  # after it


class SessionContext(TypedDict, total=False):
    """The context of `session_start`, `session_end` and `before_message_write`."""

    sessionKey: str
    channel: str
