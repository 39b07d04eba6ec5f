"""What a HOOK.md says under `metadata`, whichever host would read it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from hookscope.core.surroundings import Files
from hookscope.formats import FormatError, header_block, read_frontmatter, read_json5
from hookscope.values import dataclass

LARGEST = 1_048_576  # bytes; a larger HOOK.md is a hook to nobody
OURS = "hookscope"  # the namespace that no host reads


@dataclass(frozen=True, slots=True)
class Written:
    """The namespaces under `metadata`, and whether its spelling is JSON."""

    blocks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    as_json: bool = False  # strict JSON, begun on the line `metadata:`

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The hosts' names that metadata stands under, in order."""
        return tuple(self.blocks)

    def events_of(self, namespace: str) -> tuple[str, ...]:
        """The events that it lists for one host; none where they are no list."""
        listed = self.blocks.get(namespace, {}).get("events")
        return tuple(map(str, listed)) if isinstance(listed, list) else ()


def written_in(manifest: Path | None, files: Files) -> Written:
    """What stands in this file; nothing where it cannot be read, or is no header."""
    if manifest is None:
        return Written()
    try:
        source = files.read(manifest, LARGEST)
    except OSError:
        return Written()
    block = _metadata_of(source)
    named = {str(name): value for name, value in block.items() if isinstance(value, dict) and name != OURS}
    return Written(named, _is_json(source))


def _metadata_of(source: bytes) -> Mapping[Any, Any]:
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
