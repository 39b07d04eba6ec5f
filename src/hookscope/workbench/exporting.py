"""What a console shows as a file of its user's: secrets masked, nothing overwritten unasked."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from hookscope.changes import Change
from hookscope.core.regular_file import read_regular
from hookscope.core.text import why_of
from hookscope.journal.redaction import Redaction
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.user_files import write
from hookscope.workbench.workspaces import path_meant

TEXT, JSON, PICTURE = ".txt", ".json", ".svg"
KINDS = (TEXT, JSON, PICTURE)


def masked(text: str, document: Any, redaction: Redaction) -> tuple[str, Any]:
    """Text and document with `${SECRET:NAME}` where a secret stood: known ones, and what looks like one."""
    veil = redaction.veil(document, text)
    return veil.text(text), veil.value(document)


def as_json(document: Any) -> str:
    """A document as a file."""
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def export_place(typed: str, folder: Path) -> Path:
    """The file that a typed name means, relative ones from that folder on."""
    return path_meant(typed, folder)


def why_not_there(file: Path) -> str:
    """Why an export cannot be that file, whatever stands there now; empty where it can."""
    if file.suffix not in KINDS:
        return f"The ending says what it becomes: {', '.join(KINDS)}."
    if not os.path.isdir(file.parent):
        return f"There is no folder {file.parent}."
    if os.path.exists(file) and not os.path.isfile(file):
        return f"{file} is no file."
    return ""


def write_export(file: Path, content: str, *, replace: bool) -> Path:
    """Write it. Raises Refusal where it cannot be, or where there is such a file and none may be replaced."""
    problem = why_not_there(file)
    if problem:
        raise Refusal(problem)
    try:
        before = read_regular(file) if os.path.exists(file) else None
        if before is not None and not replace:
            raise Refusal(f"There is {file} already.", "Export under another name.")
    except OSError as error:
        raise Refusal(f"{file} cannot be read: {why_of(error)}.", "Export under another name.") from None
    write(Change(file, f"export {file.name}", before, content.encode("utf-8", "replace")))
    return file
