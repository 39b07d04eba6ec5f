"""From files to runs: discover hooks, check their gates, plan, load, fire.

Never names a host and never writes a file.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookscope.engine.hook_engine import HookEngine as HookEngine


def __getattr__(name: str) -> Any:
    if name != "HookEngine":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from hookscope.engine.hook_engine import HookEngine

    return HookEngine
