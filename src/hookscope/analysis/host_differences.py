"""How hosts treat one hook differently, one sentence per difference, and its metadata as written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any

from hookscope.analysis.host_comparison import (
    ABSENT,
    NO_HOOK,
    ComparedHook,
    EventAtHost,
    Facet,
    HookAtHost,
    HostDifference,
)
from hookscope.formats.frontmatter import read_frontmatter
from hookscope.formats.json5 import read_json5
from hookscope.formats.positions import FormatError
from hookscope.formats.text_header import header_block
from hookscope.model.hook_status import State
from hookscope.model.machine import Files
from hookscope.model.uncalled_hooks import event_kind
from hookscope.values import dataclass


def common_handlers(line: ComparedHook) -> list[str]:
    """Return the handler names that all hosts look for, in the first host's order."""
    reads = [cell.side.folder_rules for cell in line.cells if cell.side.folder_rules is not None]
    first = reads[0].handlers if reads else ()
    return [name for name in first if all(name in one.handlers for one in reads)]


def unknown_handler(cell: HookAtHost) -> str:
    """Return the handler of a rejected folder if this host does not load its name; empty otherwise."""
    reads = cell.side.folder_rules
    if cell.state != NO_HOOK or reads is None:
        return ""
    names = _file_names(cell)
    handlers = [name for name in names if name.startswith(("handler", "index"))]
    if "HOOK.md" not in names or any(name in reads.handlers for name in handlers):
        return ""
    return handlers[0] if handlers else ""


def _file_names(cell: HookAtHost) -> Sequence[str]:
    try:
        return sorted(cell.side.host.machine.files.names(cell.path)) if cell.path else []
    except OSError:
        return []


LARGEST_FILE = 1_048_576  # bytes; no host reads a larger HOOK.md
OWN_NAMESPACE = "hookscope"  # no host reads this namespace


@dataclass(frozen=True, slots=True)
class WrittenMetadata:
    """The namespaces under `metadata`, and whether it is written as JSON."""

    blocks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    as_json: bool = False  # strict JSON, begun on the line `metadata:`

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The hosts' names under `metadata`, in order."""
        return tuple(self.blocks)

    def events_of(self, namespace: str) -> tuple[str, ...]:
        """Return the events listed for one host; none if they are not a list."""
        listed = self.blocks.get(namespace, {}).get("events")
        return tuple(map(str, listed)) if isinstance(listed, list) else ()


def read_written_metadata(manifest: Path | None, files: Files) -> WrittenMetadata:
    """Return the metadata in this file; empty if it cannot be read or has no header."""
    if manifest is None:
        return WrittenMetadata()
    try:
        source = files.read(manifest, LARGEST_FILE)
    except OSError:
        return WrittenMetadata()
    block = _metadata_blocks(source)
    named = {
        str(name): value for name, value in block.items() if isinstance(value, dict) and name != OWN_NAMESPACE
    }
    return WrittenMetadata(named, _is_json(source))


def _metadata_blocks(source: bytes) -> Mapping[Any, Any]:
    try:
        header = read_frontmatter(source) or {}
        value = header.get("metadata")
        read = read_json5(value.encode("utf-8", "replace")) if isinstance(value, str) else value
    except FormatError:
        return {}
    return read if isinstance(read, dict) else {}


def _is_json(source: bytes) -> bool:
    block = header_block(source) or ""
    begun = re.search(r"^metadata:", block, re.MULTILINE)
    rest = block[begun.end() :] if begun else ""
    start, end = rest.find("{"), rest.rfind("}")
    if start < 0 or end < start:
        return False
    try:
        return isinstance(json.loads(rest[start : end + 1]), dict)
    except (ValueError, RecursionError):
        return False


UNREAD_TEXTS: dict[str, str] = {
    "none": "there is no metadata for {namespace}",
    "elsewhere": "the metadata is not under `{namespace}`",
    "unread": "the metadata is in a form that the host does not read",
}


