"""The parsed machine options of a command line as the Workbench's Options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hookscope.host_options import HOST_OPTIONS

if TYPE_CHECKING:
    from hookscope.app.options import Options

MACHINE_OPTION_NAMES = frozenset(option.name for option in HOST_OPTIONS)


def options_from(parameters: Mapping[str, Any], base: Options | None = None) -> Options:
    """Return the options of a command; they override those before the command's name."""
    from hookscope.app.options import Options, with_given

    return with_given(base or Options(), parameters)
