"""Plugin hooks for a program that embeds Hookscope: registering, asking, and plugins that are installed."""

from hookscope.plugins.api import PluginApi
from hookscope.plugins.contexts import AgentContext, MessageContext, SessionContext, ToolContext
from hookscope.plugins.entry_points import LoadedPlugins, discover_plugins, load_plugins
from hookscope.plugins.runner import HookRunner, get_global_hook_runner

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
