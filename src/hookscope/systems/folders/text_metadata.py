"""A header whose values are texts, read as metadata: every wrong type has a meaning, nothing is a fault."""

from collections.abc import Mapping
from typing import Any

from hookscope import formats
from hookscope.core.hooks import Metadata, Requires
from hookscope.formats import FormatError, script_text, script_trim
from hookscope.systems.folders.metadata import REQUIREMENTS, Reading, elsewhere, limits_in

HOMEPAGES = ("homepage", "website", "url")  # at the top of the header, the first that is there


def metadata_of_texts(
    header: Mapping[str, str], namespaces: tuple[str, ...], install_labels: Mapping[str, str]
) -> Metadata:
    """The metadata that the text under `metadata` holds: JSON or JSON5, below the first namespace there is.

    Source: rules-openclaw section 2 (fm-04 to fm-09). `install_labels`: by kind, see `install_of`.
    """
    block = _object_in(header.get("metadata", ""))
    own = next((value for name in namespaces if _is_object(value := block.get(name))), None)
    fields: Mapping[str, Any] = own if isinstance(own, Mapping) else {}
    reading = Reading()
    if own is None:
        reading.notes += elsewhere(header, block, namespaces[0])
        if header.get("metadata") and not block:
            reading.notes.append("`metadata` is read as JSON5 text, and is none")
    requires = fields.get("requires")
    needs = requires if isinstance(requires, Mapping) else {}
    homepage = _first(_text(fields.get("homepage")), *(header.get(name) for name in HOMEPAGES))
    return Metadata(
        events=texts_of(fields.get("events")),
        always=fields.get("always") is True,
        hook_key=_text(fields.get("hookKey")),
        emoji=_first(_text(fields.get("emoji")), header.get("emoji")) or None,
        homepage=script_trim(homepage or "") or None,
        export_written=_text(fields.get("export")),
        export=script_trim(_text(fields.get("export")) or "") or "default",
        os=texts_of(fields.get("os")),
        requires=Requires(**{name: texts_of(needs.get(key)) for key, name in REQUIREMENTS.items()}),
        install=install_of(fields.get("install"), install_labels),
        limits=limits_in(block, reading),
        notes=tuple(reading.notes),
        declared=own is not None,
    )


def texts_of(value: object) -> tuple[str, ...]:
    """A list, or text with commas, as trimmed texts without blank ones; of anything else none (fm-07)."""
    items = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    trimmed = (script_trim(script_text(item)) for item in items)
    return tuple(text for text in trimmed if text)


def install_of(value: object, labels: Mapping[str, str]) -> tuple[Mapping[str, object], ...]:
    """Ways to install what a hook needs, each with id, kind, label and bins; others are dropped (fm-09).

    `labels`: kind → the label where none is given, which may name `{package}` or `{repository}`; under ""
    the label where that is missing too.
    """
    kept: list[Mapping[str, object]] = []
    for item in value if isinstance(value, list) else []:
        if not isinstance(item, Mapping):
            continue
        kind = _first(_text(item.get("kind")), _text(item.get("type"))) or ""
        kind = script_trim(kind).lower()
        if not kind or kind not in labels:
            continue
        kept.append(
            {
                "id": script_trim(_text(item.get("id")) or f"{kind}-{len(kept)}"),
                "kind": kind,
                "label": script_trim(_text(item.get("label")) or "") or _label(labels, kind, item),
                "bins": list(texts_of(item.get("bins"))),
            }
        )
    return tuple(kept)


def _label(labels: Mapping[str, str], kind: str, item: Mapping[str, Any]) -> str:
    parts = {name: text for name in ("package", "repository") if (text := _text(item.get(name)))}
    try:
        return labels[kind].format(**parts)
    except KeyError:
        return labels[""]


def _object_in(text: str) -> Mapping[str, Any]:
    try:
        value = formats.read_json5(text.encode("utf-8", "replace"))
    except FormatError:
        return {}
    return value if isinstance(value, Mapping) else {}


def _is_object(value: object) -> bool:
    return isinstance(value, Mapping | list)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _first(*values: str | None) -> str | None:
    """The first that is there, empty ones included: an empty text suppresses what comes after it (fm-08)."""
    return next((value for value in values if value is not None), None)
