"""Hooks that wait for trust or cannot run, and what trusting a folder allows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.app.project_config import NamedProgram, programs_allowed_by
from hookscope.engine.discovery import PRECEDENCE, discover
from hookscope.engine.examination import handler_digest
from hookscope.model.hook import LANGUAGE_OF
from hookscope.model.hook_status import HookStatus, State
from hookscope.model.host import Host
from hookscope.model.machine import walk_folders
from hookscope.model.run import Plan
from hookscope.model.trust import TrustTarget, folder_target, is_folder_trusted, trust_target
from hookscope.recording.taps import TAP_SKIPPED
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.model.machine import Machine


def waiting_for_trust(view: Snapshot, plan: Plan) -> tuple[TrustTarget, ...]:
    """Return the folders to trust so that all subscribers of this plan run."""
    not_run = (item for item in plan.not_run if item.subscribed and not item.exclusion)
    hooks = (item.hook for item in not_run if item.reason != TAP_SKIPPED)
    rows = [view.status_of(hook) for hook in hooks if hook is not None]
    return _trust_targets_in(view, [row for row in rows if row is not None])


def _trust_targets_in(view: Snapshot, rows: Iterable[HookStatus]) -> tuple[TrustTarget, ...]:
    """Return the folders of untrusted hooks, and workspaces whose untrusted interpreter hooks need."""
    programs, found = view.untrusted_programs, dict[TrustTarget, None]()
    for row in rows:
        waits = row.state is State.UNTRUSTED
        if waits:
            found[trust_target(row.hook, view.host)] = None
        if row.hook.language in programs and (waits or row.state is State.READY):
            found[folder_target(programs[row.hook.language].workspace, view.host)] = None
    return topmost_targets(tuple(found)) if programs else tuple(found)


def trust_targets(row: HookStatus, view: Snapshot) -> tuple[TrustTarget, ...]:
    """Return what must be trusted for one hook to run; empty if nothing is missing."""
    own = (trust_target(row.hook, view.host),) if row.awaits_trust else ()
    return topmost_targets((*own, *_trust_targets_in(view, [row])))


def untrusted_program_messages(view: Snapshot) -> tuple[str, ...]:
    """Return a sentence for each program that the workspace names and that is not trusted yet."""
    waiting = dict.fromkeys(view.untrusted_programs.values())
    return tuple(f"{one.untrusted_reason}; {one.trust_hint}." for one in waiting)


def topmost_targets(targets: Sequence[TrustTarget]) -> tuple[TrustTarget, ...]:
    """Return the targets that are not inside another target, which covers them."""
    folders = [target.folder for target in targets]
    return tuple(
        target
        for target in dict.fromkeys(targets)
        if not any(folder in target.folder.parents for folder in folders)
    )


def trust_next_steps(view: Snapshot, plan: Plan) -> tuple[str, ...]:
    """Return the next step for each untrusted folder of a plan, without a full stop."""
    short = view.host.machine.short
    return tuple(
        target.allow_hint(short)
        if target.refusal_reason
        else f"{short(target.folder)} is not trusted: {target.allow_hint(short)}"
        for target in waiting_for_trust(view, plan)
    )


def untrusted_messages(
    targets: Iterable[TrustTarget], machine: Machine, *, alternative: str = ""
) -> list[str]:
    """Return a sentence for each folder whose handlers did not run, with the next step.

    `alternative`: another next step, omitted for a folder that is too broad to trust.
    """
    return [
        f"Handlers in {target.path_text(machine.short)} did not run: "
        + (
            f"the folder is too broad to trust, since {target.refusal_reason}. "
            f"`{target.command(machine.short)}` allows it from now on."
            if target.refusal_reason
            else f"the folder is not trusted. "
            f"`{target.command(machine.short)}` allows it from now on{alternative}."
        )
        for target in targets
    ]


def untrusted_folders(view: Snapshot) -> tuple[TrustTarget, ...]:
    """Return all folders whose hooks wait only for trust."""
    return _trust_targets_in(view, view.inventory.hooks)


def waiting_below(view: Snapshot, folder: Path) -> tuple[tuple[Path, TrustTarget], ...]:
    """Return the hooks in a trusted folder that still need trust, each with the folder to trust (links)."""
    real_folder = view.host.machine.absolute(folder)
    found = {
        row.hook.path: trust_target(row.hook, view.host)
        for row in view.inventory.hooks
        if row.awaits_trust and row.hook.path is not None and row.hook.path.is_relative_to(real_folder)
    }
    return tuple(found.items())


def cannot_run_messages(view: Snapshot, plan: Plan, *, only: str | None = None) -> tuple[str, ...]:
    """Return a sentence for each handler that should run and cannot: it is broken, no executor runs its
    language, or unreadable settings may switch it off or replace it.

    A hook that is blocked or off is reported only if it is the requested one, `only`.
    """
    unread = view.host.settings.unread_reason
    keys = view.host.dialect.system_of(plan.event.kind).keys(plan.event)
    sentences = []
    for item in plan.not_run:
        row = view.status_of(item.hook) if item.hook is not None else None
        is_subscribed = row is not None and (
            not row.knows_all_events or any(key in keys for key in row.events or ())
        )
        if row is None or not is_subscribed or item.exclusion:
            continue
        state = row.state
        if unread and state is State.BLOCKED:
            sentences.append(f"{unread}; it may switch hooks off, so none ran. Fix it, or move it away.")
            continue
        waits = state is State.UNTRUSTED  # `waiting_for_trust` reports its folder
        is_only = only is not None and item.name == only and state is not State.SHADOWED and not waits
        replaced = any(gate.name == PRECEDENCE.name for gate in row.verdict.failed())
        language_problem = view.unavailable_languages.get(row.hook.language, "")
        language_missing = bool(language_problem) and item.reason.endswith(language_problem)
        if state is State.BROKEN or replaced or language_missing or is_only:
            sentences.append(
                f"{item.name} did not run: {item.reason.rstrip('.')}" + "." * (item.reason[-1:] != "?")
            )
    return tuple(dict.fromkeys(sentences))


MOST_FOLDERS = 5_000  # folders searched for handlers
SKIPPED = frozenset({".git", "node_modules", "__pycache__"})
HOOK_MANIFEST = "HOOK.md"
HANDLER_NAMES = frozenset({"handler", "index"})


@dataclass(frozen=True, slots=True)
class TrustRequest:
    """What trusting a folder would allow. Every question about trust is built from this."""

    target: TrustTarget
    handlers: int  # handlers below the folder that may not run yet
    more: bool = False  # the search stopped early
    programs: tuple[NamedProgram, ...] = ()  # programs that the workspace names to run handlers

    @property
    def folder(self) -> Path:
        """The real folder."""
        return self.target.folder

    @property
    def refused(self) -> str:
        """Why the folder is too broad to be trusted; empty if it may be."""
        return self.target.refusal_reason

    @property
    def handlers_text(self) -> str:
        """The number of handlers that would be allowed, in words."""
        if self.more:
            return f"{self.handlers} or more handlers"
        return "1 handler" if self.handlers == 1 else f"{self.handlers} handlers"

    @property
    def question(self) -> str:
        """The question on a terminal."""
        verb = "has" if self.handlers == 1 and not self.more else "have"
        named = " and ".join(one.description for one in self.programs)
        programs = f" The workspace runs them with {named}." if named else ""
        return (
            f"{self.handlers_text} in {self.folder} and below {verb} never run here.{programs} "
            f"Trust this folder and everything below it?"
        )


def trust_request(view: Snapshot, target: TrustTarget) -> TrustRequest:
    """Return what trusting this folder would allow. Reads only the names of files below it.

    Links are not followed: their targets are not below the folder.
    """
    found, more = _handlers_below(target.folder)
    files = view.host.machine.files
    waiting = (files.real(hook.handler) for hook, _ in view.awaiting_trust if hook.handler is not None)
    found |= {path for path in waiting if path.is_relative_to(target.folder)}
    allowed = {folder for folder in {path.parent for path in found} if is_folder_trusted(folder, view.host)}
    programs = programs_allowed_by(target.folder, view.programs)
    return TrustRequest(target, sum(path.parent not in allowed for path in found), more, programs)


def trust_requests(view: Snapshot, targets: Sequence[TrustTarget]) -> tuple[TrustRequest, ...]:
    """Return what trusting each of these folders would allow."""
    return tuple(trust_request(view, target) for target in targets)


def _handlers_below(folder: Path) -> tuple[set[Path], bool]:
    """Return the handlers in all hook and stream folders below, and whether there may be more."""
    found: set[Path] = set()
    for number, (path, names) in enumerate(walk_folders(folder, SKIPPED.__contains__)):
        if number == MOST_FOLDERS:
            return found, True
        found.update(Path(path, name) for name in _handlers_among(path, names))
    return found, False


def _handlers_among(folder: str, names: Sequence[str]) -> Iterator[str]:
    modules = [name for name in names if os.path.splitext(name)[1] in LANGUAGE_OF]
    if HOOK_MANIFEST in names:  # the host loads only the first
        yield from sorted(name for name in modules if os.path.splitext(name)[0] in HANDLER_NAMES)[:1]
    elif f"{os.sep}agent{os.sep}hooks{os.sep}" in f"{folder}{os.sep}":  # hooks of a stream
        yield from modules


def handler_digests_below(folder: Path, host: Host) -> dict[Path, str]:
    """Return the digests of the handlers that may run once this real folder is trusted."""
    files = host.machine.files
    handlers = [row.hook.handler for row in discover(host).hooks if row.hook.handler is not None]
    inside = [path for path in handlers if files.real(path).is_relative_to(folder)]
    return {path: known for path in inside if (known := handler_digest(path, files)) is not None}
