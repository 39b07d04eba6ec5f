"""The command line: commands/ holds one command a file, render/ the text and JSON of answers."""

from __future__ import annotations


def installed_version() -> str:
    """Return the installed version; a placeholder when run from the sources alone."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("hookscope")
    except PackageNotFoundError:
        return "of no version"
