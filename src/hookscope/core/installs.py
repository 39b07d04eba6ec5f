"""What the host itself says that it has installed: `installs` of its hooks settings. Only read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hookscope.core.dialect import Host
from hookscope.core.hooks import Hook, Place
from hookscope.formats.places import KeyPath
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
    place: Place | None = None

    @property
    def origin(self) -> str:
        """Where it came from, for people."""
        said = (self.source, self.spec, self.version if not self.spec.endswith(f"@{self.version}") else "")
        return " ".join(part for part in said if part) or "a place that is not said"


def host_installs(host: Host) -> tuple[HostInstall, ...]:
    """The host's own record, in its order; empty where its settings have none that it reads."""
    known: tuple[HostInstall, ...] | None = host.known.get(host_installs)
    if known is None:
        listed, where = host.hooks_setting("installs")
        rows = listed.items() if isinstance(listed, Mapping) and not host.settings.refusal else ()
        known = tuple(_install(str(key), value, where, host) for key, value in rows)
        host.known[host_installs] = known
    return known


def installed_with(hook: Hook, host: Host) -> HostInstall | None:
    """The first pack of the host's own record that this hook came with; None where it came with none."""
    index: _Index | None = host.known.get(_Index)
    if index is None:
        index = host.known[_Index] = _Index.of(host_installs(host))
    return index.find(hook)


@dataclass(frozen=True, slots=True)
class _Index:
    """Which pack has a hook, without asking each of them: by place in the record, the first counts."""

    rows: tuple[HostInstall, ...]
    folders: Mapping[Path, int]
    names: Mapping[str, int]  # of hooks of packs that name no folder
    all_names: Mapping[str, int]

    @staticmethod
    def of(rows: tuple[HostInstall, ...]) -> _Index:
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
        return _Index(rows, folders, names, all_names)

    def find(self, hook: Hook) -> HostInstall | None:
        """The first pack whose folder holds the hook, or that has none and lists the hook's name."""
        if not self.rows:
            return None
        places = []
        if hook.path is not None:
            above = (hook.path, *hook.path.parents)
            places = [self.folders[path] for path in above if path in self.folders]
        names = self.all_names if hook.path is None else self.names
        if hook.kind == "folder" and hook.name in names:
            places.append(names[hook.name])
        return self.rows[min(places)] if places else None


def _install(key: str, value: object, where: KeyPath, host: Host) -> HostInstall:
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
        host.surroundings.absolute(folder) if folder else None,
        place,
    )
