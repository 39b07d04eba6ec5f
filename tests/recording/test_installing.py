"""A tap put into each host's own folder and taken away again: to the byte, and nobody else's."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import MakeHook

from hookscope.analysis.tap_report import tap_statuses
from hookscope.app.options import Options
from hookscope.app.trust_requests import waiting_for_trust
from hookscope.app.workbench import Workbench
from hookscope.hosts.dialects import DIALECTS
from hookscope.installation import shipped_hooks
from hookscope.model.failure import Refusal
from hookscope.model.hook_status import State
from hookscope.recording.installation import apply_tap_plan, plan_tap_install, plan_tap_removal
from hookscope.recording.taps import TapLanguage, spool_path

READY = "{openclaw: {events: [command:new]}}"
FOLDERS = [name for name, dialect in DIALECTS.items() if "folder" in dialect.kinds]
STREAMS = [name for name, dialect in DIALECTS.items() if "stream" in dialect.kinds]


def bench_of(dialect: str, workspace: Path, home: Path) -> Workbench:
    """The host is here: its state folder, or a project with two agents."""
    layout = DIALECTS[dialect].layout
    if layout.state:
        (home / layout.state.removeprefix("~/")).mkdir()
    else:
        helper = workspace / "agent" / "subagents" / "helper"
        helper.mkdir(parents=True)
        (helper / "agent.ts").write_text("export default {};\n")
        (workspace / "agent" / "instructions.md").touch()
    return Workbench(Options(dialect=dialect, workspace=workspace))


def snapshot(*roots: Path) -> dict[Path, bytes | None]:
    """Every file below these folders with its bytes, and every folder."""
    found = (path for root in roots for path in [root, *root.rglob("*")])
    return {path: path.read_bytes() if path.is_file() else None for path in found}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_tap_is_detected_after_install_and_removed_without_a_trace(
    dialect: str, home: Path, workspace: Path, language: TapLanguage
) -> None:
    bench = bench_of(dialect, workspace, home)
    before = snapshot(home, workspace)
    names = {row.hook.name for row in bench.scan().inventory.hooks}
    apply_tap_plan(plan_tap_install(bench.open(), language))
    view = bench.scan()
    taps = tap_statuses(bench, view)
    assert len(taps) == (1 if dialect in FOLDERS else 2)
    for tap in taps:
        row = next(row for row in view.inventory.hooks if row.hook.name == "event-tap")
        assert (tap.files_state, tap.events) == ("installed", row.events)
        assert row.verdict.shadowed_by is None
        needs_entry = dialect in ("openclaw@2026.9", "openclaw@2026.7", "openclaw@2026.6")
        assert [need.gate for need in tap.blockers] == (["selected"] if needs_entry else [])
        assert [gate.name for gate in row.verdict.failed() if gate.name != "trusted"] == [
            need.gate for need in tap.blockers
        ]
    assert {row.hook.name for row in view.inventory.hooks} == names | {"event-tap"}
    assert {root.name for root in snapshot(home, workspace)} >= {
        "event-tap" if dialect in FOLDERS else "hooks"
    }
    apply_tap_plan(plan_tap_removal(bench.open()))
    assert snapshot(home, workspace) == before
    with pytest.raises(Refusal, match="No tap is installed"):
        plan_tap_removal(bench.open())


@pytest.mark.parametrize("dialect", DIALECTS)
def test_tap_templates_are_not_bundled_hooks(dialect: str, home: Path, workspace: Path) -> None:
    assert (shipped_hooks() / "event-tap").is_dir()
    inventory = bench_of(dialect, workspace, home).scan().inventory
    assert not [row for row in inventory.hooks if "tap" in row.hook.name]
    assert not [item for item in inventory.rejected if "tap" in str(item.path)]


@pytest.mark.parametrize(
    ("dialect", "events"),
    [
        ("openclaw", ("command", "agent", "gateway", "message")),
        ("openclaw@2026.9", ("command", "session", "agent", "gateway", "message")),
        ("milady@2.0.0-alpha.76", ("gateway",)),
        ("eve@0.80", ("*",)),
    ],
)
def test_a_tap_subscribes_to_every_event_that_the_host_sends(
    dialect: str, events: tuple[str, ...], home: Path, workspace: Path
) -> None:
    plan = plan_tap_install(bench_of(dialect, workspace, home).open(), "typescript")
    assert {step.tap.events for step in plan.steps if step.tap} == {events}


def test_a_foreign_hook_of_the_same_name_is_kept(home: Path, workspace: Path, make_hook: MakeHook) -> None:
    bench = bench_of("openclaw", workspace, home)
    folder = make_hook(home / ".openclaw" / "hooks", "event-tap", READY)
    before = snapshot(home)
    with pytest.raises(Refusal, match="nothing was written"):
        apply_tap_plan(plan_tap_install(bench.open(), "typescript"))
    (folder / "HOOK.md").unlink()
    with pytest.raises(Refusal, match=r"handler\.py is a file of another program"):
        plan_tap_install(bench.open(), "typescript")
    (folder / "HOOK.md").write_bytes(before[folder / "HOOK.md"] or b"")
    assert snapshot(home) == before


def test_an_edited_tap_is_not_overwritten_or_removed(home: Path, workspace: Path) -> None:
    bench = bench_of("openclaw", workspace, home)
    apply_tap_plan(plan_tap_install(bench.open(), "typescript"))
    manifest = home / ".openclaw" / "hooks" / "event-tap" / "HOOK.md"
    manifest.write_text(manifest.read_text() + "mine\n")
    before = snapshot(home)
    with pytest.raises(Refusal, match="differs from what Hookscope wrote"):
        plan_tap_install(bench.open(), "python")
    with pytest.raises(Refusal, match="has changed since"):
        plan_tap_removal(bench.open())
    assert snapshot(home) == before
    (tap,) = tap_statuses(bench, bench.scan())
    assert tap.files_state == "changed"


def test_a_tap_in_another_language_replaces_the_first(home: Path, workspace: Path) -> None:
    bench = bench_of("openclaw", workspace, home)
    before = snapshot(home)
    folder = home / ".openclaw" / "hooks" / "event-tap"
    apply_tap_plan(plan_tap_install(bench.open(), "python"))
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "handler.cpython-311.pyc").touch()
    apply_tap_plan(plan_tap_install(bench.open(), "typescript"))
    assert sorted(path.name for path in folder.iterdir()) == ["HOOK.md", "handler.ts"]
    (tap,) = tap_statuses(bench, bench.scan())
    assert (tap.language, tap.files_state) == ("typescript", "installed")
    apply_tap_plan(plan_tap_removal(bench.open()))
    assert snapshot(home) == before


@pytest.mark.parametrize("dialect", STREAMS[:1])
def test_removal_deletes_taps_of_both_languages(dialect: str, home: Path, workspace: Path) -> None:
    bench = bench_of(dialect, workspace, home)
    before = snapshot(workspace)
    apply_tap_plan(plan_tap_install(bench.open(), "python"))
    apply_tap_plan(plan_tap_install(bench.open(), "typescript"))
    assert not list(workspace.rglob("event-tap.py"))
    assert len(list(workspace.rglob("event-tap.ts"))) == 2
    apply_tap_plan(plan_tap_removal(bench.open()))
    assert snapshot(workspace) == before


def test_a_current_tap_is_not_rewritten_and_an_old_one_is_updated(home: Path, workspace: Path) -> None:
    bench = bench_of("openclaw", workspace, home)
    apply_tap_plan(plan_tap_install(bench.open(), "typescript"))
    assert plan_tap_install(bench.open(), "typescript").changes == ()
    other = Workbench(Options(dialect="openclaw@2026.9", workspace=workspace))
    changes = plan_tap_install(other.open(), "typescript").changes
    assert {change.path.name for change in changes} == {"HOOK.md", "handler.ts"}
    apply_tap_plan(plan_tap_install(other.open(), "typescript"))
    assert b"session" in (home / ".openclaw/hooks/event-tap/HOOK.md").read_bytes()


def test_the_plugin_tap_stays_until_removed(home: Path, workspace: Path) -> None:
    bench = bench_of("openclaw@2026.9", workspace, home)
    before = snapshot(home)
    apply_tap_plan(plan_tap_install(bench.open(), "typescript", plugin_hooks=True))
    assert plan_tap_install(bench.open(), "typescript").changes == ()
    taps = tap_statuses(bench, bench.scan())
    assert [tap.name for tap in taps] == ["event-tap", "event-tap-plugin"]
    assert [need.gate for need in taps[1].blockers] == []
    assert any("allowConversationAccess" in note for note in taps[1].notes)
    apply_tap_plan(plan_tap_removal(bench.open()))
    assert snapshot(home) == before


def test_recorded_events_survive_the_removal(home: Path, workspace: Path) -> None:
    bench = bench_of("openclaw", workspace, home)
    apply_tap_plan(plan_tap_install(bench.open(), "typescript"))
    events = spool_path(bench.open()) / "events.jsonl"
    events.write_text("kept\n")
    apply_tap_plan(plan_tap_removal(bench.open()))
    assert events.read_text() == "kept\n"


def test_a_host_that_is_not_installed_gets_no_folders(home: Path, workspace: Path) -> None:
    before = snapshot(home, workspace)
    for dialect, name in (("openclaw", "OpenClaw"), ("eve", "Eve")):
        with pytest.raises(Refusal, match=f"{name} is not here"):
            plan_tap_install(Workbench(Options(dialect=dialect, workspace=workspace)).open(), "typescript")
    assert snapshot(home, workspace) == before
    (workspace / "agent").mkdir()
    with pytest.raises(Refusal, match="no plugin hooks"):
        plan_tap_install(
            Workbench(Options(dialect="eve", workspace=workspace)).open(), "typescript", plugin_hooks=True
        )


def test_an_unwritable_folder_is_unchanged(home: Path, workspace: Path) -> None:
    bench = bench_of("openclaw", workspace, home)
    hooks = home / ".openclaw" / "hooks"
    hooks.mkdir()
    (hooks / "event-tap").mkdir()
    plan = plan_tap_install(bench.open(), "typescript")
    (hooks / "event-tap" / "HOOK.md").write_text("somebody was faster\n")  # the second file to be written
    before = snapshot(hooks)
    with pytest.raises(Refusal, match="has changed since"):
        apply_tap_plan(plan)
    assert snapshot(hooks) == before
    assert tap_statuses(bench, bench.scan()) == ()


def test_a_tap_without_undo_record_is_not_written(
    home: Path, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = bench_of("openclaw", workspace, home)
    before = snapshot(home)
    blocked = tmp_path / "a file"
    blocked.touch()
    monkeypatch.setenv("HOOKSCOPE_STATE_DIR", str(blocked))
    with pytest.raises(Refusal):
        apply_tap_plan(plan_tap_install(bench.open(), "typescript"))
    assert snapshot(home) == before


@pytest.mark.parametrize("dialect", ["openclaw", "openclaw@2026.9"])
def test_a_hooks_folder_that_is_a_link_is_followed(
    dialect: str, home: Path, workspace: Path, tmp_path: Path
) -> None:
    bench = bench_of(dialect, workspace, home)
    (tmp_path / "dotfiles" / "hooks").mkdir(parents=True)
    (home / ".openclaw" / "hooks").symlink_to(tmp_path / "dotfiles" / "hooks")
    apply_tap_plan(plan_tap_install(bench.open(), "typescript"))
    view = bench.scan()
    (tap,) = tap_statuses(bench, view)
    assert "found" not in [need.gate for need in tap.blockers]
    source = (tmp_path / "dotfiles" / "hooks" / "event-tap" / "handler.ts").read_text()
    assert '"../../../home/.openclaw/hookscope"' in source
    plan = bench.plan(view, bench.template(view, "command:new"))
    assert (
        "records only what its host sends" in next(one for one in plan.not_run if one.name == tap.name).reason
    )
    assert waiting_for_trust(view, plan) == ()
    apply_tap_plan(plan_tap_removal(bench.open()))
    assert not any((tmp_path / "dotfiles" / "hooks").iterdir())


def test_a_disabled_tap_names_the_command_that_enables_it(home: Path, workspace: Path) -> None:
    bench = bench_of("openclaw@2026.9", workspace, home)
    (home / ".openclaw" / "openclaw.json").write_text('{"hooks": {"internal": {"entries": {"other": {}}}}}')
    apply_tap_plan(plan_tap_install(bench.open(), "typescript"))
    (tap,) = tap_statuses(bench, bench.scan())
    (need,) = tap.blockers
    assert need.gate == "selected"
    command = f"hookscope --dialect openclaw@2026.9 --workspace {workspace} enable event-tap"
    assert command in need.next_step
    bench.edits.apply(bench.edits.toggle(bench.scan(), "event-tap", True, as_command=True))
    (tap,) = tap_statuses(bench, bench.scan())
    assert tap.blockers == ()
    row = bench.scan().inventory.find("event-tap")
    assert row is not None
    assert row.state is State.UNTRUSTED  # which no host asks for
    bench.close_now()  # with the journal, whose files another test would see closed


def test_a_python_tap_names_the_hosts_that_run_it(home: Path, workspace: Path) -> None:
    bench = bench_of("openclaw", workspace, home)
    apply_tap_plan(plan_tap_install(bench.open(), "python"))
    (tap,) = tap_statuses(bench, bench.scan())
    assert any("does not run Python" in note for note in tap.notes)
