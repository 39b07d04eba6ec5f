"""What was given on the command line, as the workbench takes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookscope.workbench import Options

SINGLE = (
    "dialect",
    "workspace",
    "home",
    "bundled",
    "config",
    "agent",
    "os",
    "env_from",
    "path",
    "environment",
)
NAMES = (*SINGLE, "env", "clean_env")


def options_from(given: Mapping[str, Any], base: Options | None = None) -> Options:
    """The options of a command: its own beat those before its name."""
    from hookscope.workbench.options import Options

    base = base or Options()
    own = {name: given[name] for name in SINGLE if given.get(name) is not None}
    return Options(
        **{name: own.get(name, getattr(base, name)) for name in SINGLE},
        env={**base.env, **dict(given.get("env") or ())},
        clean_env=bool(given.get("clean_env")) or base.clean_env,
    )
