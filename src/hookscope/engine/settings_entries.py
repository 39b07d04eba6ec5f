"""Host settings on single hooks: recorded installs, and entries without a hook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from hookscope.formats.positions import KeyPath
from hookscope.hosts.gates.evidence import similar_among
from hookscope.model.hook import FilePosition, Hook
from hookscope.model.hook_status import Inventory
from hookscope.model.host import Host
from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class HostInstall:
    """One pack in the host's own record (guide 004, "HookInstallRecord")."""

    id: str
    source: str = ""  # npm, path, archive
    spec: str = ""
    version: str = ""
    hooks: tuple[str, ...] = ()
    folder: Path | None = None
    place: FilePosition | None = None

    @property
    def origin(self) -> str:
        """The source of the pack, for display."""
        parts = (self.source, self.spec, self.version if not self.spec.endswith(f"@{self.version}") else "")
        return " ".join(part for part in parts if part) or "an unknown source"


def host_installs(host: Host) -> tuple[HostInstall, ...]:
    """Return the host's install record, in order; empty if its settings have none that it reads."""
    known: tuple[HostInstall, ...] | None = host.known.get(host_installs)
    if known is None:
        listed, where = host.hooks_setting("installs")
        rows = listed.items() if isinstance(listed, Mapping) and not host.settings.refusal else ()
        known = tuple(_read_install(str(key), value, where, host) for key, value in rows)
        host.known[host_installs] = known
    return known


def recorded_install(hook: Hook, host: Host) -> HostInstall | None:
    """Return the first recorded pack that installed this hook, or None."""
    index: _InstallIndex | None = host.known.get(_InstallIndex)
    if index is None:
        index = host.known[_InstallIndex] = _InstallIndex.of(host_installs(host))
    return index.find(hook)


@dataclass(frozen=True, slots=True)
class _InstallIndex:
    """The pack of each hook by position in the record; the first one wins."""

    rows: tuple[HostInstall, ...]
    folders: Mapping[Path, int]
    names: Mapping[str, int]  # hooks of packs without a folder
    all_names: Mapping[str, int]

    @staticmethod
    def of(rows: tuple[HostInstall, ...]) -> _InstallIndex:
        folders: dict[Path, int] = {}
        names: dict[str, int] = {}
        all_names: dict[str, int] = {}
        for number, row in enumerate(rows):
            if row.folder is not None:
                folders.setdefault(row.folder, number)
            for name in row.hooks:
                all_names.setdefault(name, number)
                if row.folder is None:
                    names.setdefault(name, number)
        return _InstallIndex(rows, folders, names, all_names)

    def find(self, hook: Hook) -> HostInstall | None:
        """Return the first pack whose folder contains the hook, or that lists the hook's name.

        The name counts for packs without a folder; if the hook has no path, for all packs.
        """
        if not self.rows:
            return None
        numbers = []
        if hook.path is not None:
            above = (hook.path, *hook.path.parents)
            numbers = [self.folders[path] for path in above if path in self.folders]
        names = self.all_names if hook.path is None else self.names
        if hook.kind == "folder" and hook.name in names:
            numbers.append(names[hook.name])
        return self.rows[min(numbers)] if numbers else None


def _read_install(key: str, value: object, where: KeyPath, host: Host) -> HostInstall:
    place = host.settings.locate((*where, key))
    if not isinstance(value, Mapping):
        return HostInstall(key, place=place)

    def text(*names: str) -> str:
        found = (value.get(name) for name in names)
        return next((one for one in found if isinstance(one, str) and one), "")

    folder, hooks = text("installPath"), value.get("hooks")
    return HostInstall(
        key,
        text("source"),
        text("resolvedSpec", "spec", "sourcePath"),
        text("resolvedVersion", "version"),
        tuple(one for one in hooks if isinstance(one, str)) if isinstance(hooks, list) else (),
        host.machine.absolute(folder) if folder else None,
        place,
    )


# an entry with these was meant to define a hook
HOOK_MEMBERS = ("handler", "module", "path", "events", "event")


@dataclass(frozen=True, slots=True)
class OrphanedEntry:
    """A settings entry without a hook."""

    key: str
    path: KeyPath  # in the settings
    place: FilePosition | None
    closest_keys: tuple[str, ...] = ()  # similar keys of hooks
    hook_members: tuple[str, ...] = ()  # members that look like a hook definition

    @property
    def setting(self) -> str:
        """The dotted path of the entry."""
        return ".".join(map(str, self.path))

    @property
    def advice(self) -> str:
        """The next step."""
        if self.closest_keys:
            return f"did you mean {self.closest_keys[0]}?"
        if self.hook_members:
            members = " and ".join(self.hook_members)
            return f"{members} in an entry define no hook; a folder with a HOOK.md does"
        return "correct its name, or remove it"


def orphaned_entries(inventory: Inventory, host: Host) -> tuple[OrphanedEntry, ...]:
    """Return every entry of the hooks settings that matches no hook, in order."""
    return tuple(_find_orphans(inventory, host))


def _find_orphans(inventory: Inventory, host: Host) -> Iterator[OrphanedEntry]:
    keys = {row.hook.key: None for row in inventory.hooks if row.hook.kind == "folder"}
    names = keys.keys() | {row.hook.name for row in inventory.hooks}
    names |= {item.name for item in inventory.rejected}  # reported in their own rows
    names |= host.dialect.bundled_names  # whether their folder is searched or not
    for base in host.dialect.layout.hooks:
        where = (*base, "entries")
        entries = host.settings.get(where)
        for key, entry in entries.items() if isinstance(entries, Mapping) else ():
            if key not in names:
                path, members = (*where, key), entry if isinstance(entry, Mapping) else {}
                hook_members = tuple(member for member in HOOK_MEMBERS if member in members)
                closest_keys = similar_among(key, tuple(keys), host)
                yield OrphanedEntry(key, path, host.settings.locate(path), closest_keys, hook_members)
