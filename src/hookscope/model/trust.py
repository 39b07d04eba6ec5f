"""Which folder a hook needs trust in, which folders are trusted, and which are too wide to be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.model.machine import file_identity, is_within
from hookscope.model.text import shell_path
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.model.hook import Hook
    from hookscope.model.host import Host

EVERYTHING_BELOW = "--everything-below"
FEW_FOLDERS = 8  # as many are compared faster one by one
ROOT_REASON, HOME_REASON = "it is the root of all folders", "it is a home folder"
ABOVE_HOME_REASON, ABOVE_WORKSPACE_REASON = "a home folder lies in it", "the workspace lies in it"


@dataclass(frozen=True, slots=True)
class TrustTarget:
    """A folder to trust, with links resolved."""

    folder: Path
    refused: str = ""  # why it is too wide to be trusted; empty: it may be

    def command(self, short: Callable[[Path], str]) -> str:
        """The command that trusts it. `short` is how paths are written."""
        option = f" {EVERYTHING_BELOW}" if self.refused else ""
        return f"hookscope trust{option} {shell_path(self.shown(short))}"

    def shown(self, short: Callable[[Path], str]) -> str:
        """The folder for people: in full where it is refused, since `.` or `~` says too little there."""
        return str(self.folder) if self.refused else short(self.folder)

    def offer(self, short: Callable[[Path], str]) -> str:
        """What allows its handlers to run, without a full stop."""
        if self.refused:
            why = f"{self.folder} is too wide to trust, since {self.refused}"
            return f"{why}: only `{self.command(short)}` allows it"
        return f"`{self.command(short)}` allows it to run"


@dataclass(frozen=True, slots=True)
class _WideFolders:
    """The folders that are too wide, with the reason, by path and by what the path leads to."""

    paths: Mapping[Path, str]
    identities: Mapping[tuple[int, int], str]

    def why(self, folder: Path) -> str:
        """Why this folder is too wide; empty where it is not."""
        if folder in self.paths:
            return self.paths[folder]
        known = file_identity(folder)  # another spelling, or a bind mount
        return self.identities.get(known, "") if known is not None else ""


def too_wide_reason(folder: Path, host: Host, *, above_workspace: bool = True) -> str:
    """Why a folder, a real path, is not trusted unless with everything below it; empty where it may be.

    An embedding program decides for itself: nothing is too wide for it.
    """
    if host.trust.homes is None:
        return ""
    key = ("too wide", folder, above_workspace)
    if key not in host.known:
        host.known[key] = _known_wide_folders(host, above_workspace).why(folder)
    return str(host.known[key])


def _known_wide_folders(host: Host, above_workspace: bool) -> _WideFolders:
    key = ("wide folders", above_workspace)
    if key not in host.known:
        paths: dict[Path, str] = {}
        for path, why in _wide_folders(host, above_workspace):
            paths.setdefault(path, why)
        identities: dict[tuple[int, int], str] = {}
        for path, why in paths.items():
            identity = file_identity(path)
            if identity is not None:
                identities.setdefault(identity, why)
        host.known[key] = _WideFolders(paths, identities)
    wide: _WideFolders = host.known[key]
    return wide


def _wide_folders(host: Host, above_workspace: bool) -> Iterator[tuple[Path, str]]:
    """What is refused, the plainest reason first."""
    here = host.surroundings
    homes = [way for home in (*(host.trust.homes or ()), here.home) for way in _path_spellings(home, host)]
    workspaces = _path_spellings(host.workspace, host) if above_workspace else ()
    for path in (*homes, *workspaces):
        yield Path(path.anchor), ROOT_REASON
    for path in homes:
        yield path, HOME_REASON
    for path in homes:
        yield from ((parent, ABOVE_HOME_REASON) for parent in path.parents)
    for path in workspaces:
        yield from ((parent, ABOVE_WORKSPACE_REASON) for parent in path.parents)


def _path_spellings(path: Path, host: Host) -> tuple[Path, ...]:
    """A path as it is written and with its links resolved."""
    absolute = host.surroundings.absolute(path)
    return tuple(dict.fromkeys((absolute, host.surroundings.files.real(absolute))))


def trusted_folders(host: Host) -> frozenset[Path]:
    """The recorded folders that count.

    A record that is too wide counts only where everything below it was allowed by that name. One of a
    version that did not check this may not lie above the workspace either.
    """
    trust = host.trust
    if trust.homes is None:
        return trust.folders
    key = "honoured trust"
    if key not in host.known:
        host.known[key] = frozenset(
            folder
            for folder in trust.folders
            if folder in trust.everything_below
            or not too_wide_reason(folder, host, above_workspace=folder in trust.unchecked)
        )
    folders: frozenset[Path] = host.known[key]
    return folders


def is_folder_trusted(folder: Path, host: Host) -> bool:
    """May what lies right in this folder, a real path, run."""
    if host.trust.everything and not too_wide_reason(folder, host):
        return True
    trusted = trusted_folders(host)
    if len(trusted) > FEW_FOLDERS:  # a set knows, without asking each
        return folder in trusted or not trusted.isdisjoint(folder.parents)
    return any(is_within(folder, one) for one in trusted)


def is_hook_trusted(hook: Hook, host: Host) -> bool:
    """Is the folder trusted in which its handler really lies."""
    place = _handler_folder(hook)
    return place is not None and is_folder_trusted(place, host)


def _handler_folder(hook: Hook) -> Path | None:
    return hook.leads_out.parent if hook.leads_out is not None else hook.real


def trust_target(hook: Hook, host: Host) -> TrustTarget:
    """The folder to trust so that this hook may run: its hooks folder, or where a link leads to.

    Where the hooks folder is too wide, the hook's own folder.
    """
    place, parent = _handler_folder(hook), hook.folder.real
    if place is None:
        return folder_target(hook.folder.path, host)
    if hook.leads_out is not None or parent is None or place.parent != parent:
        return _target(place, host)
    whole = _target(parent, host)
    own = _target(place, host) if whole.refused else whole
    return whole if own.refused else own


def folder_target(folder: Path, host: Host) -> TrustTarget:
    """A folder to trust, links resolved."""
    return _target(host.surroundings.files.real(host.surroundings.absolute(folder)), host)


def _target(real: Path, host: Host) -> TrustTarget:
    """One for all hooks that share a folder."""
    key = ("trust target", real)
    if key not in host.known:
        host.known[key] = TrustTarget(real, too_wide_reason(real, host))
    target: TrustTarget = host.known[key]
    return target
