"""A shut gate says where the missing thing was looked for, and what nearly was it."""

from pathlib import Path

import pytest
from tests.authoring.fix.conftest import Bench, gate_of
from tests.conftest import MakeHook

from hookscope.engine.settings_entries import orphaned_entries

HOSTS = ["openclaw", "openclaw@2026.9", "milady", "milady@2.0.0-alpha.76", "eliza", "eliza@2.0.0-beta.2"]
NEEDS = '{{"{name}": {{"events": ["command:new"], "requires": {{"{gate}": ["{thing}"]}}}}}}'


def needing(name: str, gate: str, thing: str) -> str:
    return NEEDS.format(name=name, gate=gate, thing=thing)


@pytest.fixture
def settings(home: Path) -> Path:
    file = home / ".openclaw" / "openclaw.json"
    file.parent.mkdir()
    return file


@pytest.mark.parametrize("dialect", HOSTS)
def test_a_variable_that_resembles_the_missing_one_is_named(
    bench: Bench, workspace: Path, make_hook: MakeHook, dialect: str
) -> None:
    name = dialect.partition("@")[0]
    make_hook(workspace / "hooks", "keep", needing(name, "env", "MEMORY_DIR"))
    (workspace / ".env").write_text("MEMORY_DIR=somewhere\n")
    gate = gate_of(bench(dialect, MEM_DIR="/hidden").scan(), "keep", "env")
    assert gate.near[0] == "MEM_DIR is set; MEMORY_DIR is needed"
    assert "sets MEMORY_DIR, but the host does not read this file" in gate.near[1]
    assert gate.looked[0] == "the assumed environment"
    assert gate.looked[-1].startswith("hooks.internal.entries.keep.env (no file ")
    assert not any(secret in str(gate) for secret in ("/hidden", "somewhere"))


def test_an_empty_variable_is_distinguished_from_an_unset_one(
    bench: Bench, workspace: Path, make_hook: MakeHook, settings: Path
) -> None:
    make_hook(workspace / "hooks", "keep", needing("openclaw", "env", "TOKEN"))
    settings.write_text("{hooks: {internal: {entries: {keep: {env: {TOKEN: 5}}}}}}")
    assert gate_of(bench().scan(), "keep", "env").near == (
        "TOKEN is set in the hook's entry, but not a string",
    )
    assert gate_of(bench(TOKEN="").scan(), "keep", "env").near == ("TOKEN is set, but empty",)


def test_programs_without_execute_permission_or_outside_path_are_named(
    bench: Bench, workspace: Path, home: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "one", needing("openclaw", "bins", "made-up"))
    make_hook(workspace / "hooks", "two", needing("openclaw", "anyBins", "far-off"))
    here = bench()
    (tmp_path / "tools" / "made-up").write_text("")
    far = home / ".local" / "bin" / "far-off"
    far.parent.mkdir(parents=True)
    far.write_text("")
    far.chmod(0o755)
    view = here.scan()
    one, two = gate_of(view, "one", "bins"), gate_of(view, "two", "anyBins")
    assert one.near == (f"{tmp_path}/tools/made-up exists but is not executable",)
    assert one.looked == (f"{tmp_path}/tools",)
    assert two.near == ("./.local/bin/far-off exists, but ./.local/bin is not on PATH",)


@pytest.mark.parametrize(
    ("written", "near"),
    [
        ("{browser: {Enable: true}}", "browser.Enable (openclaw.json:1) is set; browser.enabled is needed"),
        (
            "{tools: {browser: {enabled: 1}}}",
            "tools.browser.enabled (openclaw.json:1) is set; browser.enabled",
        ),
        ("{enabled: true}", "enabled (openclaw.json:1) is set; browser.enabled is needed"),
    ],
)
def test_misspelt_and_misplaced_settings_are_named(
    bench: Bench, workspace: Path, make_hook: MakeHook, settings: Path, written: str, near: str
) -> None:
    make_hook(workspace / "hooks", "browse", needing("openclaw", "config", "browser.enabled"))
    settings.write_text(written)
    gate = gate_of(bench().scan(), "browse", "config")
    assert gate.near[0].startswith(near)
    assert gate.looked[0].startswith("browser.enabled (absent")


def test_nothing_is_suggested_without_a_close_match(
    bench: Bench, workspace: Path, make_hook: MakeHook, settings: Path
) -> None:
    make_hook(workspace / "hooks", "keep", needing("openclaw", "env", "TOKEN"))
    make_hook(workspace / "hooks", "browse", needing("openclaw", "config", "a.b"))
    settings.write_text("{c: {d: {b: true}}}")
    view = bench(OTHER_THING="1").scan()
    assert gate_of(view, "keep", "env").near == ()
    assert gate_of(view, "browse", "config").near == ()


def test_an_entry_without_a_hook_is_an_orphan(
    bench: Bench, workspace: Path, make_hook: MakeHook, settings: Path
) -> None:
    make_hook(workspace / "hooks", "session-notes", "{openclaw: {events: [command], hookKey: notes}}")
    settings.write_text(
        "{hooks: {internal: {entries: {notes: {},\n'session-notes': {}, note: {}, zzz: {}}}}}"
    )
    view = bench().scan()
    found = [
        (one.key, one.closest_keys, one.place.line if one.place else 0)
        for one in orphaned_entries(view.inventory, view.host)
    ]
    assert found == [("note", ("notes",), 2), ("zzz", (), 2)]
