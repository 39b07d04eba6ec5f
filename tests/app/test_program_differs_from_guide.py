"""What the program does otherwise than its guide is said beside every hook it concerns."""

import json
from pathlib import Path

import pytest
from tests.conftest import MakeHook, newest_shipped

from hookscope.app.options import Options
from hookscope.app.snapshot import Snapshot
from hookscope.app.workbench import Workbench
from hookscope.console.widgets.header import top_line

FLOW = "{openclaw: {events: [command:stop]}}"
BLOCK = """
  openclaw:
    events: ["command:stop", "agent:bootstrap"]
"""


def looked(workspace: Path, dialect: str, tmp_path: Path) -> Snapshot:
    return Workbench(Options(workspace=workspace, dialect=dialect, bundled=tmp_path)).scan()


def notes(view: Snapshot, name: str) -> list[str]:
    row = view.inventory.find(name)
    assert row is not None
    told = [note.split(": ", 1) for note in row.dialect_differences]
    assert all(
        title in ("OpenClaw 2026.9, as shipped", "Milady 2.0.0-alpha.76, as shipped") for title, _ in told
    )
    return [text for _, text in told]


def test_metadata_ignored_by_the_program_is_noted(
    workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "flow", FLOW, file="handler.ts")
    (told,) = notes(looked(workspace, "openclaw", tmp_path), "flow")
    assert told.startswith("reads no events from this HOOK.md")


def test_disabled_workspace_hooks_and_ignored_messages_are_noted(
    workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "block", "x", file="handler.ts")
    manifest = workspace / "hooks/block/HOOK.md"
    manifest.write_text(f"---\nname: block\ndescription: d\nmetadata:{BLOCK}---\n")
    told = notes(looked(workspace, "openclaw", tmp_path), "block")
    assert any(text.startswith("it would be off: workspace hook (disabled by default)") for text in told)
    assert "discards messages that are pushed on command:stop" in told


