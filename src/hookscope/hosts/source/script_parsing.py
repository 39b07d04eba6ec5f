"""Parses scripts in child processes, a batch per child; if a child ends early, another continues."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from hookscope.helpers import helper_output, own_python
from hookscope.hosts.source.facts import HandlerFacts, facts_from
from hookscope.installation import install_command
from hookscope.model.regular_file import reraise_file_limit

SECONDS = 8.0  # limit of one child for its batch
BATCH = 64  # scripts per child: each takes milliseconds, starting a child 0.1 s
BREAKS = 3  # crashes after which the rest is skipped
MISSING = 3  # the child's exit code without a parser
NO_PARSER = "parsing scripts needs tree-sitter, which is not installed: run `{}`"


def parser_missing_message() -> str:
    """Return why scripts have no facts here, and the command that installs the parser."""
    return NO_PARSER.format(install_command("lint"))


class ScriptSource(NamedTuple):
    """One handler to parse."""

    name: str
    text: str
    typescript: bool


ScriptReader = Callable[[Sequence[ScriptSource]], dict[str, HandlerFacts | str]]
"""Scripts → by name, the facts of each script or why it has none."""


def read_scripts(
    scripts: Sequence[ScriptSource], *, seconds: float = SECONDS, workspace: Sequence[Path] = ()
) -> dict[str, HandlerFacts | str]:
    """Parse scripts in child processes, batch after batch. Never raises.

    A script that crashes its child, or takes longer than `seconds`, has no facts; the others do. No
    child imports anything from the `workspace`.
    """
    found: dict[str, HandlerFacts | str] = {}
    remaining, crashes = list(scripts), 0
    while remaining and crashes <= BREAKS:
        batch = remaining[:BATCH]
        lines, code = _parser_answers(batch, seconds, workspace)
        for script, line in zip(batch, lines, strict=False):
            found[script.name] = _facts(line)
        remaining = remaining[len(lines) :]
        if code == MISSING:
            return {**found, **dict.fromkeys((script.name for script in remaining), parser_missing_message())}
        if len(lines) < len(batch):
            reason = "the parser took too long" if code is None else f"the parser ended with exit code {code}"
            found[remaining[0].name] = reason
            del remaining[0]
            crashes += 1
    return {**found, **{script.name: "skipped: the parser failed too often before" for script in remaining}}


def _parser_answers(
    scripts: Sequence[ScriptSource], seconds: float, workspace: Sequence[Path]
) -> tuple[list[str], int | None]:
    """Return the complete lines of the child, and its exit code; None if it was killed."""
    lines = (json.dumps({"text": script.text, "typescript": script.typescript}) for script in scripts)
    input_text = "".join(f"{line}\n" for line in lines)
    try:
        command = own_python("hookscope.hosts.source.parser_process", workspace=workspace)
        answer = helper_output(command, seconds=seconds, text=input_text, workspace=workspace)
    except OSError as error:
        reraise_file_limit(error)
        return [], -1
    *complete_lines, _ = answer.text.split("\n")
    return complete_lines[: len(scripts)], answer.code


def _facts(line: str) -> HandlerFacts | str:
    try:
        return facts_from(json.loads(line))
    except (ValueError, TypeError, RecursionError):
        return "the parser's answer could not be read"
