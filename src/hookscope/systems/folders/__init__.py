"""Hooks that are folders: a HOOK.md that says what they listen to, and a handler beside it.

The way: discovery (which folders are hooks) → ranking (who wins a name) → gates (what stands between
a winner and running). `FolderSystem` puts the chosen functions together; dialects make one each.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from hookscope.core.dialect import Arranged, Dialect, Host
from hookscope.core.hooks import Folder, Hook, Problem
from hookscope.core.inventory import Found, Ranking
from hookscope.core.runs import Event, EventKind, Group, NotRun, Policy, Registration
from hookscope.core.standing import Gate
from hookscope.systems.folders.discovery import find_hooks
from hookscope.systems.folders.gates import GateRule, gates_of
from hookscope.systems.folders.legacy import LegacyRule, legacy_hooks
from hookscope.systems.folders.policy import ErrorText, SharedEvent, Words, own_text
from hookscope.systems.folders.ranking import ranking_of
from hookscope.systems.folders.shapes import FolderShape, FolderTexts
from hookscope.systems.folders.wrong_settings import wrong_settings
from hookscope.values import dataclass

Places = Callable[[Host], tuple[tuple[Folder, ...], tuple[Problem, ...]]]
Finder = Callable[[Host, FolderShape, FolderTexts, Iterable[Hook]], Found]
Ranker = Callable[[Found], Ranking]


@dataclass(frozen=True, slots=True)
class FolderSystem:
    """HOOK.md folders under one dialect's rules. Implements core's System."""

    shape: FolderShape
    places: Places
    rules: Mapping[str, GateRule]  # name → check, in the order of showing
    always_skips: frozenset[str]  # the checks that `always: true` skips
    error_text: ErrorText
    texts: FolderTexts = FolderTexts()
    legacy: LegacyRule | None = None
    failed_text: str | None = None  # said at the end of an event whose handlers failed: {count}
    type_first: bool = False  # does `command` go before `command:new`
    reports_by_rank: bool = False
    words: Words = own_text  # what the host prints of a handler's error
    finder: Finder = find_hooks
    ranker: Ranker | None = None  # in place of the highest folder, then the last

    @property
    def kind(self) -> EventKind:
        return "folder"

    def folders(self, host: Host) -> tuple[tuple[Folder, ...], tuple[Problem, ...]]:
        folders, problems = self.places(host)
        if host.dialect.settings_rules.check is not None:  # then wrong ones are refused, not passed over
            return folders, problems
        return folders, wrong_settings(host) + problems

    def find(self, host: Host) -> Found:
        return self.finder(host, self.shape, self.texts, legacy_hooks(host, self.legacy))

    def rank(self, found: Found) -> Ranking:
        if self.ranker is not None:
            return self.ranker(found)
        return ranking_of(found, reports_by_rank=self.reports_by_rank)

    def gates(self, hook: Hook, host: Host) -> tuple[Gate, ...]:
        return gates_of(hook, host, self.rules, self.always_skips)

    def keys(self, event: Event) -> tuple[str, ...]:
        exact = f"{event.type}:{event.action}"  # `command:` for no action, which a hook may name so
        return (event.type, exact) if self.type_first else (exact, event.type)

    def arrange(self, event: Event, heard: Sequence[Registration]) -> Arranged:
        left_out = {call: why for call in heard if call.hook and (why := call.hook.meta.barred.get(call.key))}
        called = tuple(call for call in heard if call not in left_out)
        not_run = (NotRun(call.name, why, call.hook) for call, why in left_out.items())
        return Arranged((Group(called),) if called else (), tuple(not_run))

    def decisive(self, event: Event) -> tuple[str, str]:
        """Not its key: `command` with the action `new:x` and `command:new` with `x` have the same."""
        return event.type, event.action

    def prepare(self, event: Event, host: Host, entropy: bytes) -> Event:
        return event

    def policy(self, event: Event) -> Policy:
        return SharedEvent(self.error_text, event.key, failed_text=self.failed_text, words=self.words)


def folder_system_of(dialect: Dialect) -> FolderSystem:
    """The folder hooks of a dialect, for a newer version to start from. Raises LookupError for none."""
    system = dialect.system_of("folder")
    if not isinstance(system, FolderSystem):
        raise LookupError(f"{dialect.name} has no HOOK.md folders")
    return system