def host_differences_of(line: ComparedHook, turns: Sequence[str]) -> tuple[HostDifference, ...]:
    """Return all differences, most significant first. `turns`: sentences about the call order."""
    hooks = [cell for cell in line.cells if cell.is_hook]
    parts: tuple[tuple[Facet, Iterator[str]], ...] = (
        ("found", _found(line)),
        ("handler", _handler(hooks)),
        ("metadata", _metadata(hooks)),
        ("state", _state(hooks)),
        ("why", _why(hooks)),
        ("winner", _winner(hooks)),
        ("events", _events(hooks)),
        ("messages", _messages(hooks)),
        ("order", iter(turns)),
        ("name", _name(hooks)),
        ("env", _env(hooks)),
    )
    return tuple(HostDifference(facet, text) for facet, texts in parts for text in texts)


def _found(line: ComparedHook) -> Iterator[str]:
    states = {cell.state if cell.state in (ABSENT, NO_HOOK) else "" for cell in line.cells}
    if len(states) == 1:
        return
    have = next((cell for cell in line.cells if cell.row is not None), None)
    for called, why in _grouped_by_text(
        line.cells, lambda cell: None if cell.is_hook else _not_found(cell, have)
    ):
        yield f"{called}: {why}"


def _not_found(cell: HookAtHost, have: HookAtHost | None) -> str:
    if cell.rejected is not None:
        handler = unknown_handler(cell)
        return f"no hook: it does not load {handler}" if handler else f"no hook: {cell.why}"
    if have is None or have.row is None:
        return "not scanned"
    hook = have.row.hook
    if event_kind(hook) not in cell.side.dialect.kinds:
        return f"there are no {event_kind(hook)} hooks"
    if hook.kind == "legacy":
        return "its settings do not list this handler"
    return f"it does not scan {cell.side.host.machine.short(hook.folder.path)}"


def _handler(cells: Sequence[HookAtHost]) -> Iterator[str]:
    strangers = [cell for cell in cells if not cell.host_runs]
    if strangers and len(strangers) < len(cells):
        yield f"{_host_names(strangers)}: only Hookscope runs it; the host does not run Python"
    paths = {cell.path for cell in cells}
    if len(paths) == 1:
        yield from _differing_sentences(
            cells, lambda cell: cell.handler.name if cell.handler else "none", "{} is loaded"
        )


def _metadata(cells: Sequence[HookAtHost]) -> Iterator[str]:
    if len({cell.metadata for cell in cells}) < 2:
        return
    for called, why in _grouped_by_text(cells, _unread_text):
        yield f"{called}: {why}"


def _unread_text(cell: HookAtHost) -> str | None:
    reads = cell.side.folder_rules
    template = UNREAD_TEXTS.get(cell.metadata)
    if template is None or reads is None:
        return None
    note = next((text for text in cell.row.hook.meta.notes if "read" in text), "") if cell.row else ""
    return note or template.format(namespace=reads.namespace)


def _state(cells: Sequence[HookAtHost]) -> Iterator[str]:
    if len({cell.state for cell in cells}) < 2:
        return
    sentences = list(_grouped_by_text(cells, _state_text))
    if any(words != State.READY for _, words in sentences):
        yield from (f"{called}: {words}" for called, words in sentences)


def _state_text(cell: HookAtHost) -> str | None:
    if cell.metadata in UNREAD_TEXTS and cell.gate == "events":
        return None  # reported by `_metadata`
    if cell.state == State.SILENT:
        return None  # reported by `_events`
    if cell.state == State.SHADOWED:
        return "another copy takes precedence"
    return f"{cell.state}, {cell.why}" if cell.why else cell.state


def _why(cells: Sequence[HookAtHost]) -> Iterator[str]:
    """Yield different reasons for the same state."""
    if len({cell.state for cell in cells}) != 1 or len({cell.gate for cell in cells}) < 2:
        return
    for called, words in _grouped_by_text(cells, lambda cell: cell.why or None):
        yield f"{called}: {words}"


