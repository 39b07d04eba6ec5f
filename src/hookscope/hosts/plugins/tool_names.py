"""Lists of tools that handlers allow or match: groups, `*`, intersections, and names not allowed."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from hookscope.formats.script_values import script_trim
from hookscope.model.failure import Failure
from hookscope.model.run import Module
from hookscope.values import dataclass

EVERY_TOOL = "*"
TOOL_EVENTS = frozenset({"before_tool_call", "after_tool_call"})


@dataclass(frozen=True, slots=True)
class ToolNames:
    """A host's groups and aliases of tools."""

    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    foreign_names: frozenset[str] = frozenset()  # names of other programs' tools, which no handler may match
    foreign_name_error: str = ""  # the host's error about those

    def intersection(self, before: list[str] | None, allowed: object) -> list[str]:
        """Return the tools that both lists allow. `before` is None if nothing is restricted yet.

        A value that is not a list of strings allows nothing. A single list is returned as written.
        """
        names = _texts(allowed)
        if before is None:
            return names
        left, right = self._expanded(before), self._expanded(names)
        if not left or not right:
            return []
        if EVERY_TOOL in left:
            return right
        if EVERY_TOOL in right:
            return left
        both = dict.fromkeys([*left, *right])
        return [name for name in both if _allows(left, name) and _allows(right, name)]

    def _expanded(self, names: Iterable[str]) -> list[str]:
        words = (script_trim(name).lower() for name in names)
        tools = (self.aliases.get(word, word) for word in words if word)
        return list(dict.fromkeys(tool for name in tools for tool in self.groups.get(name, (name,))))

    def registration_failure(self, module: Module) -> Failure | None:
        """Return the host's failure if the plugin registers an invalid tool matcher, else None."""
        matchers = (
            declared.options.get("matcher") for declared in module.declares if declared.key in TOOL_EVENTS
        )
        problems = (self._matcher_problem(matcher) for matcher in matchers if matcher is not None)
        text = next((f"tool hook matcher {problem}" for problem in problems if problem), "")
        return Failure("TypeError", text, phase="load") if text else None

    def _matcher_problem(self, matcher: object) -> str:
        if not isinstance(matcher, list | tuple):
            return "must be an array of tool names"
        if not matcher:
            return "must contain at least one tool name"
        return next((problem for problem in map(self._name_problem, matcher) if problem), "")

    def _name_problem(self, name: object) -> str:
        written = script_trim(name) if isinstance(name, str) else ""
        if not written:
            return "entries must be non-empty strings"
        if written == EVERY_TOOL:
            return "wildcard entries are not supported"
        return "" if self.foreign_names.isdisjoint({written, written.lower()}) else self.foreign_name_error


def _texts(value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return []
    return list(value)


def _allows(names: Sequence[str], tool: str) -> bool:
    """Return whether the names allow the tool. `write` implies `apply_patch`."""
    return any(map(_pattern_of(names).fullmatch, (tool, "write") if tool == "apply_patch" else (tool,)))


def _pattern_of(names: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that matches any of these names; `*` in one matches any text."""
    return re.compile("|".join(".*".join(map(re.escape, name.split("*"))) for name in names))
