"""HOOK.md headers as shipped hosts read them (milady 04, 05 and 12; fm-07 to fm-09)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from hookscope.formats.json5 import read_json5
from hookscope.formats.positions import FormatError
from hookscope.formats.script_values import BLANK, is_truthy, script_text, script_trim
from hookscope.hosts.folders.manifest import (
    REQUIREMENT_FIELDS,
    HeaderReading,
    Manifest,
    describe_value,
    limits_in,
    misplaced_metadata,
)
from hookscope.model.hook import Metadata, Requires
from hookscope.model.payload import mapping_or_empty

UNREADABLE = "[hooks] Failed to parse metadata in HOOK.md"
# Patterns as texts: `re` compiles and caches them for the two hosts that use them.
_HEADER = rf"---{BLANK}*\n(?P<block>(?s:.*?))\n---"
_LINE = rf"(?P<key>[A-Za-z0-9_]+):{BLANK}*(?P<value>[^\n\r\u2028\u2029]+)"
_QUOTES = r"^[\"']|[\"']\Z"
LOOKED_UP_FIELDS = ("bins", "anyBins", "config")
_NOTHING: Final = object()  # not a JSON value


def read_line_header(source: bytes, folder_name: str, namespace: str) -> Manifest | None:
    """Read a header line by line. A ManifestReader: None without a header, an empty name without `name`.

    The header starts at the first character: a byte order mark before it counts as text.
    """
    header = re.match(_HEADER, source.decode("utf-8", "replace"))
    if header is None:
        return None
    block = header["block"]
    header_fields: dict[str, str] = {}
    block_metadata: Any = None
    warnings: list[str] = []
    for line in block.split("\n"):
        match = re.match(_LINE, line)
        if match is None:
            continue
        value = script_trim(re.sub(_QUOTES, "", match["value"]))
        header_fields[match["key"]] = value  # of duplicates, the last one counts
        if match["key"] == "metadata":
            parsed = _metadata_in(block, value)
            if parsed is _NOTHING:
                warnings.append(UNREADABLE)
            elif parsed is not None:
                block_metadata = parsed
    own = block_metadata.get(namespace) if isinstance(block_metadata, dict) else None
    return Manifest(
        name=header_fields.get("name", ""),
        description=header_fields.get("description", ""),
        meta=_unchecked_metadata(
            own, header_fields.get("homepage"), _why_unread(block, block_metadata, warnings, namespace)
        ),
        warnings=tuple(warnings),
    )


def _metadata_in(block: str, value: str) -> Any:
    """Return the JSON of the metadata; None if there is no brace; _NOTHING if it is not JSON.

    Parses the text from the first brace after the first `metadata:` to the last brace of the block;
    if that fails, only `value`, the rest of the line.
    """
    rest = block[block.index("metadata:") :]
    start, end = rest.find("{"), rest.rfind("}")
    if start < 0 or end < start:
        return None
    parsed = _json(rest[start : end + 1])
    return _json(value) if parsed is _NOTHING else parsed


def _json(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return _NOTHING


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _why_unread(block: str, metadata: Any, warnings: list[str], namespace: str) -> tuple[str, ...]:
    """Return a note with the reason why a hook has no metadata: the host logs few of these cases."""
    if isinstance(metadata, dict) and is_truthy(metadata.get(namespace)):
        return ()
    if warnings:
        return ("the metadata is ignored: it is not valid JSON",)
    if isinstance(metadata, dict):
        others = ", ".join(f"`metadata.{name}`" for name in metadata)
        return (f"the metadata is not read: it is under {others or 'no name'}, not `{namespace}`",)
    if re.search(r"^metadata:", block, re.MULTILINE):
        return ("the metadata is not read: the host needs JSON that begins on the line `metadata:`",)
    return ("the header has no metadata",)


def _unchecked_metadata(own: Any, homepage: str | None, notes: tuple[str, ...]) -> Metadata:
    """Return the fields as written: lists in their own fields, unusable values in `unvalidated`."""
    if not is_truthy(own):
        return Metadata(homepage=homepage, notes=notes)
    fields = mapping_or_empty(own)
    required = mapping_or_empty(fields.get("requires"))
    requirements = {"os": fields.get("os"), **{name: required.get(name) for name in REQUIREMENT_FIELDS}}
    lists = {
        name: tuple(map(javascript_text if name == "os" else script_text, value))
        for name, value in requirements.items()
        if isinstance(value, list)
    }
    events, install = fields.get("events"), fields.get("install")
    methods = install if isinstance(install, list) else []
    export, hook_key, emoji, own_homepage = (
        fields.get(name) for name in ("export", "hookKey", "emoji", "homepage")
    )
    return Metadata(
        events=tuple(map(javascript_text, events)) if isinstance(events, list) else (),
        excluded_events=unmatched_event_keys(events) if isinstance(events, list) else {},
        lookalike_positions=unequal_key_positions(events) if isinstance(events, list) else frozenset(),
        always=is_truthy(fields.get("always")),
        hook_key=None if hook_key is None else script_text(hook_key),
        emoji=None if emoji is None else script_text(emoji),
        homepage=homepage if own_homepage is None else script_text(own_homepage),
        export="default" if export is None else script_text(export),
        os=lists.get("os", ()),
        requires=Requires(
            **{field: lists[name] for name, field in REQUIREMENT_FIELDS.items() if name in lists}
        ),
        install=tuple(method for method in methods if isinstance(method, dict)),
        notes=notes,
        unvalidated={name: value for name, value in requirements.items() if _has_unusable_items(name, value)},
    )


def unmatched_event_keys(events: list[Any]) -> dict[str, str]:
    """Return the event keys that are not strings, each with the reason why no event matches it.

    The host registers them as they are, and no event key ever equals them.
    """
    texts = {item for item in events if isinstance(item, str)}
    others = ((javascript_text(item), item) for item in events if not isinstance(item, str))
    template = "`events` has {} instead of a string, so no event matches it"
    return {key: template.format(describe_value(item)) for key, item in others if key not in texts}


def unequal_key_positions(events: list[Any]) -> frozenset[int]:
    """Return the positions of items that are not strings, if the list also has them as strings.

    An event with that key calls the hook because of the string.
    """
    texts = {item for item in events if isinstance(item, str)}
    return frozenset(
        place
        for place, item in enumerate(events)
        if not isinstance(item, str) and javascript_text(item) in texts
    )


def javascript_text(item: object) -> str:
    """Return a list item as JavaScript joins it: null becomes an empty string."""
    return "" if item is None else script_text(item)


def _has_unusable_items(name: str, value: object) -> bool:
    """Return whether the value is not a list, or holds an item that cannot name a program or setting."""
    if isinstance(value, list):
        return name in LOOKED_UP_FIELDS and not all(isinstance(item, str) for item in value)
    return is_truthy(value)


HOMEPAGES = ("homepage", "website", "url")  # at the top of the header; the first one present counts


def metadata_of_texts(
    header: Mapping[str, str], namespaces: tuple[str, ...], install_labels: Mapping[str, str]
) -> Metadata:
    """Return the metadata in the text under `metadata`: JSON or JSON5, in the first namespace present.

    `install_labels`: see `install_methods`. Source: fm-04 to fm-09.
    """
    block = _object_in(header.get("metadata", ""))
    own = next((value for name in namespaces if isinstance(value := block.get(name), Mapping | list)), None)
    fields = mapping_or_empty(own)
    reading = HeaderReading()
    if own is None:
        reading.notes += misplaced_metadata(header, block, namespaces[0])
        if header.get("metadata") and not block:
            reading.notes.append("`metadata` is ignored: it is not valid JSON5")
    needs = mapping_or_empty(fields.get("requires"))
    homepage = _first_present(_text(fields.get("homepage")), *(header.get(name) for name in HOMEPAGES))
    return Metadata(
        events=text_list(fields.get("events")),
        always=fields.get("always") is True,
        hook_key=_text(fields.get("hookKey")),
        emoji=_first_present(_text(fields.get("emoji")), header.get("emoji")) or None,
        homepage=script_trim(homepage or "") or None,
        export_as_written=_text(fields.get("export")),
        export=script_trim(_text(fields.get("export")) or "") or "default",
        os=text_list(fields.get("os")),
        requires=Requires(**{name: text_list(needs.get(key)) for key, name in REQUIREMENT_FIELDS.items()}),
        install=install_methods(fields.get("install"), install_labels),
        limits=limits_in(block, reading),
        notes=tuple(reading.notes),
        declared=own is not None,
    )


def text_list(value: object) -> tuple[str, ...]:
    """Return a list or comma-separated string as trimmed, non-blank strings; empty for others (fm-07)."""
    items = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    trimmed = (script_trim(script_text(item)) for item in items)
    return tuple(text for text in trimmed if text)


def install_methods(value: object, labels: Mapping[str, str]) -> tuple[Mapping[str, object], ...]:
    """Return the install methods, each with id, kind, label and bins; invalid ones are dropped (fm-09).

    `labels`: kind → the default label, which may contain `{package}` or `{repository}`; the label under
    "" is used if the method lacks these.
    """
    kept: list[Mapping[str, object]] = []
    for item in value if isinstance(value, list) else []:
        if not isinstance(item, Mapping):
            continue
        kind = _first_present(_text(item.get("kind")), _text(item.get("type"))) or ""
        kind = script_trim(kind).lower()
        if not kind or kind not in labels:
            continue
        kept.append(
            {
                "id": script_trim(_text(item.get("id")) or f"{kind}-{len(kept)}"),
                "kind": kind,
                "label": script_trim(_text(item.get("label")) or "") or _label(labels, kind, item),
                "bins": list(text_list(item.get("bins"))),
            }
        )
    return tuple(kept)


def _label(labels: Mapping[str, str], kind: str, item: Mapping[str, Any]) -> str:
    parts = {name: text for name in ("package", "repository") if (text := _text(item.get(name)))}
    try:
        return labels[kind].format(**parts)
    except KeyError:
        return labels[""]


DEEPEST_METADATA = 500  # nested lists and objects; the program has no limit


def _object_in(text: str) -> Mapping[str, Any]:
    try:
        return mapping_or_empty(read_json5(text.encode("utf-8", "replace"), DEEPEST_METADATA))
    except FormatError:
        return {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _first_present(*values: str | None) -> str | None:
    """Return the first value that is not None. An empty string counts (fm-08)."""
    return next((value for value in values if value is not None), None)
