"""Python packages that bring plugins: entry points of the group `hookscope.plugins`. None is imported."""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path

from hookscope.core.dialect import InstalledPlugin

GROUP = "hookscope.plugins"


@lru_cache(maxsize=1)
def installed_plugins() -> tuple[InstalledPlugin, ...]:
    """Those whose file is found where Python would look; what is installed later needs another start."""
    from importlib.metadata import entry_points  # here: most commands look at no plugins

    found = ((point, _file_of(point.module)) for point in entry_points(group=GROUP))
    return tuple(
        InstalledPlugin(point.name, file, point.attr.partition(".")[0] or "register")
        for point, file in found
        if file is not None
    )


def _file_of(module: str) -> Path | None:
    """The file of a module. Looked for by name: Python itself would import the packages above it."""
    parts = module.split(".")
    for base in map(Path, filter(None, sys.path)):
        for file in (base.joinpath(*parts).with_suffix(".py"), base.joinpath(*parts, "__init__.py")):
            if file.is_file():
                return file
    return None
