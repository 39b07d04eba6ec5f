"""Where the packages lie that a script imports by their names."""

from collections.abc import Iterator
from pathlib import Path

MODULES = "node_modules"


def places_of(package: str, folder: Path) -> Iterator[Path]:
    """Where Node looks for a package that something in this folder imports, the nearest place first."""
    return (above / MODULES / package for above in (folder, *folder.parents))
