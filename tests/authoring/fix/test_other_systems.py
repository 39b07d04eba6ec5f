"""Plugins and the modules of a stream: what can be written is written, and for the rest there are words."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.authoring.fix.conftest import Bench

from hookscope.authoring.fix.repair import apply_repair, find_repair
from hookscope.model.failure import Refusal
from hookscope.model.hook_status import State

SETTINGS = {
    "switch": {"enabled": False},
    "enabled": {"entries": {"p": {"enabled": False}}},
    "allow": {"allow": ["other"]},
    "deny": {"deny": ["other", "p"]},
}


@pytest.fixture
def plugin(home: Path) -> Path:
    folder = home / ".openclaw" / "plugins" / "p"
    folder.mkdir(parents=True)
    (folder / "openclaw.plugin.json").write_text('{"id": "p", "configSchema": {"type": "object"}}')
    (folder / "index.py").write_text(
        "def register(api):\n    api.on('message_received', lambda event: None)\n"
    )
    return folder


@pytest.mark.parametrize("dialect", ["openclaw", "openclaw@2026.9"])
@pytest.mark.parametrize("gate", SETTINGS)
def test_a_plugin_is_let_in_and_taken_back(
    bench: Bench, home: Path, plugin: Path, dialect: str, gate: str
) -> None:
    file = home / ".openclaw" / "openclaw.json"
    file.write_text(f"// mine\n{json.dumps({'plugins': SETTINGS[gate]})}\n")
    before = file.read_bytes()
    here = bench(dialect)
    here.trust(home, everything_below=True)
    if dialect != "openclaw":
        plugin.parent.rename(home / ".openclaw" / "extensions")
    view = here.scan()
    repair = find_repair(here, view, "p")
    assert [fix.gate for fix in repair.fixes] == [gate]
    assert repair.after is not None
    assert repair.after.state in (State.READY, State.SILENT)
    apply_repair(here, repair)
    assert b"// mine" in file.read_bytes()
    here.edits.undo(here.edits.pending_undo())
    assert file.read_bytes() == before


def without_code(folder: Path) -> None:
    (folder / "index.py").unlink()


def without_function(folder: Path) -> None:
    (folder / "index.py").write_text("answer = 42\n")


def unreadable_code(folder: Path) -> None:
    (folder / "index.py").write_text("def register(api:\n")


def wrong_type(folder: Path) -> None:
    (folder / "openclaw.plugin.json").write_text('{"id": 7, "configSchema": {"type": "object"}}')


def unreadable_manifest(folder: Path) -> None:
    (folder / "openclaw.plugin.json").write_text('{"id": "p", ')


def led_out(folder: Path) -> None:
    there = folder.parent.parent / "elsewhere.py"
    (folder / "index.py").rename(there)
    (folder / "index.py").symlink_to(there)


@pytest.mark.parametrize("dialect", ["openclaw", "openclaw@2026.9"])
@pytest.mark.parametrize(
    ("broken", "gate", "named", "next_step"),
    [
        (without_code, "found", "looked for index.ts", "only its author"),
        (without_function, "export", "has no `register`", "index.py:1"),
        (unreadable_code, "handler", "was never closed", "index.py:1"),
        (wrong_type, "found", "needs a string as `id`", "openclaw.plugin.json:1"),
        (unreadable_manifest, "found", "unclosed object", "openclaw.plugin.json:1"),
        (led_out, "path", "elsewhere.py", "move "),
    ],
)
def test_what_stops_a_plugin_and_only_its_author_can_mend_is_said(
    bench: Bench,
    home: Path,
    plugin: Path,
    dialect: str,
    broken: Callable[[Path], None],
    gate: str,
    named: str,
    next_step: str,
) -> None:
    broken(plugin)
    here = bench(dialect)
    here.trust(home, everything_below=True)
    if dialect != "openclaw":
        plugin.parent.rename(home / ".openclaw" / "extensions")
    view = here.scan()
    rows = [row for row in view.inventory.hooks if row.hook.name == "p"]
    shut = [one for row in rows for one in row.verdict.failed()]
    assert [one.name for one in shut] == ([gate] if rows else [])
    assert named in " ".join(
        [*(one.reason for one in shut), *(one.reason for one in view.inventory.rejected)]
    )
    (fix,) = find_repair(here, view, "p").fixes
    assert (fix.gate, fix.changes) == (gate, ())
    assert next_step in fix.why_not


def test_a_plugin_that_hears_a_slip_of_the_pen_is_corrected(bench: Bench, home: Path, plugin: Path) -> None:
    code = plugin / "index.py"
    before = code.read_text()
    code.write_text(before.replace("message_received", "mesage_received"))
    here = bench()
    here.trust(home, everything_below=True)
    repair = find_repair(here, here.scan(), "p")
    assert [fix.gate for fix in repair.fixes] == ["sent"]
    apply_repair(here, repair)
    assert code.read_text() == before
    here.edits.undo(here.edits.pending_undo())
    assert "mesage_received" in code.read_text()


def test_a_list_with_comments_is_left_to_its_user(bench: Bench, home: Path, plugin: Path) -> None:
    file = home / ".openclaw" / "openclaw.json"
    file.write_text("{plugins: {allow: ['other', // mine\n]}}")
    here = bench()
    here.trust(home, everything_below=True)
    repair = find_repair(here, here.scan(), "p")
    assert not repair.changes
    assert "comments" in repair.fixes[0].why_not


@pytest.mark.parametrize("dialect", ["eve", "eve@0.18", "eve@0.80"])
def test_what_stops_a_module_of_a_stream_is_said(bench: Bench, workspace: Path, dialect: str) -> None:
    hooks = workspace / "agent" / "hooks"
    hooks.mkdir(parents=True)
    (workspace / "agent" / "agent.ts").write_text("export default {};\n")
    (workspace / "agent" / "instructions.md").touch()
    (hooks / "audit.ts").write_text('export default { events: { "turn.stared"() {} } };\n')
    here = bench(dialect)
    words = {fix.gate: fix for fix in find_repair(here, here.scan(), "audit").fixes}
    assert words["trusted"].hint.startswith("hookscope trust ")
    (change,) = words["sent"].changes
    assert change.preview().splitlines()[-1] == '+export default { events: { "turn.started"() {} } };'
    twice = 'const own = "turn.stared";\nexport default { events: { "turn.stared"() { return own; } } };\n'
    (hooks / "audit.ts").write_text(twice)
    words = {fix.gate: fix for fix in find_repair(here, here.scan(), "audit").fixes}
    assert words["sent"].why_not == f"replace turn.stared with turn.started at {hooks / 'audit.ts'}:1"
    here.trust(workspace)
    (hooks / "audit.js").write_text("export default {};\n")
    (hooks / "other.ts").write_text('export default { events: { "turn.started"() {} } };\n')
    repair = find_repair(here, here.scan(), "other")
    assert [fix.gate for fix in repair.fixes] == ["build"]
    assert f"{hooks} is corrected" in repair.fixes[0].why_not
    assert not repair.changes


@pytest.mark.parametrize("dialect", ["eve@0.18", "eve@0.80"])
def test_instructions_that_are_not_there_are_begun(bench: Bench, workspace: Path, dialect: str) -> None:
    hooks = workspace / "agent" / "hooks"
    hooks.mkdir(parents=True)
    (hooks / "audit.ts").write_text('export default { events: { "turn.started"() {} } };\n')
    here = bench(dialect)
    here.trust(workspace)
    repair = find_repair(here, here.scan(), "audit")
    assert [fix.title for fix in repair.fixes] == [f"Create {workspace / 'agent' / 'instructions.md'}"]
    assert repair.ready
    apply_repair(here, repair)
    assert [row.state for row in here.scan().inventory.hooks] == [State.READY]
    here.edits.undo(here.edits.pending_undo())
    assert not (workspace / "agent" / "instructions.md").exists()


def test_what_only_its_author_can_mend_is_said_with_its_line(
    bench: Bench, home: Path, workspace: Path, tmp_path: Path
) -> None:
    folder = workspace / "hooks" / "h"
    folder.mkdir()
    (folder / "HOOK.md").write_text('---\nname: h\nmetadata: {"openclaw": {"events": ["command"]}}\n---\n')
    (folder / "handler.py").write_text("def handler(event):\n    return (\n")
    here = bench()
    fixes = {fix.gate: fix for fix in find_repair(here, here.scan(), "h").fixes}
    assert f"correct it at {folder}/handler.py:2" in fixes["handler"].why_not
    (folder / "handler.py").unlink()
    (tmp_path / "far.py").write_text("def handler(event): ...\n")
    (folder / "handler.py").symlink_to(tmp_path / "far.py")
    fixes = {fix.gate: fix for fix in find_repair(here, here.scan(), "h").fixes}
    assert f"move {tmp_path / 'far.py'}" in fixes["path"].why_not
    (home / ".openclaw").mkdir(exist_ok=True)
    (home / ".openclaw" / "openclaw.json").write_text('{"hooks": {"internal": {"nonsense": 1}}}')
    here = bench("openclaw@2026.9")
    fixes = {fix.gate: fix for fix in find_repair(here, here.scan(), "h").fixes}
    assert "correct by hand: ./.openclaw/openclaw.json:1, hooks.internal" in fixes["settings"].why_not


def test_a_repair_is_written_whole_or_not_at_all(bench: Bench, home: Path, workspace: Path) -> None:
    folder = workspace / "hooks" / "h"
    folder.mkdir()
    (folder / "handler.cjs").write_text("module.exports = () => {}\n")
    manifest = folder / "HOOK.md"
    manifest.write_text('---\nname: h\nmetadata: {"clawd": {"events": ["command:new"]}}\n---\n')
    here = bench()
    repair = find_repair(here, here.scan(), "h")
    assert len(repair.changes) == 2
    manifest.write_text(manifest.read_text() + "Written on meanwhile.\n")
    with pytest.raises(Refusal, match="has changed since"):
        apply_repair(here, repair)
    assert sorted(path.name for path in folder.iterdir()) == ["HOOK.md", "handler.cjs"]
    with pytest.raises(Refusal, match="nothing to undo"):
        here.edits.pending_undo()


@pytest.mark.parametrize(
    "text", [b"", b"\xff\xfe\x00", b"prose alone\n", b"---\nmetadata: [\n---\n", b"---\n" * 9000]
)
def test_a_manifest_of_any_kind_gets_a_calm_answer(bench: Bench, workspace: Path, text: bytes) -> None:
    folder = workspace / "hooks" / "h"
    folder.mkdir()
    (folder / "HOOK.md").write_bytes(text)
    (folder / "handler.py").write_text("def handler(event): pass\n")
    for dialect in ("openclaw", "openclaw@2026.9", "milady@2.0.0-alpha.76"):
        here = bench(dialect)
        repair = find_repair(here, here.scan(), "h")
        assert all(fix.changes or fix.required_values or fix.hint or fix.why_not for fix in repair.fixes)
        assert repair.fixes
    assert (folder / "HOOK.md").read_bytes() == text


def test_a_bundled_hook_is_not_mended_in_place(bench: Bench, tmp_path: Path) -> None:
    here = bench()
    folder = tmp_path / "bundled" / "h"
    folder.mkdir()
    (folder / "HOOK.md").write_text('---\nname: h\nmetadata: {"clawd": {"events": ["command:new"]}}\n---\n')
    (folder / "handler.py").write_text("def handler(event): pass\n")
    repair = find_repair(here, here.scan(), "h")
    assert not repair.changes
    assert "fix a copy in the workspace" in repair.fixes[0].why_not


def test_a_hook_that_the_load_never_reaches_names_the_one_that_ends_it(bench: Bench, home: Path) -> None:
    hooks = home / ".milady" / "hooks"
    for name, needs in (("a", {"anyBins": "text"}), ("b", {})):
        (hooks / name).mkdir(parents=True)
        metadata = json.dumps({"milady": {"events": ["gateway:startup"], "requires": needs}})
        (hooks / name / "HOOK.md").write_text(f"---\nname: {name}\nmetadata: {metadata}\n---\n")
        (hooks / name / "handler.ts").write_text("export default () => {};\n")
    here = bench("milady@2.0.0-alpha.76")
    here.trust(home, everything_below=True)
    view = here.scan()
    assert "`hookscope fix a`" in find_repair(here, view, "b").fixes[0].why_not
    apply_repair(here, find_repair(here, view, "a"))
    row = here.scan().inventory.find("b")
    assert row is not None
    assert row.state is State.READY


def test_of_two_hooks_of_one_name_the_loser_is_told_so(bench: Bench, home: Path, workspace: Path) -> None:
    for hooks in (home / ".openclaw" / "hooks", workspace / "hooks"):
        (hooks / "h").mkdir(parents=True)
        (hooks / "h" / "HOOK.md").write_text(
            '---\nname: h\nmetadata: {"openclaw": {"events": ["command"]}}\n---\n'
        )
        (hooks / "h" / "handler.py").write_text("def handler(event): pass\n")
    here = bench()
    view = here.scan()
    loser = next(row for row in view.inventory.hooks if row.verdict.shadowed_by is not None)
    repair = find_repair(here, view, loser)
    assert (repair.changes, repair.fixes[0].gate) == ((), "shadowed")
