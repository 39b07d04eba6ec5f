"""What a user is asked to allow: a folder, its handlers, and the programs it chooses."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.core.hooks import LANGUAGE_OF
from hookscope.core.trust import TrustTarget, allows
from hookscope.values import dataclass
from hookscope.workbench.named_programs import NamedProgram, programs_allowed_by

if TYPE_CHECKING:
    from hookscope.workbench.view import View

MOST_FOLDERS = 5_000  # that are searched for handlers
SKIPPED = frozenset({".git", "node_modules", "__pycache__"})
MANIFEST = "HOOK.md"
HANDLER_NAMES = frozenset({"handler", "index"})


@dataclass(frozen=True, slots=True)
class TrustRequest:
    """What the user allows who trusts a folder. Every question about trust is made of this."""

    target: TrustTarget
    handlers: int  # below the folder, found and not allowed to run so far
    more: bool = False  # the search ended before it had seen every folder
    programs: tuple[NamedProgram, ...] = ()  # that the workspace names, and that would run handlers

    @property
    def folder(self) -> Path:
        """The real folder."""
        return self.target.folder

    @property
    def refused(self) -> str:
        """Why it is too wide to be trusted; empty where it may be."""
        return self.target.refused

    @property
    def counted(self) -> str:
        """The handlers that would be allowed, in words."""
        if self.more:
            return f"{self.handlers} or more handlers"
        return "1 handler" if self.handlers == 1 else f"{self.handlers} handlers"

    @property
    def question(self) -> str:
        """The question on a terminal."""
        verb = "has" if self.handlers == 1 and not self.more else "have"
        named = " and ".join(one.in_words for one in self.programs)
        programs = f" The workspace runs them with {named}." if named else ""
        return (
            f"{self.counted} in {self.folder} and below {verb} never run here.{programs} "
            f"Trust this folder and everything below it?"
        )


def trust_request(view: View, target: TrustTarget) -> TrustRequest:
    """What trust in this folder would allow. Reads the names of files below it and nothing else.

    Links are not followed: what they lead to is not below the folder.
    """
    found, more = _handlers_below(target.folder)
    files = view.host.surroundings.files
    waiting = (files.real(hook.handler) for hook, _ in view.waiting if hook.handler is not None)
    found |= {path for path in waiting if path.is_relative_to(target.folder)}
    allowed = {folder for folder in {path.parent for path in found} if allows(folder, view.host)}
    programs = programs_allowed_by(target.folder, view.programs)
    return TrustRequest(target, sum(path.parent not in allowed for path in found), more, programs)


def trust_requests(view: View, targets: Sequence[TrustTarget]) -> tuple[TrustRequest, ...]:
    """What trust in each of these folders would allow."""
    return tuple(trust_request(view, target) for target in targets)


def _handlers_below(folder: Path) -> tuple[set[Path], bool]:
    """The handlers of all hook folders and stream folders below; whether there may be more."""
    found: set[Path] = set()
    for number, (path, folders, names) in enumerate(os.walk(folder)):
        if number == MOST_FOLDERS:
            return found, True
        folders[:] = [name for name in folders if name not in SKIPPED]
        found.update(Path(path, name) for name in _handlers_among(Path(path), names))
    return found, False


def _handlers_among(folder: Path, names: Sequence[str]) -> Iterator[str]:
    modules = [name for name in names if os.path.splitext(name)[1] in LANGUAGE_OF]
    if MANIFEST in names:  # its host takes the first
        yield from sorted(name for name in modules if os.path.splitext(name)[0] in HANDLER_NAMES)[:1]
    elif _is_of_streams(folder):
        yield from modules


def _is_of_streams(folder: Path) -> bool:
    return any(path.name == "hooks" and path.parent.name == "agent" for path in (folder, *folder.parents))
