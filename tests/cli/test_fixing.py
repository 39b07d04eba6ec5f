"""hookscope fix: what stops a hook, what opens it as a diff, written on demand, taken back by undo."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Program
    from tests.conftest import MakeHook

NEEDY = '{"openclaw": {"events": ["command:new"], "requires": {"env": ["MEMORY_DIR"]}}}'
ENV = {"MEM_DIR": "/secret"}


def test_a_fix_is_shown_applied_and_undone(
    hookscope: Program, workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "keep", NEEDY)
    assert hookscope("trust", str(workspace)).code == 0
    file = home / ".openclaw" / "openclaw.json"
    shown = hookscope("fix", "keep", env=ENV)
    assert (shown.code, file.exists()) == (1, False)
    assert "near: MEM_DIR is set; MEMORY_DIR is needed" in shown.out
    assert "needs: --value MEMORY_DIR=…" in shown.out
    assert "/secret" not in shown.out
    (command,) = (line.strip() for line in shown.out.splitlines() if line.startswith("  hookscope "))
    words = [word.replace("…", "/m 1") for word in shlex.split(command)[1:]]
    assert '"MEMORY_DIR": "/m 1"' in hookscope(*words, env=ENV).out
    assert shown.out.splitlines()[-1].strip() == command
    assert hookscope("fix", "keep", "--json", env=ENV).json["next"] == command
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


def test_a_fix_mends_all_gates_and_names_those_that_still_fail(
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


def test_undo_of_a_fix_keeps_later_edits(hookscope: Program, workspace: Path, make_hook: MakeHook) -> None:
    folder = make_hook(workspace / "hooks", "keep", '{"clawd": {"events": ["command:new"]}}')
    manifest = folder / "HOOK.md"
    before = manifest.read_text()
    assert hookscope("fix", "keep", "--gate", "events", "--apply").code == 1
    manifest.write_text(manifest.read_text() + "More prose.\n")
    assert hookscope("undo").code == 1
    assert hookscope("undo", "--keep-later").code == 0
    assert manifest.read_text() == before + "More prose.\n"


def test_fix_explains_wrong_use(hookscope: Program, workspace: Path, make_hook: MakeHook) -> None:
    make_hook(workspace / "hooks", "keep", NEEDY)
    assert hookscope("fix", "kepe").code == 1
    nothing = hookscope("fix", "keep", "--gate", "colour")
    assert (nothing.code, "has no check 'colour'" in nothing.err) == (2, True)
    unasked = hookscope("fix", "keep", "--value", "A=1", "--value", "B=2")
    assert (unasked.code, "is not an input of this fix" in unasked.err) == (2, True)


def test_lint_findings_are_fixed_on_request_and_undone(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    source = "export default async function handler(event) {}\n"
    make_hook(
        workspace / "hooks", "keep", '{"openclaw": {"events": ["command:new"]}}', source, file="handler.js"
    )
    assert hookscope("trust", str(workspace)).code == 0
    package = workspace / "hooks" / "keep" / "package.json"
    assert "`--lint` also fixes" in hookscope("fix", "keep").out
    done = hookscope("fix", "keep", "--rule", "module-type", "--apply", "--json")
    assert (done.code, done.json["after"]) == (0, "ready")
    assert [fix["gate"] for fix in done.json["fixes"]] == ["lint module-type"]
    assert '"type": "module"' in package.read_text()
    assert hookscope("undo").code == 0
    assert not package.exists()
    assert hookscope("fix", "keep", "--rule", "no-such-rule").code == 2


def secretive(secret: str, *parts: str) -> None:
    """None of these texts has the secret in it."""
    for part in parts:
        assert secret not in part, part


def test_a_secret_value_is_written_but_never_shown(
    hookscope: Program, workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    needy = '{"openclaw": {"events": ["command:new"], "requires": {"env": ["KEEP_TOKEN"]}}}'
    make_hook(workspace / "hooks", "keep", needy)
    make_hook(workspace / "hooks", "also", needy.replace("KEEP_TOKEN", "OTHER_TOKEN"))
    assert hookscope("trust", str(workspace)).code == 0
    file = home / ".openclaw" / "openclaw.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text('{\n  auth: {password: 77}, maxTokens: 4096, // "apiKey": "commented-0ut-7"\n}\n')
    given = ("--value", "KEEP_TOKEN=abc")
    outputs = [hookscope("fix", "keep", *given), hookscope("fix", "keep", *given, "--json")]
    assert '"${SECRET:KEEP_TOKEN}"' in outputs[0].out
    outputs += [hookscope("fix", "keep", *given, "--apply")]
    assert outputs[-1].code == 0
    assert '"abc"' in file.read_text()
    outputs += [hookscope("disable", "keep", "--dry-run"), hookscope("fix", "also", "--value", "s3")]
    outputs += [hookscope("undo", "--dry-run"), hookscope("undo", "--dry-run", "--json"), hookscope("log")]
    for one in outputs:
        secretive("abc", one.out, one.err)
        secretive("commented-0ut-7", one.out, one.err)
        secretive("77", one.out, one.err)
    secretive("s3", outputs[4].out, outputs[4].err)
    assert "maxTokens: 4096" in outputs[0].out
    assert hookscope("undo").code == 0
    assert "abc" not in file.read_text()


def test_the_diff_shows_that_a_secret_changes(
    hookscope: Program, workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    needy = '{"openclaw": {"events": ["command:new"], "requires": {"config": ["auth.token"]}}}'
    make_hook(workspace / "hooks", "keep", needy)
    file = home / ".openclaw" / "openclaw.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text("{auth: {token: ''}}\n")
    shown = hookscope("fix", "keep", "--gate", "config", "--value", "first-1")
    assert "+{auth: {token: '${SECRET:TOKEN}'}}" in shown.out
    assert "-{auth: {token: ''}}" in shown.out
    secretive("first-1", shown.out, shown.err)


def test_a_misspelt_secret_option_does_not_print_its_value(
    hookscope: Program, workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    needy = '{"openclaw": {"events": ["command:new"], "requires": {"env": ["KEEP_TOKEN"]}}}'
    make_hook(workspace / "hooks", "keep", needy)
    misspelt = hookscope("fix", "keep", "--value", "KEP_TOKEN=abc", "--value", "KEEP_TOKEN=abc")
    assert (misspelt.code, "KEP_TOKEN=… is not an input of this fix" in misspelt.err) == (2, True)
    secretive("abc", misspelt.out, misspelt.err)
    file = home / ".openclaw" / "openclaw.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text('{"hooks": {"internal": {"entries": {"keep": {"env": []}}}}}')
    refused = hookscope("fix", "keep", "--value", "abc")
    assert "By hand: `hooks.internal.entries.keep.env.KEEP_TOKEN: …`" in refused.out
    secretive("abc", refused.out, refused.err)


def test_fixing_one_of_two_failed_gates_exits_with_0(
    hookscope: Program, workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    requires = '"requires": {"env": ["MEMORY_DIR"], "bins": ["no-such-program"]}'
    make_hook(workspace / "hooks", "keep", f'{{"openclaw": {{"events": ["command:new"], {requires}}}}}')
    assert hookscope("trust", str(workspace)).code == 0
    given = ("fix", "keep", "--gate", "env", "--value", "/m")
    would = hookscope(*given)
    assert "`--apply` fixes env. bins still fails: ▲ blocked still" in would.out
    done = hookscope(*given, "--apply")
    assert (done.code, "Written; env is fixed now. bins still fails: ▲ blocked still" in done.out) == (
        1,
        True,
    )
    assert "`hookscope undo` undoes it." in done.out
    again = hookscope("fix", "keep")
    assert "by hand: install it, or add its folder to PATH" in again.out
    assert "MEMORY_DIR" not in again.out


def test_fix_lists_manual_fixes_with_line_and_last_run(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    source = 'async def handler(event):\n    return event.context["senderID"]\n'
    make_hook(workspace / "hooks", "keep", '{"openclaw": {"events": ["command:new"]}}', source)
    assert hookscope("trust", str(workspace)).code == 0
    by_hand = "by hand: ./hooks/keep/handler.py:2  "
    before = hookscope("fix", "keep")
    assert (before.code, by_hand in before.out, "last run" in before.out) == (0, True, False)
    assert hookscope("fire", "command:new", "--only", "keep").code == 1
    for more in ((), ("--lint",), ("--lint", "--apply")):
        told = hookscope("fix", "keep", *more)
        assert (told.code, "nothing to fix" in told.out) == (0, False)
        assert by_hand in told.out
        assert "senderId" in told.out
        assert "Its last run failed: error in run 1, " in told.out
        assert "KeyError: 'senderID'. `hookscope log 1` shows it." in told.out
        assert "also fixes" not in told.out
    document = hookscope("fix", "keep", "--json").json
    (remark,) = document["remarks"]
    assert (document["failed_run"], remark["line"], remark["by_hand"]) == (1, 2, True)


def test_all_mistakes_in_hooks_own_files_are_fixed_together(
    hookscope: Program, workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    """Settings stay as they are: what is off or has no value is its user's choice."""
    hooks = workspace / "hooks"
    renamed = make_hook(hooks, "cjs", '{"openclaw": {"events": ["command:new"]}}', file="handler.cjs")
    moved = make_hook(hooks, "moved", '{"clawd": {"events": ["command:new"]}}')
    needy = make_hook(hooks, "needy", NEEDY)
    off = make_hook(hooks, "off", '{"clawd": {"events": ["command:new"]}}')
    (home / ".openclaw").mkdir()
    settings = home / ".openclaw" / "openclaw.json"
    settings.write_text('{"hooks": {"internal": {"entries": {"off": {"enabled": false}}}}}')
    assert hookscope("trust", str(workspace)).code == 0
    before = {file: file.read_bytes() for file in (settings, *hooks.rglob("*.*")) if file.is_file()}
    would = hookscope("fix", "--all", "--json")
    assert {file: file.read_bytes() for file in before} == before
    assert (would.code, would.json["written"], would.json["left"]) == (1, False, ["needy"])
    assert {one["hook"]: one["after"] for one in would.json["hooks"]}.items() >= {
        "cjs": "ready", "moved": "ready",
    }.items()  # fmt: skip
    done = hookscope("fix", "--all", "--apply")
    assert "`hookscope fix NAME` shows what the others need: needy." in done.out
    assert "undoes it." in done.out
    assert (renamed / "handler.js").exists()
    assert "openclaw" in (moved / "HOOK.md").read_text()
    assert (needy / "HOOK.md").read_bytes() == before[needy / "HOOK.md"]
    assert settings.read_bytes() == before[settings]
    assert hookscope("undo").code == 0
    assert {file: file.read_bytes() for file in before} == before
    assert "enabled" not in str([one["fixes"] for one in would.json["hooks"] if one["hook"] == off.name])


