"""The record of installed taps in the state folder, and plans without them.

Only recorded files are ever removed.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from hookscope.model.failure import Refusal
from hookscope.model.hook import Hook
from hookscope.model.hook_event import from_iso, iso
from hookscope.model.machine import path_from_text, path_to_text
from hookscope.model.run import CallGroup, EventKind, NotRun, Plan
from hookscope.model.text import error_reason
from hookscope.storage.state_files import merged_state, state_folder, state_members
from hookscope.values import dataclass

TAP_NAME = "event-tap"  # of every tap; that of plugin hooks goes on, since plugins are switched by name too
TAP_KINDS: tuple[EventKind, ...] = ("folder", "stream", "plugin")
TAPS_MEMBER = "taps"  # what its file has
PATIENCE = 10  # seconds to wait for another of our processes


@dataclass(frozen=True, slots=True)
class InstalledTap:
    """A tap as it was written."""

    at: datetime  # since when it stands there, in whatever version
    kind: EventKind
    language: str
    name: str  # of the hook or plugin
    events: tuple[str, ...]  # what it asks for
    files: Mapping[Path, str]  # SHA-256 of what was written
    created_folders: tuple[Path, ...]  # the folders that were not there before
    spool: Path


@dataclass(frozen=True, slots=True)
class InstalledTaps:
    """`installed.json`: a tap's root → what was written. Merged by key under a lock, replaced atomically."""

    file: Path

    @property
    def lock(self) -> Path:
        """The lock for users' files: none may stay in a host's folders."""
        return self.file.with_name("files.lock")

    def all(self) -> Mapping[Path, InstalledTap]:
        """Return all records; none if the file is unreadable."""
        found = {
            path_from_text(root): _tap_from_document(entry)
            for root, entry in state_members(self.file, TAPS_MEMBER).items()
        }
        return {root: entry for root, entry in found.items() if entry is not None}

    def put(self, root: Path, entry: InstalledTap | None) -> None:
        """Record a tap, or its removal. Raises Refusal if that fails."""
        try:
            with merged_state(self.file, TAPS_MEMBER, patience=PATIENCE) as members:
                members[TAPS_MEMBER].pop(path_to_text(root), None)
                if entry is not None:
                    members[TAPS_MEMBER][path_to_text(root)] = _document(entry)
        except OSError as error:
            raise Refusal(
                f"Cannot record the tap in {self.file}: {error_reason(error)}.",
                "HOOKSCOPE_STATE_DIR names another folder.",
            ) from None


def is_tap(hook: Hook, modules: Collection[Path]) -> bool:
    """Return True if the hook is a tap with one of these modules, whose paths may have links resolved."""
    if hook.handler is None or not hook.name.rpartition("/")[2].startswith(TAP_NAME):
        return False
    real = os.path.realpath(hook.handler)
    return hook.handler in modules or any(os.path.realpath(module) == real for module in modules)


def installed_taps_record() -> InstalledTaps:
    """Return the record file of installed taps."""
    return InstalledTaps(state_folder() / "tap" / "installed.json")


def _document(entry: InstalledTap) -> dict[str, Any]:
    return {
        "at": iso(entry.at),
        "kind": entry.kind,
        "language": entry.language,
        "name": entry.name,
        "events": list(entry.events),
        "files": {path_to_text(path): digest for path, digest in entry.files.items()},
        "made": [path_to_text(path) for path in entry.created_folders],
        "spool": path_to_text(entry.spool),
    }


def _tap_from_document(entry: Any) -> InstalledTap | None:
    try:
        return InstalledTap(
            at=from_iso(entry["at"]),
            kind=TAP_KINDS[TAP_KINDS.index(entry["kind"])],
            language=str(entry["language"]),
            name=str(entry["name"]),
            events=tuple(map(str, entry["events"])),
            files={path_from_text(path): str(digest) for path, digest in entry["files"].items()},
            created_folders=tuple(map(path_from_text, entry["made"])),
            spool=path_from_text(entry["spool"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None  # written by somebody else


TAP_SKIPPED = "left out: a tap records what its host sends, and this is not that"


def without_taps(plan: Plan) -> Plan:
    """Return the plan without installed taps: they need no trust and no worker."""
    installed = installed_taps_record().all()
    if not installed:
        return plan
    modules = frozenset(file for entry in installed.values() for file in entry.files)
    groups = tuple(_without(group, modules) for group in plan.groups)
    gone = [call for call in plan.calls if call.hook is not None and is_tap(call.hook, modules)]
    return replace(
        plan,
        groups=tuple(group for group in groups if group.calls),
        not_run=(
            *(NotRun(call.name, TAP_SKIPPED, call.hook, exclusion="chosen") for call in gone),
            *(
                replace(item, reason=TAP_SKIPPED, exclusion="chosen")
                if item.subscribed and item.hook is not None and is_tap(item.hook, modules)
                else item
                for item in plan.not_run
            ),
        ),
    )


def _without(group: CallGroup, modules: frozenset[Path]) -> CallGroup:
    kept = (call for call in group.calls if call.hook is None or not is_tap(call.hook, modules))
    return replace(group, calls=tuple(kept))
