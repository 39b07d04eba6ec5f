"""hookscope fix: what stops a hook, what opens it as a diff, written on demand, taken back by undo."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Program
    from tests.conftest import MakeHook

NEEDY = '{"openclaw": {"events": ["command:new"], "requires": {"env": ["MEMORY_DIR"]}}}'
ENV = {"MEM_DIR": "/secret"}


def test_a_fix_is_shown_written_and_taken_back(
    hookscope: Program, workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "keep", NEEDY)
    assert hookscope("trust", str(workspace)).code == 0
    file = home / ".openclaw" / "openclaw.json"
    shown = hookscope("fix", "keep", env=ENV)
    assert (shown.code, file.exists()) == (1, False)
    assert "near: MEM_DIR is set; MEMORY_DIR is needed" in shown.out
    assert "give: --value MEMORY_DIR=…" in shown.out
    assert "/secret" not in shown.out
    would = hookscope("fix", "keep", "--value", "/m", "--json", env=ENV)
    assert (would.code, would.json["written"], would.json["ready"], file.exists()) == (0, False, True, False)
    assert (would.json["state"], would.json["after"]) == ("blocked", "ready")
    assert '"MEMORY_DIR": "/m"' in would.json["changes"][0]["diff"]
    done = hookscope("fix", "keep", "--value", "MEMORY_DIR=/m", "--apply", env=ENV)
    assert (done.code, done.err) == (0, "")
    assert "▲ blocked → ● ready." in done.out
    again = hookscope("fix", "keep", env=ENV)
    assert (again.code, "is ready: there is nothing to fix" in again.out) == (0, True)
    assert hookscope("undo").code == 0
    assert not file.exists()


def test_all_checks_are_opened_together_and_what_stays_shut_is_said(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    folder = make_hook(workspace / "hooks", "keep", NEEDY, file="handler.cjs")
    manifest = folder / "HOOK.md"
    before = manifest.read_text().replace("openclaw", "clawd")
    manifest.write_text(before)
    done = hookscope("fix", "keep", "--value", "/m", "--apply", "--json")
    gates = {fix["gate"]: fix for fix in done.json["fixes"]}
    assert set(gates) == {"handler", "events", "env", "trusted"}
    assert gates["trusted"]["hint"].startswith("hookscope trust ")
    assert (done.code, done.json["after"]) == (1, "untrusted")
    assert [gate["gate"] for gate in done.json["still_shut"]] == ["trusted"]
    assert sorted(path.name for path in folder.iterdir()) == ["HOOK.md", "handler.js"]
    steps = [hookscope("undo").code for _ in done.json["changes"]]
    assert steps == [0, 0, 0]
    assert sorted(path.name for path in folder.iterdir()) == ["HOOK.md", "handler.cjs"]
    assert manifest.read_text() == before


def test_a_text_that_was_written_on_meanwhile_keeps_it(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    folder = make_hook(workspace / "hooks", "keep", '{"clawd": {"events": ["command:new"]}}')
    manifest = folder / "HOOK.md"
    before = manifest.read_text()
    assert hookscope("fix", "keep", "--gate", "events", "--apply").code == 1
    manifest.write_text(manifest.read_text() + "More prose.\n")
    assert hookscope("undo").code == 1
    assert hookscope("undo", "--keep-later").code == 0
    assert manifest.read_text() == before + "More prose.\n"


def test_wrong_use_is_told(hookscope: Program, workspace: Path, make_hook: MakeHook) -> None:
    make_hook(workspace / "hooks", "keep", NEEDY)
    assert hookscope("fix", "kepe").code == 1
    nothing = hookscope("fix", "keep", "--gate", "colour")
    assert (nothing.code, "has no check 'colour'" in nothing.err) == (2, True)
    unasked = hookscope("fix", "keep", "--value", "A=1", "--value", "B=2")
    assert (unasked.code, "is not asked for" in unasked.err) == (2, True)


def test_what_lint_finds_is_mended_on_demand_and_taken_back(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    source = "export default async function handler(event) {}\n"
    make_hook(
        workspace / "hooks", "keep", '{"openclaw": {"events": ["command:new"]}}', source, file="handler.js"
    )
    assert hookscope("trust", str(workspace)).code == 0
    package = workspace / "hooks" / "keep" / "package.json"
    assert "`--lint` also mends" in hookscope("fix", "keep").out
    done = hookscope("fix", "keep", "--rule", "module-type", "--apply", "--json")
    assert (done.code, done.json["after"]) == (0, "ready")
    assert [fix["gate"] for fix in done.json["fixes"]] == ["lint module-type"]
    assert '"type": "module"' in package.read_text()
    assert hookscope("undo").code == 0
    assert not package.exists()
    assert hookscope("fix", "keep", "--rule", "no-such-rule").code == 2
