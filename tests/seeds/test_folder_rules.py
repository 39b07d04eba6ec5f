"""Which file of a hook's folder is its handler, and what `always` skips, under every dialect."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.conftest import MakeHook

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.embedding.host import embedded_host
from hookscope.engine.discovery import discover
from hookscope.hosts.dialects import DIALECTS
from hookscope.model.hook_status import Gate, Inventory

HOSTS = ["openclaw", "milady", "eliza"]
DIALECTS_WITH_FOLDERS = [name for name in DIALECTS if name.partition("@")[0] in HOSTS]
METADATA = '{"openclaw": META, "milady": META, "eliza": META}'
ONE_MIB = 1_048_576


def metadata(**more: object) -> str:
    """The metadata of a hook of every host, in the only form that all of them read."""
    return METADATA.replace("META", json.dumps({"events": ["command:new"], **more}))


def looked(
    dialect: str, workspace: Path, state: Path, settings: dict[str, object] | None = None
) -> Inventory:
    """What the host finds in the workspace, with these settings of its hooks."""
    internal = settings or {"enabled": True}
    return discover(embedded_host(workspace, state / "none", internal_config=internal, dialect=dialect))


def handlers(inventory: Inventory) -> dict[str, str]:
    return {row.hook.name: row.hook.handler.name for row in inventory.hooks if row.hook.handler is not None}


@pytest.mark.parametrize("dialect", DIALECTS_WITH_FOLDERS)
def test_a_folder_with_the_name_of_a_handler_is_passed_over_for_a_file(
    dialect: str, workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    both = make_hook(workspace / "hooks", "both", metadata(), file="index.ts")
    (both / "handler.ts").mkdir()
    alone = make_hook(workspace / "hooks", "alone", metadata())
    (alone / "handler.py").unlink()
    (alone / "handler.ts").mkdir()
    found = looked(dialect, workspace, tmp_path)
    assert handlers(found) == {"both": "index.ts"}
    (rejected,) = found.rejected
    assert rejected.name == "alone"
    assert "handler.ts is " in rejected.reason


@pytest.mark.parametrize("dialect", DIALECTS_WITH_FOLDERS)
def test_a_link_to_a_file_of_its_own_folder_is_a_handler(
    dialect: str, workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    folder = make_hook(workspace / "hooks", "linked", metadata(), file="code.ts")
    (folder / "handler.ts").symlink_to("code.ts")
    (row,) = looked(dialect, workspace, tmp_path).hooks
    assert row.hook.handler is not None
    assert row.hook.handler.resolve() == (folder / "code.ts").resolve()
    assert row.hook.leads_out is None
    assert "path" not in [gate.name for gate in row.verdict.failed()]


@pytest.mark.parametrize("dialect", DIALECTS_WITH_FOLDERS)
def test_a_link_out_of_its_folder_is_never_run_as_a_file_of_it(
    dialect: str, workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    folder = make_hook(workspace / "hooks", "linked", metadata(), file="other.ts")
    (tmp_path / "code.ts").write_text("export default () => {};\n")
    (folder / "handler.ts").symlink_to(tmp_path / "code.ts")
    found = looked(dialect, workspace, tmp_path)
    if found.hooks:
        assert found.hooks[0].hook.leads_out == (tmp_path / "code.ts").resolve()
    else:
        assert "handler.ts leads out of its folder" in found.rejected[0].reason


UNLIMITED = ("openclaw@2026.7", "openclaw@2026.6", "openclaw@2026.3")


@pytest.mark.parametrize("dialect", DIALECTS_WITH_FOLDERS)
@pytest.mark.parametrize("more", [0, 1])
def test_a_manifest_of_one_mebibyte_is_read_and_one_byte_more_is_not(
    dialect: str, more: int, workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    manifest = make_hook(workspace / "hooks", "big", metadata(), file="handler.ts") / "HOOK.md"
    text = manifest.read_bytes()
    manifest.write_bytes(text + b"x" * (ONE_MIB + more - len(text)))
    found = looked(dialect, workspace, tmp_path)
    if more and "@" in dialect and dialect not in UNLIMITED:  # the guides say nothing of a limit
        (rejected,) = found.rejected
        assert "larger than 1,048,576 bytes" in rejected.reason
    else:
        assert handlers(found) == {"big": "handler.ts"}


@pytest.mark.parametrize("dialect", DIALECTS_WITH_FOLDERS)
def test_a_check_that_always_skips_is_not_failed_and_offers_no_fix(
    dialect: str, workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    needs = {"requires": {"config": ["no.such"], "env": ["NO_SUCH"], "bins": ["no-such"]}, "os": ["plan9"]}
    make_hook(workspace / "hooks", "free", metadata(**needs, always=True), file="handler.ts")
    make_hook(workspace / "hooks", "held", metadata(**needs), file="handler.ts")
    off: dict[str, object] = {
        "enabled": True,
        "entries": {name: {"enabled": False} for name in ("free", "held")},
    }
    gates: dict[str, dict[str, Gate]] = {
        row.hook.name: {gate.name: gate for gate in row.verdict.gates}
        for row in looked(dialect, workspace, tmp_path, off).hooks
    }
    skipped = [gate for gate in gates["free"].values() if gate.found == "skipped: always is true"]
    assert {"config", "env", "bins"} <= {gate.name for gate in skipped}
    for gate in skipped:
        assert (gate.passed, gate.missing, gate.reason, gate.fix) == (None, (), "", None)
        assert gate.needed == gates["held"][gate.name].needed
    assert gates["held"]["config"].passed is False
    assert gates["held"]["enabled"].fix is not None


@pytest.mark.parametrize("value", [True, False])
def test_a_boolean_is_no_limit_of_a_handler(
    value: bool, workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    own = {"openclaw": {"events": ["command"]}, "hookscope": {"limits": {"run": value, "load": 1}}}
    make_hook(workspace / "hooks", "odd", json.dumps(own))
    (row,) = looked("openclaw", workspace, tmp_path).hooks
    assert row.hook.meta.limits == {"load": 1.0}
    assert any("the limit `run` is ignored: it must be a number of seconds" in note for note in row.notes)


@pytest.mark.parametrize("dialect", HOSTS)
def test_of_two_hooks_of_one_name_in_one_folder_the_later_wins_in_the_place_of_the_first(
    dialect: str, workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    for name in ("a", "b", "c"):
        manifest = make_hook(workspace / "hooks", name, metadata(), file="handler.ts") / "HOOK.md"
        if name != "b":
            manifest.write_text(manifest.read_text().replace(f"name: {name}", "name: same"))
    found = looked(dialect, workspace, tmp_path)
    assert [hook.path.name for hook in found.load_order if hook.path is not None] == ["c", "b"]
    (loser,) = (row for row in found.hooks if row.verdict.shadowed_by is not None)
    assert loser.hook.path == workspace / "hooks" / "a"


@pytest.mark.parametrize("shift", [0, 1])
@pytest.mark.parametrize("dialect", HOSTS)
def test_what_is_behind_the_header_of_a_long_manifest_is_nobodys_concern(
    dialect: str, shift: int, workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    manifest = make_hook(workspace / "hooks", "long", metadata(), file="handler.ts") / "HOOK.md"
    manifest.write_bytes(manifest.read_bytes() + b"x" * shift + "é".encode() * ONE_MIB)
    assert handlers(looked(dialect, workspace, tmp_path)) == {"long": "handler.ts"}


@pytest.mark.parametrize("dialect", HOSTS)
def test_a_header_without_an_end_is_told_as_such(
    dialect: str, workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    manifest = make_hook(workspace / "hooks", "endless", metadata(), file="handler.ts") / "HOOK.md"
    manifest.write_text("---\nname: endless\n" + "# more\n" * ONE_MIB)
    (rejected,) = looked(dialect, workspace, tmp_path).rejected
    assert "the header has no closing `---` within its first" in rejected.reason


@pytest.mark.parametrize("dialect", HOSTS)
def test_what_cannot_be_read_may_replace_a_hook_of_its_name_in_the_same_folder(
    dialect: str, workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    for name in ("same", "other"):
        manifest = make_hook(workspace / "hooks", f"of-{name}", metadata(), file="handler.ts") / "HOOK.md"
        manifest.write_text(manifest.read_text().replace(f"name: of-{name}", f"name: {name}"))
    loop = workspace / "hooks/same/HOOK.md"
    loop.parent.mkdir()
    loop.symlink_to(loop)
    found = looked(dialect, workspace, tmp_path)
    blocked = {row.hook.name: [gate.name for gate in row.verdict.failed()] for row in found.hooks}
    assert ("precedence" in blocked["same"], "precedence" in blocked["other"]) == (True, False)


@pytest.mark.parametrize("dialect", HOSTS)
@pytest.mark.parametrize("unread", [0, 1])
def test_what_cannot_be_read_may_replace_hooks_of_the_other_extra_folder_and_none_above(
    dialect: str, unread: int, workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "above", metadata(), file="handler.ts")
    folders = [tmp_path / "one", tmp_path / "two"]
    make_hook(folders[1 - unread], "beside", metadata(), file="handler.ts")
    folders[unread].symlink_to(folders[unread])
    internal = {"enabled": True}
    host = embedded_host(workspace, tmp_path / "none", folders, internal, dialect=dialect)
    rows = {row.hook.name: [gate.name for gate in row.verdict.failed()] for row in discover(host).hooks}
    assert "precedence" in rows["beside"]
    assert "precedence" not in rows["above"]


@pytest.mark.parametrize("dialect", DIALECTS_WITH_FOLDERS)
def test_where_settings_cannot_be_read_each_hook_has_that_check_once(
    dialect: str, workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", metadata(), file="handler.ts")
    options = Options(workspace=workspace, dialect=dialect)
    file = Workbench(options).open().settings.file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.symlink_to(file.name)
    (row,) = (row for row in Workbench(options).scan().inventory.hooks if row.hook.name == "greet")
    assert [gate.passed for gate in row.verdict.gates if gate.name == "settings"] == [False]
