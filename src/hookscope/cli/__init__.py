"""The command line: commands/ holds one command a file, render/ the text and JSON of answers."""

from __future__ import annotations


def installed_version() -> str:
    """As it is installed; run from its sources alone, it has none."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("hookscope")
    except PackageNotFoundError:
        return "of no version"
