"""Metadata that stands in quotes is mended as a whole, a misspelt event in it too."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Program
    from tests.conftest import MakeHook

QUOTED = """'{"openclaw": {"events": ["gateway:start"]}}'"""


def test_metadata_in_quotes_is_taken_out_and_its_events_are_corrected(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    folder = make_hook(workspace / "hooks", "quoted", QUOTED, "def handler(event): ...\n")
    said = hookscope("fix", "quoted", "--apply")
    assert "Remove the quotes around metadata" in said.out
    assert 'metadata: {"openclaw": {"events": ["gateway:startup"]}}' in (folder / "HOOK.md").read_text()
    states = {hook["name"]: hook["state"] for hook in hookscope("list", "--json").json["hooks"]}
    assert states["quoted"] in ("ready", "untrusted")
