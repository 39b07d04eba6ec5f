"""What a handler adds to the system prompt and its host leaves out is said beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Program
    from tests.conftest import MakeHook

BOOT = "{openclaw: {events: ['agent:bootstrap']}}"
ADDS = """def handler(event):
    files = event.context["bootstrapFiles"]
    files[0]["content"] += " And kind."
    files.append({"name": "CUSTOM.md", "content": "mine", "type": "custom"})
    files.append({"name": "KEPT.md", "path": "KEPT.md", "content": "mine"})
"""
REPLACES = """def handler(event):
    event.context["bootstrapFiles"] = [{"content": "mine", "path": " "}]
"""


@pytest.mark.parametrize(
    ("source", "named"), [(ADDS, "CUSTOM.md"), (REPLACES, "number 1")], ids=["adds", "replaces"]
)
def test_a_file_without_a_path_is_said_to_be_left_out(
    source: str, named: str, hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "boot", BOOT, source)
    said = f"it put into event.context.bootstrapFiles what has no `path` ({named}): its host leaves that out"
    for dialect, notes in (("openclaw@2026.9", [said]), ("openclaw", [])):
        fired = hookscope(
            "fire", "agent:bootstrap", "--only", "boot", "--force", "--trust", "--json", "--dialect", dialect
        )
        (result,) = fired.json["results"]
        assert result["notes"] == notes
