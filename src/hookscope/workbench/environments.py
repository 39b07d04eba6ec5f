"""Environments: files of a workspace, each with the variables that hold while it is chosen."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from hookscope.core.text import nearest
from hookscope.values import dataclass
from hookscope.workbench.project import PROJECT_FOLDER
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.sections import ENDINGS, read_section

ENVIRONMENTS = Path(PROJECT_FOLDER) / "environments"  # of a workspace


@dataclass(frozen=True, slots=True)
class Environment:
    """One that was read. Its values are texts, taken as they are written."""

    name: str
    file: Path
    variables: Mapping[str, str] = field(repr=False)


def environments_of(workspace: Path) -> Mapping[str, Path]:
    """All environments of a workspace by name, in order, none of them read."""
    try:
        files = [file for file in (workspace / ENVIRONMENTS).iterdir() if file.suffix in ENDINGS]
    except (OSError, ValueError):  # the latter: a null byte in the workspace's name
        return {}
    files.sort(key=lambda file: (file.stem, file.suffix == ENDINGS[0]))  # of two of one name, the former
    return {file.stem: file for file in files if os.path.isfile(file)}


def read_environment(workspace: Path, name: str) -> Environment:
    """The environment of that name. Raises Refusal that names the nearest one, or the line that is wrong."""
    known = environments_of(workspace)
    if name not in known:
        near = nearest(name, known)
        there = (
            f"There are {', '.join(known)}." if known else f"A file of {workspace / ENVIRONMENTS} makes one."
        )
        then = f"Did you mean {near}?" if near else there
        raise Refusal(f"There is no environment {name!r}.", then, code=2)
    section = read_section(known[name], "environment: it wants a mapping with `variables:`")
    section.check_keys(("variables",), "An environment")
    variables: dict[str, str] = {}
    for key, value in section.mapping("variables").items():
        if isinstance(value, dict | list) or value is None:
            raise section.wrong(f"`{key}` wants a text, a number, true or false.", "variables", key)
        variables[key] = str(value).lower() if isinstance(value, bool) else str(value)
    return Environment(name, known[name], variables)
