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

__all__ = [
    "AgentContext",
    "HookRunner",
    "LoadedPlugins",
    "MessageContext",
    "PluginApi",
    "SessionContext",
    "ToolContext",
    "discover_plugins",
    "get_global_hook_runner",
    "load_plugins",
]
