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

    def has(self, hook: Hook) -> bool:
        """Did this hook come with it."""
        if self.folder is not None and hook.path is not None:
            return hook.path.is_relative_to(self.folder)
        return hook.kind == "folder" and hook.name in self.hooks


def host_installs(host: Host) -> tuple[HostInstall, ...]:
    """The host's own record, in its order; empty where its settings have none that it reads."""
    known: tuple[HostInstall, ...] | None = host.known.get(host_installs)
    if known is None:
        listed, where = host.hooks_setting("installs")
        rows = listed.items() if isinstance(listed, Mapping) and not host.settings.refusal else ()
        known = tuple(_install(str(key), value, where, host) for key, value in rows)
        host.known[host_installs] = known
    return known


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
