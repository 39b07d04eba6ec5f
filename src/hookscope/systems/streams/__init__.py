"""Hooks that are modules of an agent: each listens to events of the agent's stream.

The way: agents of the project → their modules (sources, slots) → gates; an event is stamped, arranged into
channel, typed, `*` and dynamic handlers, and observed. `StreamSystem` puts a dialect's choices together.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from hookscope.core.dialect import Arranged, Dialect, Host
from hookscope.core.event_types import EVERY, Catalogue
from hookscope.core.hooks import Folder, Hook, Problem
from hookscope.core.inventory import Found, Ranking
from hookscope.core.runs import Event, EventKind, Policy, Registration
from hookscope.core.standing import Gate
from hookscope.systems.streams.arranging import OUTSIDE, arranged
from hookscope.systems.streams.checking import problems_of
from hookscope.systems.streams.finding import find_hooks, project_folders
from hookscope.systems.streams.gates import gates_of
from hookscope.systems.streams.policy import FailureRule, Observed
from hookscope.systems.streams.session_rules import SessionRules
from hookscope.systems.streams.sources import FileRules, Household
from hookscope.systems.streams.stamping import ContextRule, prepared
from hookscope.values import dataclass

__all__ = [
    "OUTSIDE",
    "ContextRule",
    "FailureRule",
    "FileRules",
    "Household",
    "StreamSystem",
    "problems_of",
    "stream_system_of",
]


@dataclass(frozen=True, slots=True)
class StreamSystem:
    """Modules that listen to a stream, under one dialect's rules. Implements core's System."""

    vocabulary: Callable[[], Catalogue]
    failures: FailureRule
    context: ContextRule
    files: FileRules
    unheard: Mapping[str, str] = field(default_factory=dict)  # event types that reach no hook, and why
    sessions: SessionRules | None = None  # how a session of this version goes
    marks_python: bool = False  # is a Python module marked as one that the host itself would not run

    @property
    def kind(self) -> EventKind:
        return "stream"

    def folders(self, host: Host) -> tuple[tuple[Folder, ...], tuple[Problem, ...]]:
        return project_folders(host, self.files), ()

    def find(self, host: Host) -> Found:
        return find_hooks(host, self.files, marks_python=self.marks_python)

    def rank(self, found: Found) -> Ranking:
        """Nobody wins: of two modules of one slug neither is taken (eve 06)."""
        return Ranking(found.hooks, found.hooks)

    def gates(self, hook: Hook, host: Host) -> tuple[Gate, ...]:
        return gates_of(hook, host)

    def keys(self, event: Event) -> tuple[str, ...]:
        return event.type, EVERY

    def arrange(self, event: Event, heard: Sequence[Registration]) -> Arranged:
        return arranged(event, heard, self.unheard)

    def decisive(self, event: Event) -> None:
        """All of it."""

    def prepare(self, event: Event, host: Host, entropy: bytes) -> Event:
        return prepared(event, host, entropy, self.context)

    def policy(self, event: Event) -> Policy:
        known = self.vocabulary().by_key.get(event.type)
        return Observed(
            self.failures,
            cancellable=known is not None and known.cancellable,
            shows_envelope=self.context.shows_envelope,
            methods=self.context.methods,
            bare=event.type in self.context.dataless and not event.context,
        )


def stream_system_of(dialect: Dialect) -> StreamSystem:
    """The stream hooks of a dialect, for another version to start from. Raises LookupError for none."""
    system = dialect.system_of("stream")
    if not isinstance(system, StreamSystem):
        raise LookupError(f"{dialect.name} has no stream hooks")
    return system
