"""Headers that are read line by line, with metadata as JSON: what Milady and Eliza really do.

Their guides show YAML; the programs look at lines `word: value` only. Source: rules note, section 1.3;
recorded in milady 04, 05 and 12. Metadata fields are taken over without a look at their types.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from hookscope.core.hooks import Metadata, Requires
from hookscope.formats import script_text, script_trim
from hookscope.formats.script_values import BLANK
from hookscope.systems.folders.manifest import Manifest
from hookscope.systems.folders.metadata import REQUIREMENTS, describe
from hookscope.systems.folders.requirements import truthy

UNREADABLE = "[hooks] Failed to parse metadata in HOOK.md"
_HEADER = re.compile(rf"---{BLANK}*\n(?P<block>.*?)\n---", re.DOTALL)
_LINE = re.compile(rf"(?P<key>[A-Za-z0-9_]+):{BLANK}*(?P<value>[^\n\r\u2028\u2029]+)")
LOOKED_UP = ("bins", "anyBins", "config")
_QUOTES = re.compile(r"^[\"']|[\"']\Z")
_NOTHING: Final = object()  # what JSON cannot be


def read_line_header(source: bytes, folder_name: str, namespace: str) -> Manifest | None:
    """A header of lines. A ManifestReader; None where it has no header, an empty name where it has none.

    It starts at the very first character: a byte order mark before it counts as text.
    """
    header = _HEADER.match(source.decode("utf-8", "replace"))
    if header is None:
        return None
    block = header["block"]
    said: dict[str, str] = {}
    block_metadata: Any = None
    warnings: list[str] = []
    for line in block.split("\n"):
        match = _LINE.match(line)
        if match is None:
            continue
        value = script_trim(_QUOTES.sub("", match["value"]))
        said[match["key"]] = value  # given twice, the last one counts
        if match["key"] == "metadata":
            read = _metadata_in(block, value)
            if read is _NOTHING:
                warnings.append(UNREADABLE)
            elif read is not None:
                block_metadata = read
    own = block_metadata.get(namespace) if isinstance(block_metadata, dict) else None
    return Manifest(
        name=said.get("name", ""),
        description=said.get("description", ""),
        meta=_metadata(own, said.get("homepage"), _why_unread(block, block_metadata, warnings, namespace)),
        warnings=tuple(warnings),
    )


def _metadata_in(block: str, value: str) -> Any:
    """The JSON from the first brace after the first `metadata:` to the last brace of the block, else the
    JSON on this line alone. None where there is no brace; _NOTHING where neither is JSON."""
    rest = block[block.index("metadata:") :]
    start, end = rest.find("{"), rest.rfind("}")
    if start < 0 or end < start:
        return None
    read = _json(rest[start : end + 1])
    return _json(value) if read is _NOTHING else read


def _json(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return _NOTHING


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _why_unread(block: str, metadata: Any, warnings: list[str], namespace: str) -> tuple[str, ...]:
    """Why a hook has no metadata: the host itself is silent about most of it."""
    if isinstance(metadata, dict) and truthy(metadata.get(namespace)):
        return ()
    if warnings:
        return ("its metadata is not read: it is no JSON",)
    if isinstance(metadata, dict):
        others = ", ".join(f"`metadata.{name}`" for name in metadata)
        return (f"its metadata is not read: it stands under {others or 'no name'}, not `{namespace}`",)
    if re.search(r"^metadata:", block, re.MULTILINE):
        return ("its metadata is not read: the host wants JSON that begins on the line `metadata:`",)
    return ("it has no metadata",)


def _metadata(own: Any, homepage: str | None, notes: tuple[str, ...]) -> Metadata:
    """The fields as they stand. Lists of texts under their names, everything else in `unchecked`."""
    if not truthy(own):
        return Metadata(homepage=homepage, notes=notes)
    fields: Mapping[str, Any] = own if isinstance(own, dict) else {}
    requires = fields.get("requires")
    wants: Mapping[str, Any] = requires if isinstance(requires, dict) else {}
    asked = {"os": fields.get("os"), **{name: wants.get(name) for name in REQUIREMENTS}}
    lists = {
        name: tuple(map(joined if name == "os" else script_text, value))
        for name, value in asked.items()
        if isinstance(value, list)
    }
    events, install = fields.get("events"), fields.get("install")
    ways = install if isinstance(install, list) else []
    export, hook_key, emoji, own_page = (
        fields.get(name) for name in ("export", "hookKey", "emoji", "homepage")
    )
    return Metadata(
        events=tuple(map(joined, events)) if isinstance(events, list) else (),
        barred=unmatched(events) if isinstance(events, list) else {},
        unequal=unequal(events) if isinstance(events, list) else frozenset(),
        always=truthy(fields.get("always")),
        hook_key=None if hook_key is None else script_text(hook_key),
        emoji=None if emoji is None else script_text(emoji),
        homepage=homepage if own_page is None else script_text(own_page),
        export="default" if export is None else script_text(export),
        os=lists.get("os", ()),
        requires=Requires(
            **{field: lists[name] for name, field in REQUIREMENTS.items() if name in lists},
        ),
        install=tuple(way for way in ways if isinstance(way, dict)),
        notes=notes,
        unchecked={name: value for name, value in asked.items() if _surprises(name, value)},
    )


def unmatched(events: list[Any]) -> dict[str, str]:
    """Keys that are no texts: they are registered as they stand, and no event is ever equal to one."""
    texts = {item for item in events if isinstance(item, str)}
    others = ((joined(item), item) for item in events if not isinstance(item, str))
    why = "`events` has {} in place of the text, which no event is equal to"
    return {key: why.format(describe(item)) for key, item in others if key not in texts}


def unequal(events: list[Any]) -> frozenset[int]:
    """The places of those that read as a text that is there, too: its own event calls the hook for that."""
    texts = {item for item in events if isinstance(item, str)}
    return frozenset(
        place for place, item in enumerate(events) if not isinstance(item, str) and joined(item) in texts
    )


def joined(item: object) -> str:
    """An item of a list that JavaScript puts together: nothing of a null."""
    return "" if item is None else script_text(item)


def _surprises(name: str, value: object) -> bool:
    """Whether it is no list, or one with something that can be no name of a program, no path of a setting."""
    if isinstance(value, list):
        return name in LOOKED_UP and not all(isinstance(item, str) for item in value)
    return truthy(value)
