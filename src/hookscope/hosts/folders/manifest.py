"""Reads HOOK.md files. A header field of the wrong type becomes a fault; the other fields are still read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from hookscope.formats.frontmatter import read_frontmatter, repair_mojibake
from hookscope.formats.positions import KeyPath
from hookscope.model.hook import Metadata, MetadataFault, Requires
from hookscope.values import dataclass

OWN_NAMESPACE = "hookscope"  # under `metadata`: read by Hookscope only
LIMITS = ("load", "run")
TEXT_ONLY = {str}
REQUIREMENT_FIELDS = {"bins": "bins", "anyBins": "any_bins", "env": "env", "config": "config"}


@dataclass(slots=True)
class HeaderReading:
    """Collects the faults and notes of one header while it is read."""

    faults: list[MetadataFault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add_fault(self, path: KeyPath, expected: str, value: object) -> None:
        """Record a field whose type is not the expected one."""
        self.faults.append(
            MetadataFault(path, f"`{path[-1]}` must be {expected}, not {describe_value(value)}")
        )

    def texts(self, source: Mapping[str, Any], name: str, path: KeyPath) -> tuple[str, ...]:
        """Return a list of strings; empty if it is absent or null. Another type is recorded as a fault."""
        value = source.get(name)
        if value is None:
            return ()
        if isinstance(value, list) and {*map(type, value)} <= TEXT_ONLY:
            return tuple(value)
        self.add_fault((*path, name), "a list of strings", value)
        return ()

    def text(self, source: Mapping[str, Any], name: str, path: KeyPath) -> str | None:
        """Return a string; None if it is absent. Another type is recorded as a fault."""
        value = source.get(name)
        if value is None or type(value) is str:
            return value
        self.add_fault((*path, name), "a string", value)
        return None

    def optional_text(self, source: Mapping[str, Any], name: str) -> str | None:
        """Return a string that only people read, so a wrong type is only a note."""
        value = source.get(name)
        if value is None or type(value) is str:
            return value
        self.notes.append(f"`{name}` is ignored: it must be a string, not {describe_value(value)}")
        return None

    def mapping(self, source: Mapping[str, Any], name: str, path: KeyPath) -> Mapping[str, Any]:
        """Return a mapping; empty if it is absent. Another type is recorded as a fault."""
        value = source.get(name)
        if value is None:
            return {}
        if isinstance(value, dict):
            return value
        self.add_fault((*path, name), "a mapping", value)
        return {}

    def flag(self, source: Mapping[str, Any], name: str, path: KeyPath) -> bool:
        """Return a boolean; false if it is absent. Another type is recorded as a fault."""
        value = source.get(name)
        if value is None or type(value) is bool:
            return bool(value)
        self.add_fault((*path, name), "true or false", value)
        return False


def describe_value(value: object) -> str:
    """Describe a value of the wrong type in a few words."""
    match value:
        case str():
            return f"the string {shortened(value)!r}"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {value}"
        case list():
            others = [item for item in value if not isinstance(item, str)]
            return f"a list with {describe_value(others[0])} in it" if others else "a list"
        case dict():
            return "a mapping"
        case _:
            return "nothing"


def shortened(text: str, limit: int = 40) -> str:
    """Return the text, cut to at most `limit` characters."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def read_metadata(header: Mapping[str, Any], namespace: str) -> Metadata:
    """Return the metadata of a header under `metadata.<namespace>`.

    Source: the guides of Eliza ("Eligibility Fields"), Milady ("Milady Metadata Fields") and OpenClaw
    ("Hook Metadata Schema"), which agree.
    """
    reading = HeaderReading()
    block = reading.mapping(header, "metadata", ())
    path: KeyPath = ("metadata", namespace)
    own = reading.mapping(block, namespace, ("metadata",))
    if namespace not in block:
        reading.notes += misplaced_metadata(header, block, namespace)
    requires = reading.mapping(own, "requires", path)
    needs = {
        field_name: reading.texts(requires, name, (*path, "requires"))
        for name, field_name in REQUIREMENT_FIELDS.items()
        if name in requires
    }
    emoji = reading.optional_text(own, "emoji")
    export = reading.text(own, "export", path)
    return Metadata(
        events=reading.texts(own, "events", path),
        always=reading.flag(own, "always", path),
        hook_key=reading.text(own, "hookKey", path),
        emoji=(repair_mojibake(emoji) or emoji) if emoji and not emoji.isascii() else emoji,
        homepage=reading.optional_text(own, "homepage") or reading.optional_text(header, "homepage"),
        export=(export or "").strip() or "default",
        os=reading.texts(own, "os", path),
        requires=Requires(**needs) if needs else Requires(),
        install=_install_methods(own.get("install"), reading),
        limits=limits_in(block, reading),
        faults=tuple(reading.faults),
        notes=tuple(reading.notes),
    )


