"""Hookscope: find agent hooks, explain which of them run and why, and fire events at them.

The public functions share one engine per process; `HookEngine` offers the same without global
state. Names are imported on first use, so `import hookscope` is cheap.
"""

from __future__ import annotations

import sys
from importlib import import_module

# `python -m hookscope` puts the current folder, a workspace, first on the import path. While Python
# searches for the module, the first argument is `-m`; other packages started this way keep that folder.
if getattr(sys, "argv", [])[:1] == ["-m"] and not sys.flags.safe_path:
    _words = sys.orig_argv
    if "-m" in _words and _words[_words.index("-m") + 1].partition(".")[0] == __name__:
        del sys.path[:1]

TYPE_CHECKING = False  # known to type checkers; importing typing is slow
if TYPE_CHECKING:
    from typing import Any

    from hookscope.embedding.hook_runner import HookRunner as HookRunner
    from hookscope.embedding.hook_runner import get_global_hook_runner as get_global_hook_runner
    from hookscope.embedding.host import embedded_host as embedded_host
    from hookscope.embedding.installed_plugins import discover_plugins as discover_plugins
    from hookscope.embedding.installed_plugins import load_plugins as load_plugins
    from hookscope.embedding.library import HookFailure as HookFailure
    from hookscope.embedding.library import check_eligibility as check_eligibility
    from hookscope.embedding.library import clear_hooks as clear_hooks
    from hookscope.embedding.library import close_hooks as close_hooks
    from hookscope.embedding.library import create_hook_event as create_hook_event
    from hookscope.embedding.library import discover_hooks as discover_hooks
    from hookscope.embedding.library import has_listeners as has_listeners
    from hookscope.embedding.library import hooks as hooks
    from hookscope.embedding.library import load_hooks as load_hooks
    from hookscope.embedding.library import register_hook as register_hook
    from hookscope.embedding.library import registered_keys as registered_keys
    from hookscope.embedding.library import set_enabled as set_enabled
    from hookscope.embedding.library import set_limit as set_limit
    from hookscope.embedding.library import trigger_hook as trigger_hook
    from hookscope.embedding.library import unregister_hook as unregister_hook
    from hookscope.embedding.plugin_api import PluginApi as PluginApi
    from hookscope.engine.hook_engine import HookEngine as HookEngine
    from hookscope.engine.registry import LoadReport as LoadReport
    from hookscope.model.authoring_api import define_agent as define_agent
    from hookscope.model.authoring_api import define_channel as define_channel
    from hookscope.model.authoring_api import define_connection as define_connection
    from hookscope.model.authoring_api import define_dynamic as define_dynamic
    from hookscope.model.authoring_api import define_hook as define_hook
    from hookscope.model.authoring_api import define_tool as define_tool
    from hookscope.model.authoring_api import mock_model as mock_model
    from hookscope.model.authoring_api import tool_result_from as tool_result_from
    from hookscope.model.failure import Failure as Failure
    from hookscope.model.hook import Hook as Hook
    from hookscope.model.hook import Metadata as Metadata
    from hookscope.model.hook_event import HookEvent as HookEvent
    from hookscope.model.hook_status import Gate as Gate
    from hookscope.model.hook_status import State as State
    from hookscope.model.hook_status import Verdict as Verdict
    from hookscope.model.run import Event as Event
    from hookscope.model.run import Registration as Registration
    from hookscope.model.run import Result as Result
    from hookscope.model.run import Run as Run
    from hookscope.runtime.firing import Firing as Firing

_HOMES = {
    **dict.fromkeys(
        (
            "define_agent",
            "define_channel",
            "define_connection",
            "define_dynamic",
            "define_hook",
            "define_tool",
            "mock_model",
            "tool_result_from",
        ),
        "hookscope.model.authoring_api",
    ),
    "HookEvent": "hookscope.model.hook_event",
    "Gate": "hookscope.model.hook_status",
    "Failure": "hookscope.model.failure",
    "Hook": "hookscope.model.hook",
    "Metadata": "hookscope.model.hook",
    "State": "hookscope.model.hook_status",
    "Verdict": "hookscope.embedding.library",  # imports all gate kinds, on which its state depends
    "Event": "hookscope.model.run",
    "LoadReport": "hookscope.engine.registry",
    "Registration": "hookscope.model.run",
    "Result": "hookscope.model.run",
    "Run": "hookscope.model.run",
    "Firing": "hookscope.runtime.firing",
    "embedded_host": "hookscope.embedding.host",
    "HookEngine": "hookscope.engine.hook_engine",
    **dict.fromkeys(
        (
            "HookFailure",
            "check_eligibility",
            "clear_hooks",
            "close_hooks",
            "create_hook_event",
            "discover_hooks",
            "has_listeners",
            "hooks",
            "load_hooks",
            "register_hook",
            "registered_keys",
            "set_enabled",
            "set_limit",
            "trigger_hook",
            "unregister_hook",
        ),
        "hookscope.embedding.library",
    ),
    **dict.fromkeys(
        ("HookRunner", "PluginApi", "discover_plugins", "get_global_hook_runner", "load_plugins"),
        "hookscope.plugins",
    ),
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        import sys

        text = f"module 'hookscope' has no attribute {name!r}"
        raise AttributeError(text, name=name, obj=sys.modules[__name__])  # for suggestions
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return __all__