def test_workspace_hook_that_cannot_override_is_noted(
    workspace: Path, home: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    metadata = '{"openclaw": {"events": ["command:new"]}}'
    make_hook(workspace / "hooks", "same", metadata, file="handler.ts")
    make_hook(home / ".openclaw/hooks", "same", metadata, file="handler.ts")
    settings = home / ".openclaw/openclaw.json"
    settings.write_text(json.dumps({"hooks": {"internal": {"entries": {"same": {"enabled": True}}}}}))
    view = looked(workspace, "openclaw", tmp_path)
    winner = next(row for row in view.inventory.hooks if row.verdict.shadowed_by is None)
    assert winner.hook.folder.source == "workspace"
    assert any(
        "the managed hook in" in note and "shadows this one" in note for note in winner.dialect_differences
    )


def test_event_never_sent_is_noted(home: Path, workspace: Path, tmp_path: Path, make_hook: MakeHook) -> None:
    make_hook(home / ".milady/hooks", "new", '{"milady": {"events": ["command:new"]}}', file="handler.ts")
    assert "never sends command:new" in notes(looked(workspace, "milady", tmp_path), "new")


def test_a_shipped_dialect_is_compared_with_nothing(
    workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "flow", FLOW, file="handler.ts")
    assert notes(looked(workspace, "openclaw@2026.9", tmp_path), "flow") == []


@pytest.mark.parametrize(
    ("version", "dialect"),
    [
        ("2026.9.6", "openclaw@2026.9"),
        ("2026.8.1", "openclaw@2026.9"),
        ("2026.7.35", "openclaw@2026.7"),
        ("2026.6.33", "openclaw@2026.6"),
        ("2026.3.31", "openclaw@2026.3"),
        ("2027.1.0", newest_shipped("OpenClaw").name),
        ("2026.5.2", "openclaw@2026.3"),
        ("2026.1.3", "openclaw@2026.3"),
    ],
)
def test_the_installed_program_decides_the_dialect(
    version: str,
    dialect: str,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    make_hook: MakeHook,
) -> None:
    package = tmp_path / "lib/node_modules/openclaw"
    (package / "dist").mkdir(parents=True)
    (package / "package.json").write_text(json.dumps({"name": "openclaw", "version": version}))
    program = package / "openclaw.mjs"
    program.write_text("#!/usr/bin/env node\n")
    program.chmod(0o755)
    own = '{"openclaw": {"events": ["command:new"]}}'
    make_hook(package / "dist/bundled", "compaction-notifier", own, file="handler.js")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/openclaw").symlink_to(program)
    (home / ".openclaw").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    bench = Workbench(Options())
    assert bench.dialect.name == dialect
    view = bench.scan()
    known = view.dialect_reason.startswith(f"found OpenClaw {version} in ")
    warning = (
        f"OpenClaw {version} found; these are the rules of {dialect.partition('@')[2]}, which may differ"
    )
    assert known == (version.rpartition(".")[0] in ("2026.9", "2026.8", "2026.7", "2026.6", "2026.3"))
    assert (view.dialect_reason == warning, f"{warning}." in bench.setup.notes) == (not known, not known)
    assert view.unknown_version == ("" if known else version)
    assert (f"≠ {version} found" in top_line(view, 80).plain) == (not known)
    names = {row.hook.name for row in view.inventory.hooks if row.hook.folder.source == "bundled"}
    assert {"compaction-notifier", "command-logger"} <= names, "its own hooks stand beside Hookscope's"
    monkeypatch.setenv("OPENCLAW_BUNDLED_HOOKS_DIR", str(tmp_path / "bin"))
    moved = Workbench(Options()).scan().inventory.hooks
    assert [row.hook.name for row in moved if row.hook.folder.source == "bundled"] == []


def test_version_in_the_settings_decides_the_dialect(home: Path) -> None:
    (home / ".openclaw").mkdir()
    (home / ".openclaw/openclaw.json").write_text("{meta: {lastTouchedVersion: '2026.9.4'}}")
    assert Workbench(Options()).dialect.name == "openclaw@2026.9"
    (home / ".openclaw/openclaw.json").write_text("{}")
    assert Workbench(Options()).dialect.name == "openclaw"


def test_always_skips_fewer_gates_than_the_guide(
    home: Path, workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    metadata = '{"openclaw": {"events": ["command:new"], "always": true, "os": ["win32"]}}'
    make_hook(home / ".openclaw/hooks", "always", metadata, file="handler.ts")
    (home / ".openclaw/openclaw.json").write_text('{"hooks": {"internal": {"enabled": true}}}')
    told = notes(looked(workspace, "openclaw", tmp_path), "always")
    assert any(text.startswith("it would be blocked: ") for text in told), told


def test_entries_as_allow_list_are_noted(
    home: Path, workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    metadata = '{"openclaw": {"events": ["command:new"]}}'
    for name in ("listed", "unlisted"):
        make_hook(home / ".openclaw/hooks", name, metadata, file="handler.ts")
    settings = {"hooks": {"internal": {"entries": {"listed": {"enabled": True}}}}}
    (home / ".openclaw/openclaw.json").write_text(json.dumps(settings))
    view = looked(workspace, "openclaw", tmp_path)
    assert any(text.startswith("it would be off: ") for text in notes(view, "unlisted"))
    assert not any(text.startswith("it would be off: ") for text in notes(view, "listed"))


def test_removed_handler_lists_are_noted(workspace: Path, home: Path, tmp_path: Path) -> None:
    module = workspace / "hooks" / "old.py"
    module.write_text("def handler(event): pass")
    handlers = [{"event": "command:new", "module": str(module)}]
    (home / ".openclaw").mkdir()
    settings = {"hooks": {"internal": {"handlers": handlers}}}
    (home / ".openclaw/openclaw.json").write_text(json.dumps(settings))
    view = looked(workspace, "openclaw", tmp_path)
    (row,) = [row for row in view.inventory.hooks if row.hook.kind == "legacy"]
    assert any("no longer reads handlers from its settings" in note for note in row.dialect_differences)


def test_different_place_of_entries_is_noted(
    home: Path, workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    metadata = '{"milady": {"events": ["gateway:startup"]}}'
    make_hook(home / ".milady/hooks", "switched", metadata, file="handler.ts")
    settings = {"hooks": {"entries": {"switched": {"enabled": False}}}}
    (home / ".milady/milady.json").write_text(json.dumps(settings))
    told = notes(looked(workspace, "milady", tmp_path), "switched")
    assert "would run it: it is off only by the guide's rules" in told


def test_ignored_environment_of_entries_is_noted(
    home: Path, workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    metadata = '{"openclaw": {"events": ["command:new"]}}'
    make_hook(home / ".openclaw/hooks", "env", metadata, file="handler.ts")
    settings = {"hooks": {"internal": {"entries": {"env": {"enabled": True, "env": {"KEY": "value"}}}}}}
    (home / ".openclaw/openclaw.json").write_text(json.dumps(settings))
    told = notes(looked(workspace, "openclaw", tmp_path), "env")
    assert any("counts only for its checks" in text for text in told)