def _winner(cells: Sequence[HookAtHost]) -> Iterator[str]:
    if len({cell.path for cell in cells}) > 1:
        yield from _differing_sentences(cells, _copy, "uses {}")


def _copy(cell: HookAtHost) -> str:
    short = cell.side.host.machine.short
    return f"the {cell.source} copy in {short(cell.path)}" if isinstance(cell.path, Path) else cell.source


def _events(cells: Sequence[HookAtHost]) -> Iterator[str]:
    subscribed = [cell for cell in cells if cell.events]
    if len({tuple(event.key for event in cell.events) for cell in subscribed}) > 1:
        yield from _differing_sentences(
            subscribed, lambda cell: ", ".join(event.key for event in cell.events), "it subscribes to {}"
        )
    for key in dict.fromkeys(event.key for cell in subscribed for event in cell.events):
        if len({event.delivery for cell in subscribed if (event := _event_at(cell, key)) is not None}) < 2:
            continue
        for called, words in _grouped_by_text(subscribed, partial(_unsent_text, key)):
            yield f"{called}: {words}"


def _event_at(cell: HookAtHost, key: str) -> EventAtHost | None:
    return next((event for event in cell.events if event.key == key), None)


def _unsent_text(key: str, cell: HookAtHost) -> str | None:
    event = _event_at(cell, key)
    if event is None or event.delivery == "sent":
        return None
    if event.delivery == "never":
        return f"{event.key} is never sent"
    suggestion = f"; did you mean {event.near}?" if event.near else ""
    return f"there is no event {event.key}{suggestion}"


def _messages(cells: Sequence[HookAtHost]) -> Iterator[str]:
    for key in dict.fromkeys(event.key for cell in cells for event in cell.events):
        sent = [
            (cell, event)
            for cell in cells
            if (event := _event_at(cell, key)) is not None and event.delivery == "sent"
        ]
        undelivered = [cell for cell, event in sent if not event.delivers]
        if undelivered and any(map(_pushes, undelivered)) and len(undelivered) < len(sent):
            yield f"{_host_names(undelivered)}: messages pushed on {key} are not delivered"


def _pushes(cell: HookAtHost) -> bool:
    """Return whether the handler mentions messages at all; False if it cannot be read."""
    if cell.handler is None:
        return False
    try:
        return b"messages" in cell.side.host.machine.files.read(cell.handler, LARGEST_FILE)
    except OSError:
        return False


def _name(cells: Sequence[HookAtHost]) -> Iterator[str]:
    yield from _differing_sentences(
        cells, lambda cell: cell.row.hook.name if cell.row else "", "its name is {}"
    )


def _env(cells: Sequence[HookAtHost]) -> Iterator[str]:
    with_env = [
        cell for cell in cells if cell.row is not None and cell.side.host.entry_env(cell.row.hook.key)
    ]
    without = [cell for cell in with_env if not cell.side.dialect.entry_env]
    if without and len(without) < len(cells):
        yield f"{_host_names(without)}: the `env` of the hook's entry does not reach the handler"


def _differing_sentences(
    cells: Sequence[HookAtHost], value: Callable[[HookAtHost], str], words: str
) -> Iterator[str]:
    """Yield a sentence for each value if there are several."""
    if len({value(cell) for cell in cells}) > 1:
        for called, text in _grouped_by_text(cells, value):
            yield f"{called}: {words.format(text)}"


def _grouped_by_text(
    cells: Sequence[HookAtHost], words: Callable[[HookAtHost], str | None]
) -> Iterator[tuple[str, str]]:
    """Yield each sentence once, with the hosts that it applies to."""
    groups: dict[str, list[HookAtHost]] = {}
    for cell in cells:
        text = words(cell)
        if text is not None:
            groups.setdefault(text, []).append(cell)
    for text, group in groups.items():
        yield _host_names(group), text


def _host_names(cells: Sequence[HookAtHost]) -> str:
    return ", ".join(cell.side.title for cell in cells)
