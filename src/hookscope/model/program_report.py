"""What an installed host reports about its own hooks, in a form that can be compared. Frozen data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.model.hook_status import Inventory
    from hookscope.model.host import Host

RESULT = "result"  # the fact that says whether a hook loads
FOUND = "found"  # the fact that says whether an item is reported at all
PLUGINS = "plugins"  # the answer that lists plugins; it takes no agent


@dataclass(frozen=True, slots=True)
class ReportedFact:
    """One fact of an item. `value` is compared; `text` shows it to people."""

    value: Any
    text: str


@dataclass(frozen=True, slots=True)
class ReportedItem:
    """A hook or a rejected file in the host's report, with the reported facts by gate."""

    name: str
    facts: Mapping[str, ReportedFact] = field(default_factory=dict)
    is_plugin: bool = False
    may_be_code: bool = False  # a hook that a plugin's code registers, which a scan does not list

    @property
    def loads(self) -> bool:
        """Whether the host would load it."""
        result = self.facts.get(RESULT)
        return result is not None and result.value is True


Answers = Mapping[str, Any]  # answer name → JSON document: "list", "check", "plugins", "info NAME", …


@dataclass(frozen=True, slots=True)
class ProgramReport:
    """How an installed host reports its hooks, and how its answers are read.

    A host has a command that prints JSON, or a module of its package that finds hooks.
    """

    items: Callable[[Answers], tuple[ReportedItem, ...]]
    own_answers: Callable[[Host, Inventory, Sequence[str]], Answers]  # ours; with `info` of these hooks
    commands: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # answer name → arguments
    info_command: tuple[str, ...] = ()  # with {name}
    agent_flag: str = ""  # chooses an agent
    module: str = ""  # below its package
    function: str = ""  # of that module: ({agentRoot, appRoot}) → its discovery
    state_entries: tuple[str, ...] = ()  # below the state folder: what the report depends on
    workspace_entries: tuple[str, ...] = ()  # of the workspace; empty: all of it
