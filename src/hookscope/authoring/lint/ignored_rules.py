"""Reads which rules an author ignores: in HOOK.md for the whole hook, in a comment for one line."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hookscope.authoring.lint.header import LintHeader

PATH = ("metadata", "hookscope", "lint", "ignore")
MARK = "hookscope:"
IDS = re.compile(r"[ \t]*ignore\[([^\]\n]*)\]")
COMMENTS = ("#", "//", "/*")


def ignored_in_header(header: LintHeader) -> tuple[str, ...]:
    """Return the rules that the whole hook ignores. A single name counts as a list of one."""
    own = header.metadata.get("hookscope")
    lint = own.get("lint") if isinstance(own, dict) else None
    listed = lint.get("ignore") if isinstance(lint, dict) else None
    items = listed if isinstance(listed, list) else [listed]
    return tuple(item for item in items if isinstance(item, str))


def ignored_in_source(text: str) -> Mapping[int, frozenset[str]]:
    """Return line → ignored rules. A comment on its own line applies to the next line."""
    found: dict[int, frozenset[str]] = {}
    if MARK not in text:
        return found
    for number, line in enumerate(text.split("\n"), 1):
        at = line.find(MARK)
        ids = IDS.match(line, at + len(MARK)) if at >= 0 else None
        starts = [start for start in (line.find(sign, 0, at) for sign in COMMENTS) if start >= 0]
        if ids is not None and starts:
            rules = frozenset(word.strip() for word in ids[1].split(","))
            line_number = number if line[: min(starts)].strip() else number + 1
            found[line_number] = found.get(line_number, frozenset()) | rules
    return found
