"""list, info, check, plan and trust, from outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Program
    from tests.conftest import MakeHook

GATE_FIELDS = {"looked", "near", "gate", "passed", "needed", "missing", "found", "reason", "reported", "fix"}
HOOK_FIELDS = {
    "name", "description", "emoji", "kind", "source", "path", "handler", "language", "events",
    "state", "eligible", "enabled", "gates", "notes", "shadows", "shadowed_by", "failed_load",
}  # fmt: skip


def test_list_prints_every_field_of_a_hook(
    hookscope: Program, workspace: Path, home: Path, bundled: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", "{openclaw: {emoji: '👋', events: ['command:new']}}")
    make_hook(home / ".openclaw/hooks", "greet", "{openclaw: {events: [command]}}")
    (workspace / "hooks/nothing").mkdir()
    (workspace / "hooks/nothing/HOOK.md").write_text("---\nname: nothing\n---\n")
    done = hookscope("--bundled", str(bundled), "list", "--json")
    assert (done.code, done.err) == (0, "")
    assert done.json.keys() == {
        "dialect", "workspace", "problems", "hooks", "rejected", "folders", "orphans",
    }  # fmt: skip
    assert (done.json["dialect"], done.json["workspace"]) == ("openclaw", str(workspace))
    winner, loser = done.json["hooks"]
    assert winner.keys() == HOOK_FIELDS
    assert all(gate.keys() == GATE_FIELDS for gate in winner["gates"])
    assert (winner["state"], winner["eligible"], winner["enabled"]) == ("untrusted", True, True)
    assert (winner["emoji"], winner["source"], winner["language"]) == ("👋", "workspace", "python")
    assert (loser["state"], loser["source"]) == ("shadowed", "managed")
    assert (winner["shadows"], loser["shadowed_by"]) == ([loser["path"]], winner["path"])
    assert [item["path"] for item in done.json["rejected"]] == [str(workspace / "hooks/nothing")]
    assert "no handler: looked for handler.ts" in done.json["rejected"][0]["reason"]


def test_options_are_accepted_before_and_after_the_command(
    hookscope: Program, workspace: Path, bundled: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", "{milady: {events: ['command:new']}}")
    before = hookscope("--dialect", "milady", "--bundled", str(bundled), "list", "--json")
    after = hookscope("list", "--json", "--dialect", "milady", "--bundled", str(bundled))
    assert before.json == after.json
    assert before.json["hooks"][0]["events"] == ["command:new"]


def test_trust_makes_the_hooks_of_a_folder_ready(
    hookscope: Program, workspace: Path, bundled: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", "{openclaw: {events: ['command:new']}}")
    trusted = hookscope("trust", "hooks", "--json")
    assert (trusted.code, trusted.json) == (
        0,
        {
            "trusted": str(workspace / "hooks"),
            "handlers": 1,
            "more": False,
            "everything_below": False,
            "waiting": [],
        },
    )
    done = hookscope("list", "--json", "--bundled", str(bundled))
    assert [hook["state"] for hook in done.json["hooks"]] == ["ready"]
    assert hookscope("trust", "no-such-folder").code == 1


def test_trust_does_not_follow_links(
    hookscope: Program, workspace: Path, tmp_path: Path, bundled: Path, make_hook: MakeHook
) -> None:
    make_hook(tmp_path / "elsewhere", "linked", "{openclaw: {events: ['command:new']}}")
    (workspace / "hooks/linked").symlink_to(tmp_path / "elsewhere/linked")
    hookscope("trust", "hooks")
    states = [hook["state"] for hook in hookscope("list", "--json", "--bundled", str(bundled)).json["hooks"]]
    assert states == ["untrusted"]
    hookscope("trust", str(tmp_path / "elsewhere"))
    states = [hook["state"] for hook in hookscope("list", "--json", "--bundled", str(bundled)).json["hooks"]]
    assert states == ["ready"]


def test_a_bundled_handler_linked_outside_its_folder_needs_trust(
    hookscope: Program, tmp_path: Path, bundled: Path, make_hook: MakeHook
) -> None:
    folder = make_hook(bundled, "shipped", "{eliza: {events: ['command:new']}}")
    within = make_hook(bundled, "plain", "{eliza: {events: ['command:new']}}")
    (folder / "handler.py").rename(tmp_path / "elsewhere.py")
    (folder / "handler.py").symlink_to(tmp_path / "elsewhere.py")
    done = hookscope("--dialect", "eliza", "--bundled", str(bundled), "list", "--json")
    states = {hook["path"]: hook["state"] for hook in done.json["hooks"]}
    assert states == {str(folder): "untrusted", str(within): "ready"}


def test_milady_refuses_a_linked_folder_outside_all_hook_folders(
    hookscope: Program, workspace: Path, tmp_path: Path, bundled: Path, make_hook: MakeHook
) -> None:
    make_hook(tmp_path / "elsewhere", "linked", "{milady: {events: ['command:new']}}")
    (workspace / "hooks/linked").symlink_to(tmp_path / "elsewhere/linked")
    done = hookscope("--dialect", "milady", "--bundled", str(bundled), "info", "linked", "--json")
    gates = {gate["gate"]: gate for gate in done.json["gates"]}
    assert done.json["state"] == "broken"
    assert gates["path"]["reason"].startswith("Handler is outside the allowed hooks folders")


def test_gate_skipped_by_always_has_no_reason(
    hookscope: Program, workspace: Path, bundled: Path, make_hook: MakeHook
) -> None:
    metadata = "{openclaw: {always: true, events: ['command:new'], requires: {bins: [no-such-program]}}}"
    make_hook(workspace / "hooks", "greet", metadata)
    done = hookscope("--bundled", str(bundled), "info", "greet", "--json")
    (gate,) = (gate for gate in done.json["gates"] if gate["gate"] == "bins")
    assert (gate["passed"], gate["reason"], gate["missing"], gate["fix"]) == (None, "", [], None)
    assert gate["found"] == "skipped: always is true"


def test_an_event_that_is_never_sent_is_not_suggested_as_its_own_fix(
    hookscope: Program, workspace: Path, bundled: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", '{"eliza": {"events": ["session:end"]}}')
    shipped = ("--dialect", "eliza@2.0.0-beta.2", "--bundled", str(bundled))
    done = hookscope(*shipped, "info", "greet", "--json")
    (gate,) = (gate for gate in done.json["gates"] if gate["gate"] == "sent")
    assert (gate["passed"], gate["reason"]) == (
        False,
        "Eliza never sends session:end; it sends only gateway:startup",
    )


@pytest.mark.parametrize(("said", "on"), [("false", False), ("0", True), ("''", True), ("null", True)])
def test_only_false_disables_a_hook(
    hookscope: Program, workspace: Path, home: Path, bundled: Path, make_hook: MakeHook, said: str, on: bool
) -> None:
    make_hook(workspace / "hooks", "greet", "{openclaw: {events: ['command:new']}}")
    (home / ".openclaw").mkdir()
    entries = f"{{greet: {{enabled: {said}}}}}"
    (home / ".openclaw/openclaw.json").write_text(f"{{hooks: {{internal: {{entries: {entries}}}}}}}")
    done = hookscope("--bundled", str(bundled), "info", "greet", "--json")
    assert done.json["enabled"] is on


@pytest.mark.parametrize(("value", "dialect", "set_"), [
    ("x", "openclaw", True), ("", "openclaw", False), (" ", "openclaw", True),
    ("x", "openclaw@2026.9", True), ("", "openclaw@2026.9", False), (" ", "openclaw@2026.9", False),
])  # fmt: skip
def test_an_empty_variable_is_unset_and_blanks_count_only_in_the_guide(
    hookscope: Program,
    workspace: Path,
    bundled: Path,
    make_hook: MakeHook,
    value: str,
    dialect: str,
    set_: bool,
) -> None:
    metadata = '{"openclaw": {"events": ["command:new"], "requires": {"env": ["NEEDED"]}}}'
    make_hook(workspace / "hooks", "greet", metadata)
    assumed = ("--dialect", dialect, "--bundled", str(bundled), "--env", f"NEEDED={value}")
    assert hookscope(*assumed, "info", "greet", "--json").json["eligible"] is set_


@pytest.mark.parametrize(
    "asked",
    [
        ("info", "greet"),
        ("plan", "command:new"),
        ("fix", "greet"),
        ("load",),
        ("fire", "command:new", "--only", "greet"),
        ("test",),
    ],
)
def test_commands_report_settings_that_count_as_empty(
    hookscope: Program, workspace: Path, home: Path, asked: tuple[str, ...]
) -> None:
    hookscope("new", "greet")
    settings = home / ".openclaw/openclaw.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text("{hooks: {internal: {entries: {greet: {enabled: false}}}}")
    done = hookscope(*asked, "--json")
    told = "openclaw.json, line 1, column 1: unclosed object; no hook runs until this is fixed."
    first, *rest = done.err.splitlines()
    assert first == f"hookscope: {told} `hookscope doctor` names the file."
    assert [line for line in rest if "it may switch" not in line] == []
    assert asked[0] != "fire" or (done.code, done.json["results"]) == (1, [])
    assert done.json, "one document still"
    refused = hookscope("--dialect", "openclaw@2026.9", *asked, "--json")
    assert "no hook runs until" not in refused.err, "a check of each hook says it there"


def test_entry_of_an_ineligible_hook_is_not_unknown(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "needy", "{openclaw: {events: [command], requires: {bins: [nowhere]}}}")
    make_hook(workspace / "hooks", "broken", "{openclaw: {events: [command]}}", file="other.py")
    settings = workspace / "openclaw.json"
    settings.write_text('{"hooks": {"internal": {"entries": {"needy": {}, "broken": {}, "gone": {}}}}}')
    look = ("list", "--eligible", "--config", str(settings))
    assert [orphan["entry"] for orphan in hookscope(*look, "--json").json["orphans"]] == ["gone"]
    said = hookscope(*look).out
    assert "workspace  ./hooks  (none eligible)" in said
    assert [line.split()[1] for line in said.splitlines() if "no such hook was found" in line] == ["gone"]


def test_a_folder_without_a_handler_is_no_second_hook_of_that_name(
    hookscope: Program, workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    make_hook(home / ".openclaw/hooks", "greet", "{openclaw: {events: ['command:new']}}")
    folder = make_hook(workspace / "hooks", "greet", "{openclaw: {events: ['command:new']}}")
    (folder / "handler.py").unlink()
    fired = hookscope("fire", "command:new", "--only", "greet", "--trust")
    assert "1 ran" in fired.out
    assert "no handler" not in fired.out
    assert "no handler" not in hookscope("plan", "command:new").out
    assert f"note: {folder} is not a hook: HOOK.md but no handler" in hookscope("info", "greet").out
    assert "hooks/greet: HOOK.md but no handler" in hookscope("check").out
    assert "1 hook and 1 folder without a hook" in hookscope("lint").out


def test_an_entry_of_another_hook_is_no_typo(
    hookscope: Program, workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    for name in ("greet", "greets"):
        make_hook(
            workspace / "hooks",
            name,
            '{"openclaw": {"events": ["command"], '
            '"requires": {"config": ["hooks.internal.entries.greet.room"]}}}',
        )
    (home / ".openclaw").mkdir(exist_ok=True)
    (home / ".openclaw/openclaw.json").write_text(
        '{"hooks": {"internal": {"entries": {"greets": {"enabled": true, "room": "a"}}}}}'
    )
    document = hookscope("info", "greet", "--dialect", "openclaw@2026.9", "--json").json
    assert "greets" not in json.dumps([gate["near"] for gate in document["gates"]])
    make_hook(workspace / "hooks", "greetz", "{openclaw: {events: [command]}}")
    (workspace / "hooks/greets/handler.py").unlink()  # no hook any more: its entry may be a typo
    document = hookscope("info", "greet", "--dialect", "openclaw@2026.9", "--json").json
    assert any("entries.greets exists" in near for gate in document["gates"] for near in gate.get("near", []))


@pytest.mark.parametrize("dialect", ["openclaw@2026.9", "eliza@2.0.0-beta.2", "milady@2.0.0-alpha.76"])
def test_hook_unknown_to_the_host_takes_no_precedence(
    hookscope: Program, workspace: Path, bundled: Path, make_hook: MakeHook, dialect: str
) -> None:
    host = dialect.partition("@")[0]
    metadata, script = f'{{"{host}": {{"events": ["command:new"]}}}}', "export default () => {};"
    seen = make_hook(bundled, "greet", metadata, script, file="handler.ts")
    unseen = make_hook(workspace / "hooks", "greet", metadata)
    done = hookscope("--dialect", dialect, "--bundled", str(bundled), "list", "--json")
    states = {hook["path"]: hook["state"] == "shadowed" for hook in done.json["hooks"]}
    assert states == {str(seen): False, str(unseen): True}


@pytest.mark.parametrize(("said", "on"), [("true", True), ("1", False), ("'yes'", False)])
def test_shipped_openclaw_enables_a_workspace_hook_only_by_true(
    hookscope: Program, workspace: Path, home: Path, bundled: Path, make_hook: MakeHook, said: str, on: bool
) -> None:
    make_hook(workspace / "hooks", "greet", '{"openclaw": {"events": ["command:new"]}}')
    (home / ".openclaw").mkdir()
    entries = f"{{greet: {{enabled: {said}}}}}"
    (home / ".openclaw/openclaw.json").write_text(f"{{hooks: {{internal: {{entries: {entries}}}}}}}")
    done = hookscope("--dialect", "openclaw@2026.9", "--bundled", str(bundled), "info", "greet", "--json")
    gates = {gate["gate"]: gate["passed"] for gate in done.json["gates"]}
    assert gates["enabled"] is on


def test_entries_that_are_all_disabled_leave_an_empty_list(
    hookscope: Program, workspace: Path, home: Path, bundled: Path, make_hook: MakeHook
) -> None:
    make_hook(home / ".openclaw/hooks", "greet", '{"openclaw": {"events": ["command:new"]}}')
    (home / ".openclaw/openclaw.json").write_text(
        "{hooks: {internal: {enabled: true, entries: {other: {enabled: false}}}}}"
    )
    done = hookscope("--dialect", "openclaw@2026.9", "--bundled", str(bundled), "info", "greet", "--json")
    (gate,) = (gate for gate in done.json["gates"] if gate["gate"] == "selected")
    assert gate["reason"] == (
        "the loader loads only hooks in hooks.internal.entries, and this hook is not there"
    )


def test_names_of_javascript_object_members_are_not_settings(
    hookscope: Program, workspace: Path, home: Path, bundled: Path, make_hook: MakeHook
) -> None:
    metadata = '{"openclaw": {"events": ["command:new"], "requires": {"config": ["constructor", "meta"]}}}'
    make_hook(workspace / "hooks", "greet", metadata)
    (home / ".openclaw").mkdir()
    (home / ".openclaw/openclaw.json").write_text("{constructor: {a: 1}, meta: {a: 1}}")
    done = hookscope("--dialect", "openclaw@2026.9", "--bundled", str(bundled), "info", "greet", "--json")
    (gate,) = (gate for gate in done.json["gates"] if gate["gate"] == "config")
    assert gate["missing"] == ["constructor"]


def test_an_entry_of_the_same_name_does_not_disable_a_legacy_handler(hookscope: Program, home: Path) -> None:
    (home / ".openclaw").mkdir()
    (home / ".openclaw/openclaw.json").write_text(
        "{hooks: {internal: {handlers: [{event: 'command', module: 'x.py'}],"
        " entries: {'x.py': {enabled: false}}}}}"
    )
    assert hookscope("info", "x.py", "--json").json["enabled"] is True


BAD = {
    "not yaml": ("---\nname: [a\n---\n", "HOOK.md, line 3, column 1"),
    "duplicate": ("---\nname: a\nname: b\n---\n", "HOOK.md, line 3, column 1: the key `name` appears twice"),
    "no header": ("# just text\n", "HOOK.md has no frontmatter"),
    "open header": ("---\nname: a\n", "HOOK.md, line 1, column 1"),
    "a list": ("---\n- a\n---\n", "HOOK.md, line 2, column 1"),
    "not utf-8": (b"---\nname: \xff\n---\n", "HOOK.md, line 2, column 7"),
    "deep": ("---\nname: " + "[" * 50_000 + "\n---\n", "HOOK.md, line 2"),
}


@pytest.mark.parametrize(("source", "reason"), BAD.values(), ids=BAD)
def test_a_hook_with_a_bad_header_is_listed_with_the_line(
    hookscope: Program, workspace: Path, bundled: Path, source: str | bytes, reason: str
) -> None:
    folder = workspace / "hooks/bad"
    folder.mkdir()
    (folder / "handler.py").write_text("def handler(event): pass\n")
    (folder / "HOOK.md").write_bytes(source if isinstance(source, bytes) else source.encode())
    done = hookscope("list", "--json", "--bundled", str(bundled))
    assert (done.code, done.err) == (0, "")
    assert [item["path"] for item in done.json["rejected"]] == [str(folder)]
    assert done.json["rejected"][0]["reason"].startswith(reason)
    assert reason.split(":")[0] in hookscope("list", "--bundled", str(bundled)).out


WRONG_TYPES = {
    "events: command": "`events` must be a list of strings, not the string 'command'",
    "events: [1]": "`events` must be a list of strings, not a list with the number 1 in it",
    "events: [command], os: linux": "`os` must be a list of strings, not the string 'linux'",
    "events: [command], always: 'yes'": "`always` must be true or false, not the string 'yes'",
    "events: [command], export: 5": "`export` must be a string, not the number 5",
    "events: [command], hookKey: []": "`hookKey` must be a string, not a list",
    "events: [command], requires: [git]": "`requires` must be a mapping, not a list",
    "events: [command], requires: {bins: git}": "`bins` must be a list of strings, not the string 'git'",
}


@pytest.mark.parametrize(("fields", "reason"), WRONG_TYPES.items())
def test_a_field_of_the_wrong_type_says_where_and_what(
    hookscope: Program, workspace: Path, bundled: Path, make_hook: MakeHook, fields: str, reason: str
) -> None:
    make_hook(workspace / "hooks", "odd", f"{{openclaw: {{{fields}}}}}")
    (hook,) = hookscope("list", "--json", "--bundled", str(bundled)).json["hooks"]
    assert hook["state"] == "broken"
    (gate,) = [gate for gate in hook["gates"] if gate["gate"] == "fields"]
    assert gate["reason"].startswith("HOOK.md, line 4, column ")
    assert gate["reason"].endswith(reason)


def test_settings_that_do_not_parse_are_a_problem_with_their_line(
    hookscope: Program, home: Path, bundled: Path
) -> None:
    (home / ".openclaw").mkdir()
    (home / ".openclaw/openclaw.json").write_text('{\n  "hooks": {,}\n}\n')
    done = hookscope("list", "--json", "--bundled", str(bundled))
    assert done.code == 0
    (problem,) = done.json["problems"]
    assert problem.startswith("openclaw.json, line 2, column 13")


def test_an_unreadable_folder_is_a_problem(hookscope: Program, workspace: Path, bundled: Path) -> None:
    (workspace / "hooks").rmdir()
    (workspace / "hooks").write_text("a file")
    done = hookscope("list", "--json", "--workspace", str(workspace), "--bundled", str(bundled))
    assert done.code == 0
    assert "is a file" in done.json["problems"][0]


def test_a_file_in_place_of_a_hook_folder_is_named(hookscope: Program, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    done = hookscope("list", "--dialect", "openclaw", "--json", "--home", str(file / "home"))
    problems = done.json["problems"]
    assert f"{file} is a file; a hooks folder is expected there" in problems
    assert f"{file} is a file; a plugins folder is expected there" in problems


def test_a_what_if_option_changes_the_answer_and_says_so(
    hookscope: Program, workspace: Path, bundled: Path, make_hook: MakeHook
) -> None:
    header = "{openclaw: {events: [command], os: [darwin], requires: {env: [TOKEN]}}}"
    make_hook(workspace / "hooks", "mac", header)
    plain = ("list", "--json", "--bundled", str(bundled))
    assert hookscope(*plain).json["hooks"][0]["state"] == "blocked"
    assumed = hookscope(*plain, "--os", "darwin", "--env", "TOKEN=x")
    assert assumed.json["hooks"][0]["state"] == "untrusted"
    service = hookscope(*plain, "--os", "darwin", "--clean-env", env={"TOKEN": "x"})
    assert service.json["hooks"][0]["state"] == "blocked"
    assert hookscope("list", "--os", "darwin", "--env", "A=b").out.startswith("What if: os darwin, A set.\n")


def test_scanning_imports_no_user_code(
    hookscope: Program, workspace: Path, bundled: Path, make_hook: MakeHook
) -> None:
    sign = workspace / "it-ran"
    make_hook(
        workspace / "hooks", "eager", "{openclaw: {events: [command]}}",
        f"open({str(sign)!r}, 'w').close()\ndef handler(event): pass\n",
    )  # fmt: skip
    hookscope("trust", "hooks")
    for command in (["list"], ["info", "eager"], ["check"], ["plan", "command:new"]):
        for form in ([], ["--json"]):
            assert hookscope(*command, *form, "--bundled", str(bundled)).code == 0
    assert not sign.exists()
    assert not list(workspace.rglob("__pycache__"))
    assert hookscope("load", "--bundled", str(bundled)).code == 0
    assert sign.exists()


def test_info_suggests_the_closest_hook_name(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "session-memory", "{openclaw: {events: [command]}}")
    assert hookscope("info", "session-memory").code == 0
    done = hookscope("info", "sesion-memory", "--json")
    assert done.code == 1
    assert done.err == "hookscope: No hook is named 'sesion-memory'. Did you mean session-memory?\n"
    assert json.loads(done.out)["next"] == "Did you mean session-memory?"


def test_info_finds_a_hook_by_its_settings_key_and_names_the_line(
    hookscope: Program, workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", "{openclaw: {events: [command], hookKey: hello}}")
    (home / ".openclaw").mkdir()
    settings = "{hooks: {internal: {entries: {\n  // off for now\n  hello: {enabled: false},\n}}}}\n"
    (home / ".openclaw/openclaw.json").write_text(settings)
    done = hookscope("info", "hello")
    assert done.code == 0
    assert "disabled in config" in done.out
    assert "(openclaw.json:3)" in done.out
    (gate,) = [
        gate for gate in hookscope("info", "hello", "--json").json["gates"] if gate["gate"] == "enabled"
    ]
    assert gate["fix"]["path"] == ["hooks", "internal", "entries", "hello", "enabled"]


def test_info_shows_all_metadata(hookscope: Program, workspace: Path, make_hook: MakeHook) -> None:
    install = "[{id: git, kind: bundled, bins: [git], size: .inf}]"
    said = f"events: [session], hookKey: hello, always: true, homepage: 'https://x', install: {install}"
    make_hook(workspace / "hooks", "greet", f"{{milady: {{{said}}}}}")
    told = hookscope("info", "greet", "--dialect", "milady", "--json").json
    assert {name: told[name] for name in ("export", "key", "always", "homepage", "install")} == {
        "export": "default",
        "key": "hello",
        "always": True,
        "homepage": "https://x",
        "install": [{"id": "git", "kind": "bundled", "bins": ["git"], "size": "inf"}],
    }


def test_check_groups_hooks_by_state_and_counts_them(
    hookscope: Program, workspace: Path, bundled: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "a", "{openclaw: {events: [command]}}")
    make_hook(workspace / "hooks", "b", "{openclaw: {events: [command], requires: {bins: [no-such]}}}")
    done = hookscope("check", "--json", "--bundled", str(bundled))
    assert done.code == 0
    assert done.json["total"] == 2
    assert done.json["hooks"]["blocked"] == ["b"]
    assert done.json["counts"]["untrusted"] == 1


def test_plan_shows_the_call_order_and_reasons(
    hookscope: Program, workspace: Path, bundled: Path, make_hook: MakeHook
) -> None:
    for name, key in (("a", "command:new"), ("b", "command"), ("c", "gateway:startup")):
        make_hook(workspace / "hooks", name, f"{{openclaw: {{events: ['{key}']}}}}")
    make_hook(workspace / "hooks", "ts", "{openclaw: {events: [command]}}", file="handler.ts")
    hookscope("trust", "hooks")
    done = hookscope("plan", "command:new", "--json", "--bundled", str(bundled))
    assert done.json.keys() == {"event", "groups", "not_run"}
    (group,) = done.json["groups"]
    assert [(call["hook"], call["key"]) for call in group["calls"]] == [
        ("b", "command"),
        ("ts", "command"),
        ("a", "command:new"),
    ]
    assert group["together"] is False
    reasons = {item["hook"]: item["reason"] for item in done.json["not_run"]}
    assert reasons == {"c": "subscribes to gateway:startup"}


def test_plan_suggests_the_closest_event_name(hookscope: Program, bundled: Path) -> None:
    done = hookscope("plan", "comand:new", "--bundled", str(bundled))
    assert done.code == 1
    assert done.err == "hookscope: 'comand:new' is not an event of OpenClaw. Did you mean command:new?\n"


WRONG_USE = {
    ("lst",): "did you mean `list`?",
    ("list", "--nonsense"): "No such option",
    ("info",): "Missing argument",
    ("--dialect", "openclow", "list"): "did you mean openclaw?",
    ("--env", "novalue", "list"): "is not NAME=VALUE",
    ("--workspace", "/no/such/folder", "list"): "There is no folder",
    ("fire", "command:new", "--context", "{"): "--context, line 1, column 2",
    ("fire", "command:new", "--context", "[1]"): "this must be a JSON object, not a list",
    ("fire", "command:new", "--context", "@/no/such"): "Cannot read the context",
    ("fire", "command:new", "--timeout", "0"): "0.0 is not in the range",
}


@pytest.mark.parametrize(("arguments", "sentence"), WRONG_USE.items(), ids=lambda value: " ".join(value)[:40])
def test_wrong_use_prints_one_sentence_and_exits_with_2(
    hookscope: Program, arguments: tuple[str, ...], sentence: str
) -> None:
    done = hookscope(*arguments)
    assert done.code == 2
    assert sentence in done.err
    assert done.err.startswith("hookscope: ")
    assert done.err.count("\n") == 1
    assert done.out == ""


def test_wrong_use_with_json_prints_a_document(hookscope: Program) -> None:
    for arguments in (("lst", "--json"), ("list", "--json", "--no-such-option"), ("info", "--json")):
        done = hookscope(*arguments)
        assert done.code == 2
        assert done.err.count("\n") == 1
        assert (list(done.json), done.json["error"] in done.err) == (["error", "next"], True)


def test_the_project_configuration_may_set_the_dialect(
    hookscope: Program, workspace: Path, bundled: Path
) -> None:
    (workspace / ".hookscope").mkdir()
    (workspace / ".hookscope/config.yaml").write_text("dialect: eliza\n")
    assert hookscope("list", "--json", "--bundled", str(bundled)).json["dialect"] == "eliza"
    (workspace / ".hookscope/config.yaml").write_text("dialect: [\n")
    done = hookscope("list", "--bundled", str(bundled))
    assert done.code == 2
    assert "config.yaml, line 2, column 1" in done.err


def test_the_installed_host_is_detected_and_several_are_reported(
    hookscope: Program, home: Path, bundled: Path
) -> None:
    (home / ".eliza").mkdir()
    assert hookscope("list", "--json", "--bundled", str(bundled)).json["dialect"] == "eliza"
    (home / ".milady").mkdir()
    done = hookscope("list", "--json", "--bundled", str(bundled))
    assert done.json["dialect"] == "milady"
    assert done.err == "hookscope: Found Milady and Eliza: using milady; --dialect picks another.\n"


def test_a_state_folder_made_by_hookscope_is_not_detected_as_a_host(
    hookscope: Program, workspace: Path, home: Path
) -> None:
    fired = hookscope("--dialect", "eliza", "fire", "command:new", "--json")  # command-logger is ours
    assert fired.code == 0
    assert (home / ".eliza" / "logs" / "commands.log").is_file()
    assert hookscope("--dialect", "eliza", "disable", "command-logger").code == 0
    assert hookscope("--dialect", "eliza", "undo").code == 0
    listed = hookscope("list", "--json")
    assert (listed.json["dialect"], listed.err) == ("openclaw", "")
    (home / ".eliza" / "hooks").mkdir()
    assert hookscope("list", "--json").json["dialect"] == "eliza"


def test_a_hooks_name_cannot_clear_the_screen(hookscope: Program, workspace: Path, bundled: Path) -> None:
    folder = workspace / "hooks/x\x1b[2J"
    folder.mkdir()
    (folder / "HOOK.md").write_text('---\nname: "a\\e[2J\\u202Eb"\ndescription: "\\e]0;title\\a"\n---\n')
    (folder / "handler.py").write_text("def handler(event): pass\n")
    (workspace / "hooks/y\x1b[2J").mkdir()
    (workspace / "hooks/y\x1b[2J/HOOK.md").write_text("no header")
    for command in (["list"], ["check"], ["info", "a\x1b[2J\u202eb"], ["plan", "command:new"]):
        done = hookscope(*command, "--bundled", str(bundled))
        assert done.code == 0
        assert "\x1b" not in done.out + done.err
        assert "\u202e" not in done.out


def test_file_names_in_broken_utf8_get_through(hookscope: Program, workspace: Path, bundled: Path) -> None:
    folder = bytes(workspace / "hooks") + b"/\xff\xfe"
    Path(folder.decode("utf-8", "surrogateescape")).mkdir()
    Path((folder + b"/HOOK.md").decode("utf-8", "surrogateescape")).write_text("---\n{}\n---\n")
    Path((folder + b"/handler.py").decode("utf-8", "surrogateescape")).write_text("def handler(e): pass\n")
    done = hookscope("list", "--json", "--bundled", str(bundled))
    assert done.code == 0
    assert done.json["hooks"][0]["path"].encode("utf-8", "surrogateescape") == folder
    assert hookscope("list", "--bundled", str(bundled)).code == 0


def test_the_console_asks_for_a_terminal(hookscope: Program) -> None:
    done = hookscope()
    assert done.code == 1
    assert "needs a terminal" in done.err


def test_an_internal_error_is_reported_as_a_bug_of_hookscope(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from hookscope.app.workbench import Workbench
    from hookscope.cli.main import exit_code

    def broken(self: Workbench) -> None:
        raise RuntimeError("not \x1b[2J foreseen")

    monkeypatch.setattr(Workbench, "scan", broken)
    assert exit_code(["list"]) == 1
    printed = capsys.readouterr()
    assert "a bug in Hookscope" in printed.err
    assert "RuntimeError: not ␛[2J foreseen" in printed.err
    assert printed.out == ""


def test_doctor_shows_the_machine_and_the_next_step(
    hookscope: Program, workspace: Path, bundled: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", "{openclaw: {events: [command]}}")
    make_hook(workspace / "hooks", "ts", "{openclaw: {events: [command]}}", file="handler.ts")
    done = hookscope("doctor", "--json", "--bundled", str(bundled))
    assert done.code == 0
    findings = {item["name"]: item for item in done.json["findings"]}
    assert findings["dialect"]["found"] == "openclaw, no host was found"
    assert findings["workspace"]["well"]
    assert "hookscope trust" in findings["trust"]["next"]
    assert "version 3." in findings["python"]["found"]
    assert "1 hook needs it: ts" in findings["node"]["found"]
    (workspace / ".hookscope").mkdir()
    (workspace / ".hookscope/config.yaml").write_text("python: /no/such/python\n")
    assert "! python" in hookscope("doctor").out


NULLS = {
    "extra folder": '{hooks: {internal: {load: {extraDirs: ["a\\u0000b"]}}}}',
    "legacy module": '{hooks: {internal: {handlers: [{event: "command:new", module: "a\\u0000b.py"}]}}}',
    "workspace": '{agents: {defaults: {workspace: "a\\u0000b"}}}',
}


@pytest.mark.parametrize("settings", NULLS.values(), ids=NULLS)
def test_an_impossible_path_is_treated_as_absent(
    settings: str, hookscope: Program, home: Path, tmp_path: Path
) -> None:
    (home / ".openclaw").mkdir()
    (home / ".openclaw/openclaw.json").write_text(settings)
    for command in ("list", "check", "doctor"):
        done = hookscope(command, cwd=tmp_path)
        assert done.code == 0
        assert "bug in Hookscope" not in done.err


def test_a_name_that_is_too_long_is_refused_with_a_sentence(hookscope: Program) -> None:
    done = hookscope("--workspace", "x" * 5000, "list")
    assert (done.code, done.err.count("\n")) == (2, 1)


def test_trust_refuses_an_empty_path(hookscope: Program, workspace: Path) -> None:
    """`hookscope trust "$HOOKS"` where HOOKS is not set: the current folder was meant by nobody."""
    done = hookscope("trust", "", "--json")
    assert (done.code, done.json["error"]) == (2, "The folder's name is empty.")
    assert hookscope("trust", ".", "--json").json["trusted"] == str(workspace)


def test_trust_accepts_only_folders(hookscope: Program, workspace: Path) -> None:
    (workspace / "hooks.tgz").write_text("")
    done = hookscope("trust", "hooks.tgz")
    assert done.code == 1
    assert "only folders can be trusted" in done.err


def test_output_that_cannot_be_printed_is_reported(workspace: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "hookscope", "list"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "hookscope: the answer could not be printed: no space is left on the device.\n"


def test_a_pipe_in_place_of_the_project_configuration_is_not_read(
    hookscope: Program, workspace: Path
) -> None:
    (workspace / ".hookscope").mkdir()
    os.mkfifo(workspace / ".hookscope" / "config.yaml")
    done = hookscope("list")
    assert done.code == 2
    assert "config.yaml: not a regular file" in done.err


def test_everything_that_fails_to_be_a_hook_is_listed_with_a_reason(
    hookscope: Program, workspace: Path, home: Path, bundled: Path, make_hook: MakeHook
) -> None:
    """However deep it lies in its folder, and where the settings alone name it."""
    make_hook(home / ".openclaw/hooks/pack", "one", "{openclaw: {events: [command]}}", file="handler.js")
    make_hook(home / ".openclaw/hooks/pack", "two", "{openclaw: {events: [command]}}", file="handler.js")
    pack = {"name": "pack", "openclaw": {"hooks": ["./one"]}}
    (home / ".openclaw/hooks/pack/package.json").write_text(json.dumps(pack))
    shipped = hookscope("--dialect", "openclaw@2026.9", "--bundled", str(bundled), "list").out
    assert "✗ no hook    two: the folder has a HOOK.md, but `hooks` in package.json does not list" in shipped
    settings = {"plugins": {"hooks": [{"event": "nope", "module": "x"}]}}
    (home / ".openclaw/openclaw.json").write_text(json.dumps(settings))
    guide = hookscope("--dialect", "openclaw", "--bundled", str(bundled), "list").out
    told = "✗ no hook    openclaw.json: plugins.hooks[0]: OpenClaw has no plugin hook nope"
    assert guide.split("\n\n")[-1].splitlines() == ["settings", f"  {told}"]


def test_an_extra_folder_named_twice_does_not_shadow_itself(
    hookscope: Program, home: Path, bundled: Path, make_hook: MakeHook
) -> None:
    make_hook(home / ".openclaw/more", "extra", "{openclaw: {events: [command]}}")
    (home / ".openclaw/openclaw.json").write_text(
        '{hooks: {internal: {load: {extraDirs: ["./more", "~/.openclaw/more"]}}}}'
    )
    hooks = hookscope("list", "--json", "--bundled", str(bundled)).json["hooks"]
    assert [(hook["name"], hook["state"]) for hook in hooks] == [("extra", "untrusted")]


def test_an_entry_without_a_file_needs_no_trust(hookscope: Program, home: Path) -> None:
    settings = home / ".openclaw" / "openclaw.json"
    settings.parent.mkdir()
    handlers = [{"event": "command:new"}, {"event": "command:new", "module": " "}]
    settings.write_text(json.dumps({"hooks": {"internal": {"handlers": handlers}}}))
    rows = {row["name"]: row for row in hookscope("--dialect", "openclaw", "list", "--json").json["hooks"]}
    for name, why in (("handlers[0]", "must be a string, not nothing"), ("handlers[1]", "names no file")):
        (shut,) = [gate for gate in rows[name]["gates"] if gate["passed"] is False]
        assert (shut["gate"], why in shut["reason"]) == ("fields", True)
        forced = hookscope("--dialect", "openclaw", "fire", "command:new", "--only", name, "--force")
        assert (forced.code, why in forced.err) == (1, True), forced.err
