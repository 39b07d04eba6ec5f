"""The files of a tap, put together from `bundled_hooks/event-tap`. Pure, but for reading those templates."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from hookscope.core.runs import EventKind
from hookscope.values import dataclass
from hookscope.workbench.options import shipped_hooks
from hookscope.workbench.tap.record import NAME

TapLanguage = Literal["typescript", "python"]
PLUGIN_NAME = f"{NAME}-plugin"
SUFFIX: Mapping[TapLanguage, str] = {"typescript": ".ts", "python": ".py"}
MODULE: Mapping[EventKind, Mapping[TapLanguage, str]] = {
    "folder": {"typescript": "handler.ts", "python": "handler.py"},
    "plugin": {"typescript": "index.ts", "python": "plugin.py"},
    "stream": {"typescript": f"{NAME}.ts", "python": f"{NAME}.py"},
}
IMPORT: Mapping[TapLanguage, str] = {
    "typescript": 'import { tap } from "./spool.ts";\n',
    "python": "from .spool import tap\n",
}
PYTHON_HEAD = re.compile(r'\A""".*?"""\n\nfrom __future__ import annotations\n\n', re.DOTALL)
EVENT = '"EVENT"'  # stands in the line that a plugin has for each of its events


@dataclass(frozen=True, slots=True)
class TapTexts:
    """What an install writes into the templates."""

    spool: str  # the spool's folder: absolute, or as seen from the module
    host: str  # the dialect
    events: Sequence[str]


def module_of(kind: EventKind, language: TapLanguage, filling: TapTexts) -> bytes:
    """The module that a host loads: one file that needs nothing beside it."""
    folder = shipped_hooks() / NAME / language
    form = (folder / f"{kind}{SUFFIX[language]}").read_text(encoding="utf-8")
    spool = (folder / f"spool{SUFFIX[language]}").read_text(encoding="utf-8")
    spool = PYTHON_HEAD.sub("", spool).replace("export function tap(", "function tap(")
    for name, value in (("SPOOL", filling.spool), ("HOST", filling.host)):
        spool = spool.replace(f'{name} = ""', f"{name} = {json.dumps(value)}", 1)
    lines = form.splitlines(keepends=True)
    filled = (line.replace(EVENT, json.dumps(event)) for line in lines for event in _events(line, filling))
    return "".join(filled).replace(IMPORT[language], spool.rstrip() + "\n", 1).encode()


def _events(line: str, filling: TapTexts) -> Sequence[str]:
    """The events that a line is repeated for; a line that names none stands once."""
    return filling.events if EVENT in line else ("",)


def manifest_of(namespace: str, filling: TapTexts) -> bytes:
    """The HOOK.md: its metadata is JSON in one line, which the readers of all hosts read."""
    text = (shipped_hooks() / NAME / "HOOK.template.md").read_text(encoding="utf-8")
    metadata = {namespace: {"emoji": "🚰", "events": list(filling.events)}}
    return text.replace("metadata: {}", f"metadata: {json.dumps(metadata, ensure_ascii=False)}", 1).encode()


def plugin_manifest() -> bytes:
    """The manifest of the plugin."""
    return (shipped_hooks() / NAME / "plugin.template.json").read_bytes()


def spool_folder_name(workspace: Path) -> str:
    """A name for the spool of a project: readable, and no other project's."""
    from hashlib import sha256  # here: a look needs none

    return (
        f"{workspace.name or 'project'}-{sha256(str(workspace).encode('utf-8', 'replace')).hexdigest()[:12]}"
    )
