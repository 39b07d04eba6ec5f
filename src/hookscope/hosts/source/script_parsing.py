"""Parses scripts in a child process: one batch a child, continued by another where one ended early."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from hookscope.helpers import helper_output, own_python
from hookscope.hosts.source.facts import HandlerFacts, facts_from
from hookscope.installation import install_command
from hookscope.model.regular_file import reraise_file_limit

SECONDS = 8.0  # that one child may take for its batch
BATCH = 64  # scripts for one child: each takes some milliseconds, and a child's start a tenth of a second
BREAKS = 3  # after so many scripts that end a child, the rest is left alone
MISSING = 3  # the child's exit code where there is no parser
NO_PARSER = "scripts are read with tree-sitter, which is not installed: `{}` brings it"


def parser_missing_message() -> str:
    """Why scripts have no facts here, and the command that changes it."""
    return NO_PARSER.format(install_command("lint"))


class ScriptSource(NamedTuple):
    """One handler to be parsed."""

    name: str
    text: str
    typescript: bool


ScriptReader = Callable[[Sequence[ScriptSource]], dict[str, HandlerFacts | str]]
"""Scripts → by name the facts of each, or why there are none."""


def read_scripts(
    scripts: Sequence[ScriptSource], *, seconds: float = SECONDS, workspace: Sequence[Path] = ()
) -> dict[str, HandlerFacts | str]:
    """Parse scripts in children, batch after batch. Never raises.

    A script that crashes its child, or takes it longer than `seconds`, has no facts, and the others do. No
    child imports anything from the `workspace`.
    """
    found: dict[str, HandlerFacts | str] = {}
    left, breaks = list(scripts), 0
    while left and breaks <= BREAKS:
        batch = left[:BATCH]
        lines, code = _parser_answers(batch, seconds, workspace)
        for script, line in zip(batch, lines, strict=False):
            found[script.name] = _facts(line)
        left = left[len(lines) :]
        if code == MISSING:
            return {**found, **dict.fromkeys((script.name for script in left), parser_missing_message())}
        if len(lines) < len(batch):
            why = "the parser took too long" if code is None else f"the parser ended with {code}"
            found[left[0].name] = why
            del left[0]
            breaks += 1
    return {**found, **{script.name: "the parser failed at others before it" for script in left}}


def _parser_answers(
    scripts: Sequence[ScriptSource], seconds: float, workspace: Sequence[Path]
) -> tuple[list[str], int | None]:
    """The child's whole lines, and its exit code; None where it was ended."""
    lines = (json.dumps({"text": one.text, "typescript": one.typescript}) for one in scripts)
    sent = "".join(f"{line}\n" for line in lines)
    try:
        command = own_python("hookscope.hosts.source.parser_process", workspace=workspace)
        answer = helper_output(command, seconds=seconds, text=sent, workspace=workspace)
    except OSError as error:
        reraise_file_limit(error)
        return [], -1
    *whole, _ = answer.text.split("\n")
    return whole[: len(scripts)], answer.code


def _facts(line: str) -> HandlerFacts | str:
    try:
        return facts_from(json.loads(line))
    except (ValueError, TypeError, RecursionError):
        return "the parser's answer could not be read"