def misplaced_metadata(header: Mapping[str, Any], block: Mapping[str, Any], namespace: str) -> list[str]:
    """Return a note about metadata that the host does not read, the usual cause of "no events"."""
    others = [name for name, value in block.items() if isinstance(value, dict) and "events" in value]
    if others:
        return [f"the metadata is under `metadata.{others[0]}`, but the host reads `metadata.{namespace}`"]
    if "events" in block:
        return [f"`events` is under `metadata`; the host reads `metadata.{namespace}.events`"]
    if "events" in header:
        return [f"`events` is at the top of the header; the host reads `metadata.{namespace}.events`"]
    return []


def _install_methods(value: object, reading: HeaderReading) -> tuple[Mapping[str, object], ...]:
    """Return the install methods. They are for people only, so a wrong type is a note."""
    if value is None:
        return ()
    if not isinstance(value, list):
        reading.notes.append(f"`install` is ignored: it must be a list, not {describe_value(value)}")
        return ()
    return tuple(item for item in value if isinstance(item, dict))


def limits_in(block: Mapping[str, Any], reading: HeaderReading) -> Mapping[str, float]:
    """Return `metadata.hookscope.limits`: seconds that the handler may take.

    No host reads it, so a wrong value is a note, never a fault.
    """
    own = block.get(OWN_NAMESPACE)
    written = own.get("limits") if isinstance(own, dict) else None
    if written is None:
        return {}
    if not isinstance(written, dict):
        reading.notes.append(f"`limits` is ignored: it must be a mapping, not {describe_value(written)}")
        return {}
    limits: dict[str, float] = {}
    for name, value in written.items():
        if name not in LIMITS:
            reading.notes.append(f"the limit `{shortened(str(name))}` is ignored: use `load` or `run`")
        elif isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
            reading.notes.append(
                f"the limit `{name}` is ignored: it must be a number of seconds, not {describe_value(value)}"
            )
        else:
            limits[name] = float(value)
    return limits


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of a HOOK.md."""

    name: str
    description: str = ""
    meta: Metadata = Metadata()
    notes: tuple[str, ...] = ()  # notes for the author about the hook's name
    warnings: tuple[str, ...] = ()  # what the host logs while reading


# (bytes of a HOOK.md, name of its folder, namespace) → manifest; None or an empty name if it has no valid
# header. Raises FormatError if the header cannot be parsed.
ManifestReader = Callable[[bytes, str, str], Manifest | None]


def read_yaml_header(source: bytes, folder_name: str, namespace: str) -> Manifest | None:
    """Read a YAML header as the guides describe it. A ManifestReader."""
    header = read_frontmatter(source)
    if header is None:
        return None
    name, notes = _name_of(header, folder_name)
    description = header.get("description")
    return Manifest(
        name, description if isinstance(description, str) else "", read_metadata(header, namespace), notes
    )


def _name_of(header: Mapping[str, object], folder_name: str) -> tuple[str, tuple[str, ...]]:
    """Return the hook's name, by default its folder's, and notes about the name."""
    name = header.get("name")
    if isinstance(name, str) and name.strip():
        return name.strip(), ()
    if isinstance(name, int | float) and not isinstance(name, bool):
        return str(name), ()
    if name is None or name == "":
        return folder_name, ("no `name` in the header: the folder's name is used",)
    return folder_name, (f"`name` must be a string, not {describe_value(name)}: the folder's name is used",)
