"""Settings entries that belong to no hook that was found: misspelt, or left behind. Pure."""

from collections.abc import Iterator, Mapping

from hookscope.core.dialect import Host
from hookscope.core.hooks import Place
from hookscope.core.inventory import Inventory
from hookscope.core.searched import alike_among
from hookscope.formats.places import KeyPath
from hookscope.values import dataclass

OF_A_FOLDER = ("handler", "module", "path", "events", "event")  # an entry with these was meant to make a hook


@dataclass(frozen=True, slots=True)
class Orphan:
    """An entry without a hook."""

    key: str
    path: KeyPath  # in the settings
    place: Place | None
    near: tuple[str, ...] = ()  # keys of hooks that were perhaps meant
    written: tuple[str, ...] = ()  # what it says of a hook, as though that made one

    @property
    def setting(self) -> str:
        """Its dotted path."""
        return ".".join(map(str, self.path))

    @property
    def then(self) -> str:
        """The next step."""
        if self.near:
            return f"did you mean {self.near[0]}?"
        if self.written:
            return f"{' and '.join(self.written)} in an entry make none; a folder with a HOOK.md does"
        return "mend its name, or take it out"


def orphans_of(inventory: Inventory, host: Host) -> tuple[Orphan, ...]:
    """Every entry of the hooks settings whose key no hook has, winner or loser, in their order."""
    return tuple(_orphans(inventory, host))


def _orphans(inventory: Inventory, host: Host) -> Iterator[Orphan]:
    keys = {row.hook.key: None for row in inventory.hooks if row.hook.kind == "folder"}
    names = keys.keys() | {row.hook.name for row in inventory.hooks}
    names |= {item.name for item in inventory.rejected}  # its own row says what is wrong with it
    names |= host.dialect.ships  # whether its folder is looked at or not
    for base in host.dialect.layout.hooks:
        where = (*base, "entries")
        entries = host.settings.get(where)
        for key, entry in entries.items() if isinstance(entries, Mapping) else ():
            if key not in names:
                path, said = (*where, key), entry if isinstance(entry, Mapping) else {}
                written = tuple(member for member in OF_A_FOLDER if member in said)
                near = alike_among(key, tuple(keys), host)
                yield Orphan(key, path, host.settings.locate(path), near, written)
