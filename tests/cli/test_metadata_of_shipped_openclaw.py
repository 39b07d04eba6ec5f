"""Metadata that OpenClaw's guide does not read and openclaw@2026.9 does (its own cases fm-04 and fm-06)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.conftest import newest_shipped

if TYPE_CHECKING:
    from tests.cli.conftest import Program

NEWEST = newest_shipped("OpenClaw")
READ = f"{NEWEST.title}: does read command:new from this HOOK.md"


@pytest.mark.parametrize(
    "metadata",
    ['\'{"openclaw": {"events": ["command:new"]}}\'', '{clawdbot: {"events": ["command:new"]}}'],
    ids=["in quotes", "clawdbot"],
)
def test_a_hook_without_events_names_the_version_that_reads_its_metadata(
    hookscope: Program, workspace: Path, metadata: str
) -> None:
    folder = workspace / "hooks" / "mine"
    folder.mkdir(parents=True)
    (folder / "HOOK.md").write_text(f"---\nname: mine\ndescription: d\nmetadata:\n  {metadata}\n---\n")
    (folder / "handler.ts").write_text("export default async () => {};\n")
    (line,) = [line for line in hookscope("list").out.splitlines() if " mine " in line]
    assert line.endswith(f"; {READ}")
    assert READ in hookscope("check").out
    assert READ in hookscope("info", "mine").out
    assert f"; {NEWEST.name} already reads it." in hookscope("lint", "mine").out


def test_metadata_that_no_version_reads_is_not_mentioned(hookscope: Program, workspace: Path) -> None:
    folder = workspace / "hooks" / "mine"
    folder.mkdir(parents=True)
    (folder / "HOOK.md").write_text('---\nname: mine\nmetadata: {moltbot: {events: ["command:new"]}}\n---\n')
    (folder / "handler.ts").write_text("export default async () => {};\n")
    assert "as shipped: does read" not in hookscope("list").out + hookscope("info", "mine").out
    assert "already reads it" not in hookscope("lint", "mine").out
