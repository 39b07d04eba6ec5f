"""Whether a folder is a project to its host at all: what the nearest package.json says of it.

Source: 0.80.1, which goes up to the nearest package.json and no further; 0.18.1 asks nothing.
"""

import json
from pathlib import Path

from hookscope.core.surroundings import Files
from hookscope.systems.streams.sources import Diagnostic

PACKAGE = "package.json"
LARGEST = 1_048_576  # bytes of it that are read
NO_JSON = "The package.json at {file} is not valid JSON."
NO_PROJECT = "No {package} project contains {folder}: {file} names no {package} among its dependencies."


def said_of_project(workspace: Path, package: str, files: Files) -> Diagnostic | None:
    """Why the host takes the folder for no project of its own, whose package it is; None where it does.

    Without any package.json its commands would not begin either. Nothing is said of that: there a folder is
    looked at that nobody has made a project of yet.
    """
    for folder in (workspace, *workspace.parents):
        file = folder / PACKAGE
        facts = files.facts(file)
        if facts is None or not facts.file:
            continue
        try:
            told = json.loads(files.read(file, LARGEST))
        except (OSError, ValueError, RecursionError):
            return Diagnostic("", NO_JSON.format(file=file), file)
        needs = told.get("dependencies") if isinstance(told, dict) else None
        if isinstance(needs, dict) and isinstance(needs.get(package), str):
            return None
        return Diagnostic("", NO_PROJECT.format(package=package, folder=workspace, file=file), file)
    return None
