"""Hookscope: find agent hooks, say which run and why not, fire events at them.

The public functions share one engine of this process; `HookEngine` is the same without the globals.
Everything is loaded when it is first asked for, so `import hookscope` costs next to nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module

# `python -m hookscope` puts the current folder, a workspace, in front of the import path. While Python looks
# for the module, the first argument is `-m`; other packages that are started so keep their folder.
if getattr(sys, "argv", [])[:1] == ["-m"] and not sys.flags.safe_path:
    _words = sys.orig_argv
    if "-m" in _words and _words[_words.index("-m") + 1].partition(".")[0] == __name__:
        del sys.path[:1]

TYPE_CHECKING = False  # as type checkers know it; to import typing costs more than all else here
if TYPE_CHECKING:
    from typing import Any

    from hookscope.core.authoring import define_agent as define_agent
    from hookscope.core.authoring import define_channel as define_channel
    from hookscope.core.authoring import define_connection as define_connection
    from hookscope.core.authoring import define_dynamic as define_dynamic
    from hookscope.core.authoring import define_hook as define_hook
    from hookscope.core.authoring import define_tool as define_tool
    from hookscope.core.authoring import mock_model as mock_model
    from hookscope.core.authoring import tool_result_from as tool_result_from
    from hookscope.core.event import HookEvent as HookEvent
    from hookscope.core.hooks import Hook as Hook
    from hookscope.core.registry import LoadReport as LoadReport
    from hookscope.core.runs import Event as Event
    from hookscope.core.runs import Result as Result
    from hookscope.core.runs import Run as Run
    from hookscope.core.standing import Gate as Gate
    from hookscope.core.standing import State as State
    from hookscope.core.standing import Verdict as Verdict
    from hookscope.embedded import embedded_host as embedded_host
    from hookscope.engine import HookEngine as HookEngine
    from hookscope.library import HookFailure as HookFailure
    from hookscope.library import check_eligibility as check_eligibility
    from hookscope.library import clear_hooks as clear_hooks
    from hookscope.library import close_hooks as close_hooks
    from hookscope.library import create_hook_event as create_hook_event
    from hookscope.library import discover_hooks as discover_hooks
    from hookscope.library import has_listeners as has_listeners
    from hookscope.library import load_hooks as load_hooks
    from hookscope.library import register_hook as register_hook
    from hookscope.library import registered_keys as registered_keys
    from hookscope.library import set_enabled as set_enabled
    from hookscope.library import trigger_hook as trigger_hook
    from hookscope.library import unregister_hook as unregister_hook
    from hookscope.plugins import HookRunner as HookRunner
    from hookscope.plugins import PluginApi as PluginApi
    from hookscope.plugins import discover_plugins as discover_plugins
    from hookscope.plugins import get_global_hook_runner as get_global_hook_runner
    from hookscope.plugins import load_plugins as load_plugins
    from hookscope.runtime import Firing as Firing

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
        "hookscope.core.authoring",
    ),
    "HookEvent": "hookscope.core.event",
    "Gate": "hookscope.core.standing",
    "Hook": "hookscope.core.hooks",
    "State": "hookscope.core.standing",
    "Verdict": "hookscope.core.standing",
    "Event": "hookscope.core.runs",
    "LoadReport": "hookscope.core.registry",
    "Result": "hookscope.core.runs",
    "Run": "hookscope.core.runs",
    "Firing": "hookscope.runtime",
    "embedded_host": "hookscope.embedded",
    "HookEngine": "hookscope.engine",
    **dict.fromkeys(
        (
            "HookFailure",
            "check_eligibility",
            "clear_hooks",
            "close_hooks",
            "create_hook_event",
            "discover_hooks",
            "has_listeners",
            "load_hooks",
            "register_hook",
            "registered_keys",
            "set_enabled",
            "trigger_hook",
            "unregister_hook",
        ),
        "hookscope.library",
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
        raise AttributeError(text, name=name, obj=sys.modules[__name__])  # so the nearest one is named
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return __all__
