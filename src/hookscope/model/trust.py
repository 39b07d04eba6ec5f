"""The folder whose trust a hook needs, the trusted folders, and folders too broad to trust."""

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
FEW_FOLDERS = 8  # up to this many, a loop is faster
ROOT_REASON, HOME_REASON = "it is the root of all folders", "it is a home folder"
ABOVE_HOME_REASON, ABOVE_WORKSPACE_REASON = "it contains a home folder", "it contains the workspace"


@dataclass(frozen=True, slots=True)
class TrustTarget:
    """A folder to trust, with links resolved."""

    folder: Path
    refusal_reason: str = ""  # why it is too broad; empty: it is not

    def command(self, short: Callable[[Path], str]) -> str:
        """Return the command that trusts it. `short` formats paths."""
        option = f" {EVERYTHING_BELOW}" if self.refusal_reason else ""
        return f"hookscope trust{option} {shell_path(self.path_text(short))}"

    def path_text(self, short: Callable[[Path], str]) -> str:
        """Return the folder for display; in full if it is refused, as `.` or `~` is unclear."""
        return str(self.folder) if self.refusal_reason else short(self.folder)

    def allow_hint(self, short: Callable[[Path], str]) -> str:
        """Return what allows its handlers to run, without a full stop."""
        if self.refusal_reason:
            why = f"{self.folder} is too broad to trust, since {self.refusal_reason}"
            return f"{why}: only `{self.command(short)}` allows it"
        return f"`{self.command(short)}` allows it to run"


@dataclass(frozen=True, slots=True)
class _BroadFolders:
    """Folders that are too broad, with the reason, by path and by identity."""

    paths: Mapping[Path, str]
    identities: Mapping[tuple[int, int], str]

    def reason_for(self, folder: Path) -> str:
        """Return why this folder is too broad, or ""."""
        if folder in self.paths:
            return self.paths[folder]
        known = file_identity(folder)  # another spelling, or a bind mount
        return self.identities.get(known, "") if known is not None else ""


def too_broad_reason(folder: Path, host: Host, *, above_workspace: bool = True) -> str:
    """Return why a real path is too broad to trust without `--everything-below`, or "".

    An embedding program decides for itself: no folder is too broad for it.
    """
    if host.trust.homes is None:
        return ""
    broad = host.cached((_BroadFolders, above_workspace), lambda: _broad_folders(host, above_workspace))
    return host.cached((_BroadFolders, folder, above_workspace), lambda: broad.reason_for(folder))


def _broad_folders(host: Host, above_workspace: bool) -> _BroadFolders:
    paths: dict[Path, str] = {}
    for path, why in _reasons_by_folder(host, above_workspace):
        paths.setdefault(path, why)
    identities: dict[tuple[int, int], str] = {}
    for path, why in paths.items():
        identity = file_identity(path)
        if identity is not None:
            identities.setdefault(identity, why)
    return _BroadFolders(paths, identities)


def _reasons_by_folder(host: Host, above_workspace: bool) -> Iterator[tuple[Path, str]]:
    """Yield each folder that is too broad, with the reason; the plainest reason first."""
    machine = host.machine
    homes = [
        spelling
        for home in (*(host.trust.homes or ()), machine.home)
        for spelling in _path_spellings(home, host)
    ]
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
    """Return a path as written and with its links resolved."""
    absolute = host.machine.absolute(path)
    return tuple(dict.fromkeys((absolute, host.machine.files.real(absolute))))


def trusted_folders(host: Host) -> frozenset[Path]:
    """Return the recorded folders that are in effect.

    A folder that is too broad counts only if the user allowed everything below it. A folder that
    contains the workspace does not count if an older version recorded it, which did not check this.
    """
    trust = host.trust
    if trust.homes is None:
        return trust.folders

    def is_in_effect(folder: Path) -> bool:
        is_unchecked = folder in trust.unchecked
        return folder in trust.everything_below or not too_broad_reason(
            folder, host, above_workspace=is_unchecked
        )

    return host.cached(trusted_folders, lambda: frozenset(filter(is_in_effect, trust.folders)))


def is_folder_trusted(folder: Path, host: Host) -> bool:
    """Return whether code in this folder, a real path, may run."""
    if host.trust.everything and not too_broad_reason(folder, host):
        return True
    trusted = trusted_folders(host)
    if len(trusted) > FEW_FOLDERS:  # a set lookup instead of a loop
        return folder in trusted or not trusted.isdisjoint(folder.parents)
    return any(is_within(folder, one) for one in trusted)


def is_hook_trusted(hook: Hook, host: Host) -> bool:
    """Return whether the real folder of its handler is trusted."""
    folder = _handler_folder(hook)
    return folder is not None and is_folder_trusted(folder, host)


def _handler_folder(hook: Hook) -> Path | None:
    return hook.leads_out.parent if hook.leads_out is not None else hook.real


def trust_target(hook: Hook, host: Host) -> TrustTarget:
    """Return the folder to trust so that this hook may run.

    It is the hooks folder, or a link's target; the hook's own folder if the hooks folder is too broad.
    """
    folder, parent = _handler_folder(hook), hook.folder.real
    if folder is None:
        return folder_target(hook.folder.path, host)
    if hook.leads_out is not None or parent is None or folder.parent != parent:
        return _target(folder, host)
    hooks_folder = _target(parent, host)
    own = _target(folder, host) if hooks_folder.refusal_reason else hooks_folder
    return hooks_folder if own.refusal_reason else own


def folder_target(folder: Path, host: Host) -> TrustTarget:
    """Return a folder to trust, with links resolved."""
    return _target(host.machine.files.real(host.machine.absolute(folder)), host)


def _target(real: Path, host: Host) -> TrustTarget:
    """Return the target of a folder, cached for all hooks in it."""
    return host.cached((TrustTarget, real), lambda: TrustTarget(real, too_broad_reason(real, host)))
