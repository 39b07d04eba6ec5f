"""What a HOOK.md says of its hook, however its header is read."""

from collections.abc import Callable, Mapping

from hookscope.core.hooks import Metadata
from hookscope.formats.frontmatter import read_frontmatter
from hookscope.systems.folders.metadata import describe, read_metadata
from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class Manifest:
    """A HOOK.md that was read."""

    name: str
    description: str = ""
    meta: Metadata = Metadata()
    notes: tuple[str, ...] = ()  # what the author should know of its name
    warnings: tuple[str, ...] = ()  # what the host itself logs while it reads


# (source, name of its folder, namespace) → what it says; None, or an empty name, where it has no header
# that counts. Raises FormatError where it has one that cannot be read.
ManifestReader = Callable[[bytes, str, str], Manifest | None]


def read_yaml_header(source: bytes, folder_name: str, namespace: str) -> Manifest | None:
    """A header of YAML, as the guides write it. A ManifestReader."""
    header = read_frontmatter(source)
    if header is None:
        return None
    name, notes = _name_of(header, folder_name)
    description = header.get("description")
    return Manifest(
        name,
        description if isinstance(description, str) else "",
        read_metadata(header, namespace),
        notes,
    )


def _name_of(header: Mapping[str, object], folder_name: str) -> tuple[str, tuple[str, ...]]:
    """The hook's name, and what is to be said about it. Without a name it has its folder's."""
    name = header.get("name")
    if isinstance(name, str) and name.strip():
        return name.strip(), ()
    if isinstance(name, int | float) and not isinstance(name, bool):
        return str(name), ()
    if name is None or name == "":
        return folder_name, ("no `name` in the header: it has its folder's",)
    return folder_name, (f"`name` wants a text and has {describe(name)}: it has its folder's",)
