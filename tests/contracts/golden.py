"""The recorded contracts on disk, and how they differ from what the program answers now."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.contracts.names import library, options
from tests.contracts.recorded import answers
from tests.forking import Forks

from hookscope.storage.journal.database import SCHEMA_VERSION

FOLDER = Path(__file__).parent / "golden"


def contracts(root: Path, forks: Forks) -> dict[str, str]:
    """Name → text of every contract as it is now; `root` is an empty folder for the sample."""
    root.mkdir(parents=True, exist_ok=True)
    found: Mapping[str, Any] = {
        "options": options(),
        "library": library(),
        "journal": {"schema version": SCHEMA_VERSION},
        **dict(answers(root, forks)),
    }
    return {name: json.dumps(value, indent=1, ensure_ascii=False) + "\n" for name, value in found.items()}


def recorded() -> dict[str, str]:
    """Name → text of every contract on disk."""
    return {file.stem: file.read_text() for file in sorted(FOLDER.glob("*.json"))}


def difference(name: str, before: str, after: str) -> str:
    """A unified diff of one contract; empty where nothing changed."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), f"recorded {name}", f"now {name}", lineterm="", n=2
    )
    return "\n".join(lines)


def accept(now: Mapping[str, str]) -> None:
    """Record these contracts in place of those on disk."""
    FOLDER.mkdir(exist_ok=True)
    for name in recorded().keys() - now.keys():
        (FOLDER / f"{name}.json").unlink()
    for name, text in now.items():
        (FOLDER / f"{name}.json").write_text(text)
