"""The parsed machine options of a command line as the Workbench's Options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookscope.app.options import Options

SINGLE_VALUE_OPTIONS = (
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
MACHINE_OPTION_NAMES = (*SINGLE_VALUE_OPTIONS, "env", "clean_env")


def options_from(given: Mapping[str, Any], base: Options | None = None) -> Options:
    """The options of a command: its own beat those before its name."""
    from hookscope.app.options import Options

    base = base or Options()
    own = {name: given[name] for name in SINGLE_VALUE_OPTIONS if given.get(name) is not None}
    return Options(
        **{name: own.get(name, getattr(base, name)) for name in SINGLE_VALUE_OPTIONS},
        env={**base.env, **dict(given.get("env") or ())},
        clean_env=bool(given.get("clean_env")) or base.clean_env,
    )
