"""A rule's documentation, read from its module's docstring: title, reason, tested examples."""

from __future__ import annotations

import re
from collections.abc import Mapping
from inspect import cleandoc
from textwrap import dedent

from hookscope.values import dataclass

SECTION = re.compile(r"^(Bad|Good|Host|Folder):[ \t]*(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class RuleExample:
    """The files of an example hook's folder: name → text."""

    files: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RuleDocumentation:
    """The parts of a rule's documentation."""

    title: str
    why: str
    bad: RuleExample
    good: RuleExample
    host: str = ""  # the dialect of the example, if not the default one
    folder: str = "tidy"  # the name of the example's folder


def rule_documentation(text: str) -> RuleDocumentation:
    """Parse a rule's documentation. Raises ValueError if the rule's author left out an example."""
    text = cleandoc(text)
    marks = list(SECTION.finditer(text))
    parts: dict[str, str] = {}
    for mark, after in zip(marks, [*marks[1:], None], strict=True):
        parts[mark[1]] = mark[2] + text[mark.end() : after.start() if after else len(text)]
    if not {"Bad", "Good"} <= parts.keys():
        raise ValueError("a rule's documentation needs an example under `Bad:` and one under `Good:`")
    title, _, why = text[: marks[0].start()].strip().partition("\n\n")
    return RuleDocumentation(
        " ".join(title.split()),
        why.strip(),
        _example(parts["Bad"]),
        _example(parts["Good"]),
        parts.get("Host", "").strip(),
        parts.get("Folder", "tidy").strip(),
    )


def _example(block: str) -> RuleExample:
    files: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in dedent(block.strip("\n")).split("\n"):
        if line and not line[0].isspace():
            lines = files.setdefault(line.strip(), [])
        else:
            lines.append(line)
    return RuleExample({name: _text(lines) for name, lines in files.items()})


def _text(lines: list[str]) -> str:
    text = dedent("\n".join(lines)).strip("\n")
    return f"{text}\n" if text else ""
