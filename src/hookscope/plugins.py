"""Plugin hooks for programs that embed Hookscope: register and run them, load installed plugins."""

from hookscope.embedding.hook_runner import HookRunner, get_global_hook_runner
from hookscope.embedding.installed_plugins import LoadedPlugins, discover_plugins, load_plugins
from hookscope.embedding.plugin_api import (
    AgentContext,
    MessageContext,
    PluginApi,
    SessionContext,
    ToolContext,
)
from hookscope.embedding.plugin_types import (
    AgentStartAnswer,
    MessageWriteAnswer,
    MessageWriteEvent,
    OutgoingMessageAnswer,
    OutgoingMessageEvent,
    PromptAnswer,
    PromptEvent,
    ToolCallAnswer,
    ToolCallEvent,
    ToolResultAnswer,
    ToolResultEvent,
)

__all__ = [
    "AgentContext",
    "AgentStartAnswer",
    "HookRunner",
    "LoadedPlugins",
    "MessageContext",
    "MessageWriteAnswer",
    "MessageWriteEvent",
    "OutgoingMessageAnswer",
    "OutgoingMessageEvent",
    "PluginApi",
    "PromptAnswer",
    "PromptEvent",
    "SessionContext",
    "ToolCallAnswer",
    "ToolCallEvent",
    "ToolContext",
    "ToolResultAnswer",
    "ToolResultEvent",
    "discover_plugins",
    "get_global_hook_runner",
    "load_plugins",
]