def test_the_result_of_all_fixes_counts(
    hookscope: Program, workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    for hooks in (workspace / "hooks", home / ".openclaw" / "hooks"):
        make_hook(hooks, "twin", '{"openclaw": {"events": ["command:new"]}}', file="handler.cjs")
    document = hookscope("fix", "--all", "--json").json
    assert sorted(one["after"] for one in document["hooks"]) == ["shadowed", "untrusted"]


def test_fix_takes_a_name_or_all(hookscope: Program) -> None:
    for words in ((), ("a", "--all"), ("--all", "--gate", "env"), ("--all", "--lint")):
        assert hookscope("fix", *words).code == 2
    empty = hookscope("fix", "--all")
    assert (empty.code, empty.out) == (0, "No hook has a mistake in its own files that an edit can fix.\n")


def test_values_with_a_colon_are_quoted(hookscope: Program, workspace: Path, make_hook: MakeHook) -> None:
    folder = make_hook(workspace / "hooks", "posts", NEEDY)
    manifest, lines = folder / "HOOK.md", ["homepage: Site: none\r", 'description: Posts: a "note"']
    before = manifest.read_text().replace("description: A hook of the tests.", "\n".join(lines))
    manifest.write_bytes(before.encode())
    assert hookscope("fix", "posts").code == 1
    assert manifest.read_bytes().decode() == before
    hookscope("fix", "posts", "--apply")
    quoted = before.replace("Site: none", '"Site: none"').replace('Posts: a "note"', r'"Posts: a \"note\""')
    assert manifest.read_bytes().decode() == quoted
    assert hookscope("info", "posts", "--json").json["state"] == "blocked"
    assert hookscope("undo").code == 0
    assert manifest.read_bytes().decode() == before
