"""A plan that was made and shown is carried out only where everything is still as it was then."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.packs.conftest import SETTINGS, Cli, make_pack, on_disk

from hookscope.app.options import Options
from hookscope.app.pack_manager import PackManager
from hookscope.app.workbench import Workbench
from hookscope.model.failure import Refusal
from hookscope.packs.plan import PackPlan

Change = Callable[[Path, Cli], object]


def settings_edited(state: Path, cli: Cli) -> None:
    (state / "openclaw.json").write_text(SETTINGS.replace("// mine", "// ours"))


def settings_gone(state: Path, cli: Cli) -> None:
    (state / "openclaw.json").unlink()


def target_taken(state: Path, cli: Cli) -> None:
    (state / "hooks" / "hello").mkdir()


def target_linked(state: Path, cli: Cli) -> None:
    (state / "hooks" / "hello").symlink_to(state / "nowhere")


def installed_meanwhile(state: Path, cli: Cli) -> None:
    assert cli("install", str(make_pack(state.parent / "same", "other")), "--yes").code == 0


def recorded_meanwhile(state: Path, cli: Cli) -> None:
    """Nothing but the record of what is installed tells of it."""
    installed_meanwhile(state, cli)
    (state / "openclaw.json").write_text(SETTINGS)


def handler_edited(state: Path, cli: Cli) -> None:
    (state / "hooks" / "hello" / "handler.py").write_text("# mine\n")


def handler_gone(state: Path, cli: Cli) -> None:
    (state / "hooks" / "hello" / "handler.py").unlink()


def file_added(state: Path, cli: Cli) -> None:
    (state / "hooks" / "hello" / "notes.txt").write_text("mine")


def uninstalled_meanwhile(state: Path, cli: Cli) -> None:
    assert cli("uninstall", "greetings", "--yes").code == 0


@pytest.fixture
def manager(settings: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> PackManager:
    monkeypatch.chdir(workspace)
    return PackManager(Workbench(Options()))


def refused(manager: PackManager, plan: PackPlan, state: Path, cli: Cli, change: Change) -> str:
    """Why the plan is not carried out after the change; it leaves the host's folder as it is then."""
    change(state, cli)
    before = on_disk(state)
    with pytest.raises(Refusal) as caught:
        manager.apply(plan)
    assert on_disk(state) == before
    return str(caught.value)


@pytest.mark.parametrize(
    "change",
    [settings_edited, settings_gone, target_taken, target_linked, installed_meanwhile, recorded_meanwhile],
)
def test_an_install_is_refused_when_the_disk_changed_since_it_was_planned(
    change: Change, manager: PackManager, cli: Cli, settings: Path, tmp_path: Path
) -> None:
    plan = manager.plan_install(str(make_pack(tmp_path / "pack", "hello")))
    said = refused(manager, plan, settings.parent, cli, change)
    assert "has changed since this was planned; nothing was written. Try again." in said


@pytest.mark.parametrize(
    "change", [settings_edited, handler_edited, handler_gone, file_added, uninstalled_meanwhile]
)
@pytest.mark.parametrize("action", ["update", "uninstall"])
def test_a_change_of_a_pack_is_refused_when_the_disk_changed_since_it_was_planned(
    change: Change, action: str, manager: PackManager, cli: Cli, settings: Path, tmp_path: Path
) -> None:
    pack = make_pack(tmp_path / "pack", "hello")
    manager.apply(manager.plan_install(str(pack)))
    make_pack(pack, "hello", version="2.0.0")
    plan = manager.plan_update("greetings") if action == "update" else manager.plan_uninstall("greetings")
    assert isinstance(plan, PackPlan)
    said = refused(manager, plan, settings.parent, cli, change)
    assert "has changed since this was planned; nothing was written. Try again." in said


def test_a_plan_is_applied_if_only_other_files_changed(
    manager: PackManager, cli: Cli, settings: Path, tmp_path: Path
) -> None:
    plan = manager.plan_install(str(make_pack(tmp_path / "pack", "hello")))
    (settings.parent / "hooks" / "mine" / "handler.js").write_text("export default 1\n")
    manager.apply(plan)
    assert (settings.parent / "hooks" / "hello" / "handler.py").is_file()


def test_no_lock_stays_beside_the_settings(manager: PackManager, settings: Path, tmp_path: Path) -> None:
    before = {path.name for path in settings.parent.iterdir()}
    manager.apply(manager.plan_install(str(make_pack(tmp_path / "pack", "hello"))))
    assert {path.name for path in settings.parent.iterdir()} - {"hooks"} == before - {"hooks"}
