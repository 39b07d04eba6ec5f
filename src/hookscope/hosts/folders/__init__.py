"""Folder hooks: folders with a HOOK.md and a handler. `FolderSystem` combines the rules of a dialect."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from hookscope.formats.positions import KeyPath, dotted_path
from hookscope.hosts.folders.folder_policy import FailureText, SharedEvent, own_error_text
from hookscope.hosts.folders.hook_discovery import FolderShape, FolderTexts, find_folder_hooks
from hookscope.hosts.folders.legacy_handlers import LegacyRule, legacy_hooks
from hookscope.hosts.folders.manifest import describe_value
from hookscope.hosts.folders.search_paths import rank_hooks
from hookscope.hosts.gates.rules import gates_of
from hookscope.model.event_catalogue import Catalogue
from hookscope.model.hook import Folder, Hook, Problem
from hookscope.model.hook_status import FoundHooks, Gate, GateRule, Ranking
from hookscope.model.host import Arrangement, Dialect, Host
from hookscope.model.run import CallGroup, Event, EventKind, NotRun, Policy, Registration
from hookscope.values import dataclass

SETTING_TYPES = {
    ("enabled",): (bool, "true or false"),
    ("entries",): (Mapping, "a mapping"),
    ("load",): (Mapping, "a mapping"),
    ("handlers",): (list, "a list"),
    ("installs",): (Mapping, "a mapping"),
}
ENTRY_TYPES = {"enabled": (bool, "true or false"), "env": (Mapping, "a mapping of strings")}


def wrong_type_problems(host: Host) -> tuple[Problem, ...]:
    """Return a problem, with its line, for each setting below the hooks settings that has the wrong type."""
    problems: dict[KeyPath, Problem] = {}
    for base in host.dialect.layout.hooks:
        for path, expected, value in _wrong_below(base, host):
            problems.setdefault(path, _problem(path, expected, value, host))
    return tuple(problems.values())


def _wrong_below(base: KeyPath, host: Host) -> Iterator[tuple[KeyPath, str, Any]]:
    for length in range(1, len(base) + 1):
        block = host.settings.get(base[:length])
        if block is not None and not isinstance(block, Mapping):
            yield base[:length], "a mapping", block
            return
    if block is not None:
        yield from _wrong(base, block)


def _wrong(base: KeyPath, block: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str, Any]]:
    for path, (kind, expected) in SETTING_TYPES.items():
        value = block.get(path[0])
        if value is not None and not isinstance(value, kind):
            yield (*base, *path), expected, value
    entries = block.get("entries")
    for key, entry in entries.items() if isinstance(entries, Mapping) else ():
        if not isinstance(entry, Mapping):
            yield (*base, "entries", key), "a mapping", entry
            continue
        for name, (kind, expected) in ENTRY_TYPES.items():
            value = entry.get(name)
            if value is not None and not isinstance(value, kind):
                yield (*base, "entries", key, name), expected, value
        env = entry.get("env")
        for name, value in env.items() if isinstance(env, Mapping) else ():
            if not isinstance(value, str):
                yield (*base, "entries", key, "env", name), "a string", value


def _problem(path: KeyPath, expected: str, value: object, host: Host) -> Problem:
    text = f"{dotted_path(path)} is ignored: it must be {expected}, not {describe_value(value)}"
    return Problem(text, host.settings.place_of(path))


Places = Callable[[Host], tuple[tuple[Folder, ...], tuple[Problem, ...]]]
HookFinder = Callable[[Host, FolderShape, FolderTexts, Iterable[Hook]], FoundHooks]
HookRanker = Callable[[FoundHooks], Ranking]


@dataclass(frozen=True, slots=True)
class FolderSystem:
    """HOOK.md folders under the rules of one dialect. Implements `HookSystem`."""

    shape: FolderShape
    search_paths: Places
    rules: Mapping[str, GateRule]  # name → rule, in display order
    always_skips: frozenset[str]  # the gates that `always: true` skips
    error_text: str  # the host's line about a failed handler: {key} {event} {message}
    texts: FolderTexts = FolderTexts()
    legacy_rule: LegacyRule | None = None
    failure_summary: str | None = None  # logged after an event whose handlers failed: {count}
    type_first: bool = False  # whether `command` precedes `command:new`
    reports_by_rank: bool = False
    failure_text: FailureText = own_error_text  # the host's text of a handler's error
    finder: HookFinder = find_folder_hooks
    ranker: HookRanker | None = None  # instead of ranking by folder, then by order
    catalogue: Callable[[], Catalogue] = Catalogue  # set by the dialect

    @property
    def kind(self) -> EventKind:
        return "folder"

    def folders(self, host: Host) -> tuple[tuple[Folder, ...], tuple[Problem, ...]]:
        folders, problems = self.search_paths(host)
        if host.dialect.settings_rules.check is not None:  # refused, not ignored
            return folders, problems
        return folders, wrong_type_problems(host) + problems

    def find(self, host: Host) -> FoundHooks:
        return self.finder(host, self.shape, self.texts, legacy_hooks(host, self.legacy_rule))

    def rank(self, found: FoundHooks) -> Ranking:
        if self.ranker is not None:
            return self.ranker(found)
        return rank_hooks(found, reports_by_rank=self.reports_by_rank)

    def gates(self, hook: Hook, host: Host) -> tuple[Gate, ...]:
        return gates_of(hook, host, self.rules, self.always_skips)

    def keys(self, event: Event) -> tuple[str, ...]:
        exact = f"{event.type}:{event.action}"  # `command:` without an action, which a hook may subscribe to
        return (event.type, exact) if self.type_first else (exact, event.type)

    def arrange(self, event: Event, registrations: Sequence[Registration]) -> Arrangement:
        excluded = {
            call: reason
            for call in registrations
            if call.hook and (reason := call.hook.meta.excluded_events.get(call.key))
        }
        called = tuple(call for call in registrations if call not in excluded)
        not_run = (NotRun(call.name, reason, call.hook) for call, reason in excluded.items())
        return Arrangement((CallGroup(called),) if called else (), tuple(not_run))

    def plan_key(self, event: Event) -> tuple[str, str]:
        """Return the event's type and action, because its key is ambiguous.

        `command` with the action `new:x` has the same key as `command:new` with the action `x`.
        """
        return event.type, event.action

    def prepare(self, event: Event, host: Host, entropy: bytes) -> Event:
        return event

    def policy(self, event: Event) -> Policy:
        known = self.catalogue().by_key.get(event.key)
        return SharedEvent(
            self.error_text,
            event.key,
            failure_summary=self.failure_summary,
            failure_text=self.failure_text,
            reads_changes=known is None or known.awaited,
        )


def folder_system_of(dialect: Dialect) -> FolderSystem:
    """Return a dialect's folder system, to derive another version. Raises LookupError if it has none."""
    system = dialect.system_of("folder")
    if not isinstance(system, FolderSystem):
        raise LookupError(f"{dialect.name} has no HOOK.md folders")
    return system
