"""Settings entries that belong to no hook that was found: misspelt, or left behind. Pure."""

from collections.abc import Iterator, Mapping

from hookscope.core.dialect import Host
from hookscope.core.hooks import Place
from hookscope.core.inventory import Inventory
from hookscope.core.searched import alike
from hookscope.formats.places import KeyPath
from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class Orphan:
    """An entry without a hook."""

    key: str
    path: KeyPath  # in the settings
    place: Place | None
    near: tuple[str, ...] = ()  # keys of hooks that were perhaps meant

    @property
    def setting(self) -> str:
        """Its dotted path."""
        return ".".join(map(str, self.path))


def orphans_of(inventory: Inventory, host: Host) -> tuple[Orphan, ...]:
    """Every entry of the hooks settings whose key no hook has, winner or loser, in their order."""
    return tuple(_orphans(inventory, host))


def _orphans(inventory: Inventory, host: Host) -> Iterator[Orphan]:
    keys = {row.hook.key: None for row in inventory.hooks if row.hook.kind == "folder"}
    names = keys.keys() | {row.hook.name for row in inventory.hooks}
    names |= {item.name for item in inventory.rejected}  # its own row says what is wrong with it
    for base in host.dialect.layout.hooks:
        where = (*base, "entries")
        entries = host.settings.get(where)
        for key in entries if isinstance(entries, Mapping) else ():
            if key not in names:
                path = (*where, key)
                yield Orphan(key, path, host.settings.locate(path), alike(key, tuple(keys)))
