"""Python packages that bring plugins: entry points of the group `hookscope.plugins`. None is imported."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from hookscope.core.dialect import InstalledPlugin
from hookscope.core.regular_file import read_regular

GROUP = "hookscope.plugins"


@lru_cache(maxsize=1)
def installed_plugins() -> tuple[InstalledPlugin, ...]:
    """Those whose file is found where Python would look; what is installed later needs another start."""
    if not _any_brings_plugins():
        return ()
    from importlib.metadata import distributions  # here: it takes longer to load than a look

    found: dict[InstalledPlugin, None] = {}
    for package in distributions():
        with suppress(TypeError, ValueError):  # its file is damaged: that is no matter of the others
            for point in package.entry_points.select(group=GROUP):
                with suppress(AttributeError):  # it names no module
                    file, named = _file_of(point.module), point.attr.partition(".")[0]
                    if file is not None:
                        found[InstalledPlugin(point.name, file, named or "register")] = None
    return tuple(found)


def _any_brings_plugins() -> bool:
    """Does some package name the group. True also where only Python itself can tell: of packages in a zip."""
    for base in sys.path:
        try:
            with os.scandir(base or ".") as entries:
                found = [entry.path for entry in entries if entry.name.endswith((".dist-info", ".egg-info"))]
        except NotADirectoryError:
            return True
        except OSError:
            continue
        if any(_names_the_group(folder) for folder in found):
            return True
    return False


def _names_the_group(folder: str) -> bool:
    try:
        return GROUP.encode() in read_regular(f"{folder}/entry_points.txt")
    except OSError:
        return False


def _file_of(module: str) -> Path | None:
    """The file of a module. Looked for by name: Python itself would import the packages above it."""
    parts = module.split(".")
    for base in map(Path, filter(None, sys.path)):
        for file in (base.joinpath(*parts).with_suffix(".py"), base.joinpath(*parts, "__init__.py")):
            if os.path.isfile(file):
                return file
    return None
