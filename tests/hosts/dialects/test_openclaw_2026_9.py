"""The rules of OpenClaw 2026.9, through its own command as a script sees it."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hookscope.cli.main import exit_code
from hookscope.hosts.settings.settings_reader import Includes, merge_values
from hookscope.model.machine import RealFiles

if TYPE_CHECKING:
    from tests.hosts.dialects.conftest import Program

BOTH = " (allowed: true, false)"
NOTHING: dict[str, list[str]] = {"bins": [], "anyBins": [], "env": [], "config": [], "os": []}


def ready(program: Program) -> list[str]:
    return [name for name, hook in program.listed().items() if hook["loadable"]]


# Folders


def test_an_extra_folder_named_twice_counts_where_it_stands_last(program: Program) -> None:
    for folder in ("one", "two", "three"):
        program.hook(f"{folder}/same")
        program.hook(f"{folder}/{folder}")
    program.settings({"load": {"extraDirs": ["~/one", "three", "~/two", "~/one"]}})
    assert program.document("info", "same")["filePath"] == str(program.home / "one/same/HOOK.md")
    assert list(program.listed()) == ["one", "same", "three", "two"]  # and keeps its first place


def test_relative_extra_folders_count_from_the_current_folder(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    program.hook("here/extra/h")
    program.settings({"load": {"extraDirs": ["extra"]}})
    assert program.listed() == {}
    monkeypatch.chdir(program.home / "here")
    assert list(program.listed()) == ["h"]


def test_of_two_bundled_hooks_of_one_name_the_first_stays(program: Program) -> None:
    for folder in ("a", "b"):
        program.hook(f"bundled/{folder}", header='name: same\nmetadata: {"openclaw": {"events": "command"}}')
    code, _, errors = program.says("info", "same")
    assert (code, len(errors)) == (0, 1)
    assert "because it cannot override openclaw-bundled hook code" in errors[0]
    assert program.document("info", "same")["baseDir"].endswith("bundled/a")


def test_folders_are_read_in_byte_order(program: Program) -> None:
    for name in ("lower", "Upper", "20", "100", "über", ".hidden", "node_modules", "with blank"):
        program.hook(f".openclaw/hooks/{name}")
    assert list(program.listed()) == [
        ".hidden", "100", "20", "Upper", "lower", "node_modules", "with blank", "über",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "package",
    ["{broken", "{}", '{"openclaw": {}}', '{"openclaw": {"hooks": []}}', '{"openclaw": {"hooks": "./a"}}',
     '{"openclaw": {"hooks": [" ", 5]}}'],
)  # fmt: skip
def test_a_package_that_lists_nothing_is_an_ordinary_hook(program: Program, package: str) -> None:
    folder = program.hook(".openclaw/hooks/plain")
    program.hook(".openclaw/hooks/plain/a")
    (folder / "package.json").write_text(package)
    assert list(program.listed()) == ["plain"]


def test_a_pack_counts_for_what_it_lists_alone(program: Program) -> None:
    pack = program.hook(".openclaw/hooks/pack")
    program.hook(".openclaw/hooks/pack/in")
    (pack / "empty").mkdir()
    (pack / "link").symlink_to("in")
    program.hook("outside")
    (pack / "leak").symlink_to(program.home / "outside")
    listed = ["./in", "gone", "empty", " link ", "leak"]
    (pack / "package.json").write_text(
        f'{{"openclaw": {{"hooks": {str(listed).replace(chr(39), chr(34))}}}}}'
    )
    _, _, errors = program.says("list")
    assert list(program.listed()) == ["in"]
    assert program.document("info", "in")["filePath"] == str(pack / "link/HOOK.md")
    assert [error.split('"')[1] for error in errors] == ["gone", "leak"]


def test_where_a_packs_list_and_its_folders_disagree_each_is_told_with_its_line(
    program: Program, capsys: pytest.CaptureFixture[str]
) -> None:
    pack = program.managed / "pack"
    for name in ("hooks/good", "hooks/forgotten", "beside"):
        program.hook(pack / name)
    listed = ["./hooks/good", "hooks/moved", "../../out"]
    (pack / "package.json").write_text(json.dumps({"openclaw": {"hooks": listed}}, indent=2))
    assert list(program.listed()) == ["good"]
    assert exit_code(["--dialect", "openclaw@2026.9", "list", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["rejected"]
    left_out = 'the folder has a HOOK.md, but `hooks` in package.json does not list "{}"'
    assert {(item["path"], item["line"], item["reason"]) for item in told} == {
        (f"{pack}/hooks/moved", 5, "package.json lists hooks/moved, but there is no such folder"),
        (f"{pack}", 6, "package.json lists ../../out, which is not in the package"),
        (f"{pack}/hooks/forgotten", 3, left_out.format("./hooks/forgotten")),
        (f"{pack}/beside", 3, left_out.format("./beside")),
    }
    exit_code(["--dialect", "openclaw@2026.9", "doctor", "--json"])
    found = [one for one in json.loads(capsys.readouterr().out)["findings"] if one["name"] == "pack"]
    assert len(found) == 4


def test_a_pack_of_refused_folders_is_no_hook_itself(program: Program) -> None:
    pack = program.hook(".openclaw/hooks/pack")
    (pack / "package.json").write_text('{"openclaw": {"hooks": ["../.."]}}')
    assert program.listed() == {}


def test_an_extra_folder_with_its_own_hook_is_that_hook_alone(program: Program) -> None:
    program.hook("single")
    program.hook("single/child")
    (program.home / "linked").symlink_to("single")
    program.settings({"load": {"extraDirs": ["~/linked"]}})
    info = program.document("info", "single")
    assert list(program.listed()) == ["single"]
    assert info["filePath"] == str(program.home / "linked/HOOK.md")
    assert info["baseDir"] == str(program.home / "single")
    assert info["handlerPath"] == str(program.home / "single/handler.js")


def test_the_manifest_may_have_exactly_one_mebibyte(program: Program) -> None:
    folder = program.hook(".openclaw/hooks/big")
    text = (folder / "HOOK.md").read_bytes()
    (folder / "HOOK.md").write_bytes(text + b"x" * (1_048_576 - len(text)))
    assert list(program.listed()) == ["big"]
    (folder / "HOOK.md").write_bytes(text + b"x" * (1_048_577 - len(text)))
    assert program.listed() == {}


@pytest.mark.parametrize("file", ["handler.mjs", "handler.cjs", "handler.tsx", "Handler.js", "handler.py"])
def test_other_handlers_are_not_recognised(program: Program, file: str) -> None:
    program.hook(".openclaw/hooks/h", file=file)
    assert program.listed() == {}
    assert "no readable handler" in program.says("list")[2][0]


def test_a_refused_handler_leaves_the_next_candidate(program: Program) -> None:
    folder = program.hook(".openclaw/hooks/h", file="index.js")
    (folder / "handler.ts").mkdir()
    (folder / "handler.js").symlink_to(program.write("elsewhere.js", ""))
    os.link(program.write("other.ts", ""), folder / "index.ts")
    assert program.document("info", "h")["handlerPath"] == str(folder / "index.js")


@pytest.mark.parametrize("kind", ["hard link", "link out"])
def test_a_refused_manifest_hides_the_hook_without_a_word(program: Program, kind: str) -> None:
    folder = program.hook(".openclaw/hooks/h")
    (folder / "HOOK.md").rename(program.home / "HOOK.md")
    if kind == "hard link":
        os.link(program.home / "HOOK.md", folder / "HOOK.md")
    else:
        (folder / "HOOK.md").symlink_to(program.home / "HOOK.md")
    assert program.listed() == {}
    assert program.says("list")[2] == []


def test_a_hook_without_handler_hides_no_other_of_its_name(program: Program) -> None:
    program.hook("bundled/same")
    (program.hook(".openclaw/hooks/same") / "handler.js").unlink()
    assert program.listed()["same"]["source"] == "openclaw-bundled"


# Headers


@pytest.mark.parametrize(
    ("header", "name", "description"),
    [
        ("name: null", "null", ""),
        ("name: ~", "~", ""),
        ("name: {a: 1}", "{a: 1}", ""),
        ("name: [x, y]", '["x","y"]', ""),
        ("name: 0x10", "16", ""),
        ("name: 1.50", "1.5", ""),
        ("name: yes", "yes", ""),
        ("name: x\ndescription: *bold*", "x", "*bold*"),
        ("name: x\ndescription: @x", "x", "@x"),
        ('name: x\ndescription: "Half" a quote', "x", '"Half" a quote'),
        ("description: {not closed\nname: x", "x", "{not closed"),
        ("name: x\nsummary: one: two\ndescription: 'kept: so'", "x", "kept: so"),
        ('name: x\ntags: [a, b\ndescription: "cut"', "x", "cut"),
    ],
)
def test_every_header_says_something(program: Program, header: str, name: str, description: str) -> None:
    program.hook(".openclaw/hooks/folder", header=header)
    listed = program.listed()[name]
    assert (listed["description"], listed["blockedReason"]) == (description, "no events defined")


@pytest.mark.parametrize("start", ["\n---\n", " ---\n", "----\n"])
def test_what_is_no_header_leaves_the_folders_name(program: Program, start: str) -> None:
    folder = program.hook(".openclaw/hooks/folder")
    (folder / "HOOK.md").write_text(f"{start}name: x\n---\n")
    assert program.listed()["folder"]["description"] == ""
    (folder / "HOOK.md").write_text("---\nname: x\n")
    assert list(program.listed()) == ["folder"]


@pytest.mark.parametrize(
    ("metadata", "events"),
    [
        ("{openclaw: {events: [command:new]}}", []),
        ("\n  openclaw:\n    events: [command:new]", ["command:new"]),
        ("\"{openclaw: {events: ['command:new'], /* why */}}\"", ["command:new"]),
        ("|\n  {openclaw: {events: ['command:new']}, // why\n  }", ["command:new"]),
        ('{"openclaw": {"events": [["a", "b"], {}, 7, true, null, " c "]}}',
         ["a,b", "[object Object]", "7", "true", "null", "c"]),
        ('{"openclaw": {"events": 7}}', []),
        ('{"openclaw": [1], "clawdbot": {"events": ["command:new"]}}', []),
        ('{"openclaw": "x", "clawdbot": {"events": ["command:new"]}}', ["command:new"]),
        ('{"milady": {"events": ["command:new"]}}', []),
        ('{"openclaw": {"events": ["command:new"],},}', ["command:new"]),
    ],
)  # fmt: skip
def test_metadata_is_json_text_below_the_programs_key(
    program: Program, metadata: str, events: list[str]
) -> None:
    program.hook(".openclaw/hooks/h", header=f"name: h\nmetadata: {metadata}")
    assert program.listed()["h"]["events"] == events


def test_wrong_types_are_passed_over(program: Program) -> None:
    told = {"always": "true", "hookKey": 5, "emoji": ["x"], "homepage": 1, "requires": "x", "os": {}}
    program.hook(".openclaw/hooks/h", told)
    info = program.document("info", "h")
    assert (info["always"], info["hookKey"], info["requirements"]) == (False, "h", NOTHING)
    assert "emoji" not in info
    assert "homepage" not in info


def test_a_blank_homepage_suppresses_those_at_the_top(program: Program) -> None:
    header = 'name: h\nwebsite: https://b\nurl: https://c\nmetadata: {"openclaw": {"homepage": %s}}'
    program.hook(".openclaw/hooks/h", header=header % '" "')
    assert "homepage" not in program.listed()["h"]
    program.hook(".openclaw/hooks/h", header=header % "5")
    assert program.listed()["h"]["homepage"] == "https://b"


def test_install_kinds_are_read_in_any_case(program: Program) -> None:
    told = [{"type": "NPM", "package": "p"}, {"kind": "brew"}, "x", {"kind": "Bundled", "bins": "a, b"}]
    program.hook(".openclaw/hooks/h", {"install": told})
    assert program.document("info", "h")["install"] == [
        {"id": "npm-0", "kind": "npm", "label": "Install p (npm)", "bins": []},
        {"id": "bundled-1", "kind": "bundled", "label": "Bundled with OpenClaw", "bins": ["a", "b"]},
    ]


# Requirements


def missing(program: Program, requires: dict[str, Any]) -> dict[str, Any]:
    program.hook(".openclaw/hooks/h", {"requires": requires})
    found: dict[str, Any] = program.listed()["h"]["missing"]
    return found


def test_a_folder_on_the_path_counts_as_a_program(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    (program.home / "bin/tool").mkdir(parents=True)
    program.write("bin/plain", "").chmod(0o644)
    monkeypatch.setenv("PATH", str(program.home / "bin"))
    assert missing(program, {"bins": ["tool", "../bin/tool", "plain"]})["bins"] == ["plain"]
    assert missing(program, {"anyBins": "plain, absent"})["anyBins"] == ["plain", "absent"]


def test_on_windows_the_endings_of_programs_are_tried(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    program.write("bin/tool.CMD", "").chmod(0o755)
    monkeypatch.setenv("PATH", str(program.home / "bin"))
    program.hook(".openclaw/hooks/h", {"requires": {"bins": ["tool"]}})
    assert not program.listed()["h"]["loadable"]
    (hook,) = program.document("--os", "win32", "list")["hooks"]
    assert hook["loadable"]


def test_variables_come_from_the_process_the_entry_the_settings_and_the_dotenv_file(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZERO", "0")
    monkeypatch.setenv("BLANK", " ")
    program.write(".openclaw/.env", "FROM_FILE='x'\n# OUT=1\n")
    entry = {"env": {"OF_ENTRY": "x", "UNFILLED": "${NOT_SET_ANYWHERE}", "ENTRY_BLANK": " "}}
    program.settings({"entries": {"h": entry}}, env={"vars": {"OF_SETTINGS": "x"}})
    needed = ["ZERO", "BLANK", "FROM_FILE", "OUT", "OF_ENTRY", "UNFILLED", "ENTRY_BLANK", "OF_SETTINGS"]
    assert missing(program, {"env": needed})["env"] == ["BLANK", "OUT", "ENTRY_BLANK"]


def test_which_settings_count_as_present(program: Program) -> None:
    """What JavaScript gives every object and list is there too; a text has no members."""
    odd = {"list": [{"a": 0}, "x"], "text": "false", "blank": " ", "none": None, "workspace": {"dir": ""}}
    program.settings({"entries": {"e": odd}}, browser={"enabled": False})
    base = "hooks.internal.entries.e"
    absent = [
        f"{base}.list.0.a", f"{base}.text.length", f"{base}.blank", f"{base}.none", f"{base}.list.2",
        "browser.enabled", "workspace.dir.", f"{base}.__proto__", "hooks.constructor",
        f"{base}.text.toString", "hooks.toString.name",
    ]  # fmt: skip
    present = [
        f"{base}.list.1", f"{base}.list.length", f"{base}.text", "hooks..internal.", "", f"{base}.list",
        "workspace.dir", "browser.evaluateEnabled", "hooks.toString", f"{base}.list.push",
    ]  # fmt: skip
    assert missing(program, {"config": [*absent, *present]})["config"] == absent


def test_an_entry_under_the_name_is_not_asked_where_there_is_a_key(program: Program) -> None:
    program.settings({"entries": {"h": {"enabled": False}, "": {"enabled": False}}})
    program.hook(".openclaw/hooks/h", {"hookKey": "key"})
    program.hook(".openclaw/hooks/empty", {"hookKey": ""})
    assert {name: hook["disabled"] for name, hook in program.listed().items()} == {"empty": True, "h": False}
    assert program.document("info", "key")["name"] == "h"


def test_one_key_of_several_hooks_is_ambiguous(program: Program) -> None:
    program.hook(".openclaw/hooks/a", {"hookKey": "key"})
    program.hook(".openclaw/hooks/b", {"hookKey": "key"})
    for command in ("info", "enable", "disable"):
        assert program.says(command, "key")[0] == 1
    assert program.says("disable", "a")[0] == 0
    assert [hook["disabled"] for hook in program.listed().values()] == [True, True]


def test_a_plugins_hook_has_no_switch(program: Program) -> None:
    program.write("plug/.codex-plugin/plugin.json", '{"name": "demo", "hooks": ["./more", "../out"]}')
    program.hook("plug/more/h")
    program.hook("plug/hooks/unlisted")
    program.hook("out/leak")
    program.settings({"entries": {"h": {"enabled": False}}}, plugins={"load": {"paths": ["~/plug"]}})
    assert {name: hook["pluginId"] for name, hook in program.listed().items()} == {"h": "demo"}
    assert ready(program) == ["h"]
    for command in ("enable", "disable"):
        code, out, errors = program.says(command, "h")
        assert (code, out) == (1, "")
        assert 'managed by plugin "demo"' in errors[0]
    program.settings(plugins={"load": {"paths": ["~/plug"]}, "entries": {"demo": {"enabled": False}}})
    assert program.listed() == {}


# Settings


def test_settings_may_stand_in_several_files(program: Program) -> None:
    program.hook("one/a")
    program.hook("two/b")
    program.hook("three/c")
    program.write(".openclaw/more.json5", "{load: {extraDirs: ['~/one']}, $include: './deep/last.json'}")
    program.write(".openclaw/deep/last.json", '{"load": {"extraDirs": ["~/two"]}, "enabled": true}')
    program.write(
        ".openclaw/openclaw.json",
        '{hooks: {internal: {$include: "more.json5", enabled: false, load: {extraDirs: ["~/three"]}}}}',
    )
    host = program.host()
    assert host.hooks_setting("enabled")[0] is False
    assert list(program.listed()) == ["b", "a", "c"]


def test_large_settings_of_several_files_are_merged_key_by_key() -> None:
    """So many that a search per key would not end before the run's timeout."""
    one, other = ({str(number + start): start for number in range(200_000)} for start in (0, 100_000))
    both = merge_values(one, other)
    assert (list(both), both["99999"], both["100000"]) == (list(map(str, range(300_000))), 0, 100_000)


def test_a_file_is_read_once_however_often_it_is_included(tmp_path: Path) -> None:
    reads: list[str] = []

    class Counting(RealFiles):
        def read(self, path: Path, limit: int = -1) -> bytes:
            reads.append(path.name)
            return super().read(path, limit)

    names = [f"{number}.json" for number in range(9)]
    for name, then in pairwise(names):
        (tmp_path / name).write_text(json.dumps({"$include": [f"./{then}"] * 2}))
    (tmp_path / names[-1]).write_text('{"list": [1]}')
    includes = Includes("$include", Counting(), tmp_path.resolve())
    value = includes.resolved({"$include": "0.json"}, tmp_path / "openclaw.json")
    assert (value, reads) == ({"list": [1] * 256}, names)


@pytest.mark.parametrize(
    ("times", "content", "most"),
    [(9, "{}", "1,000 files"), (2, "[1]" + " " * 100_000, "bytes")],
    ids=["files", "bytes"],
)
def test_includes_that_fan_out_without_end_make_the_settings_invalid(
    program: Program, times: int, content: str, most: str
) -> None:
    for number in range(8):
        include = [f"{number + 1}.json"] * times
        program.write(f".openclaw/{number}.json", json.dumps({"$include": include}))
    program.write(".openclaw/8.json", content)
    program.write(".openclaw/openclaw.json", '{"$include": "0.json"}')
    code, _, errors = program.says("list")
    assert code == 1
    assert any(most in line for line in errors)


@pytest.mark.parametrize(("files", "code"), [(10, 0), (11, 1)])
def test_ten_files_may_stand_in_one_another(program: Program, files: int, code: int) -> None:
    for number in range(1, files):
        program.write(f".openclaw/{number}.json", json.dumps({"$include": f"{number + 1}.json"}))
    program.write(f".openclaw/{files}.json", "{}")
    program.write(".openclaw/openclaw.json", '{"$include": "1.json"}')
    assert program.says("list")[0] == code


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("absent", "Failed to read include file: none.json (resolved: "),
        ("outside", "Include path escapes config directory: ../out.json (root: "),
        ("link outside", "Include path resolves outside config directory (symlink): part.json (root: "),
        (
            "hard link",
            "Include file failed security checks (regular file, max 2097152 bytes, no hardlinks): ",
        ),
        ("itself", "Circular include detected: "),
        ("broken", "Failed to parse include file: part.json (resolved: "),
    ],
)
def test_a_file_that_may_not_be_included_makes_the_settings_invalid(
    program: Program, kind: str, words: str
) -> None:
    include = program.write(".openclaw/part.json", "{broken" if kind == "broken" else "{}")
    name = {"absent": "none.json", "outside": "../out.json", "itself": "openclaw.json"}.get(kind, "part.json")
    program.write("out.json", "{}")
    if kind == "hard link":
        os.link(include, program.home / "other.json")
    if kind == "link outside":
        include.unlink()
        include.symlink_to(program.home / "out.json")
    program.write(".openclaw/openclaw.json", f'{{"$include": "{name}"}}')
    code, out, errors = program.says("list", "--json")
    assert code == 1
    assert out.startswith('{\n  "ok": false')
    assert errors[0].startswith(f"Failed to read config at {program.home}/.openclaw/openclaw.json: {words}")
    if kind == "broken":
        assert errors[0].endswith(" | JSON5: invalid end of input at 1:8")


def test_settings_that_are_not_json5_are_refused_in_the_words_of_the_hosts_reader(program: Program) -> None:
    program.write(".openclaw/openclaw.json", '{\n  "hooks": {7: 1}\n}')
    code, _, errors = program.says("list")
    file, problem = program.home / ".openclaw/openclaw.json", "JSON5: invalid character '7' at 2:13"
    assert (code, errors[0]) == (1, f"Failed to read config at {file}: {problem}")
    assert f"Error: {problem}" in errors


def test_a_home_of_its_own_moves_everything_of_the_host(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENCLAW_HOME", str(program.home / "other"))
    program.hook(".openclaw/hooks/old")
    program.hook("other/.openclaw/hooks/new")
    assert list(program.listed()) == ["new"]


def test_settings_elsewhere_take_the_managed_hooks_along_and_leave_the_workspace(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENCLAW_CONFIG_PATH", str(program.home / "cfg/my.json"))
    program.hook(".openclaw/hooks/beside-the-state")
    program.hook("cfg/hooks/beside-the-settings")
    document = program.document("list")
    assert [hook["name"] for hook in document["hooks"]] == ["beside-the-settings"]
    assert document["managedHooksDir"] == str(program.home / "cfg/hooks")
    assert document["workspaceDir"] == str(program.home / ".openclaw/workspace")


def test_a_profile_has_a_workspace_of_its_own(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENCLAW_PROFILE", "work")
    assert program.document("list")["workspaceDir"] == str(program.home / ".openclaw-work/workspace")


@pytest.mark.parametrize(("name", "agent"), [(" Helper ", "helper"), ("nobody", "")])
def test_the_name_of_an_agent_is_read_as_the_host_reads_it(program: Program, name: str, agent: str) -> None:
    settings = {"agents": {"ownership": "explicit", "entries": {"main": {}, "helper": {"workspace": "~/h"}}}}
    program.write(".openclaw/openclaw.json", json.dumps(settings))
    code, out, errors = program.says("list", "--agent", name, "--json")
    if agent:
        assert json.loads(out)["workspaceDir"] == str(program.home / "h")
    else:
        assert code == 1
        assert 'Unknown agent id "nobody". Run openclaw agents list to see configured agents.' in errors[0]


def test_bundles_are_found_among_installed_plugins_by_an_id_of_small_letters(program: Program) -> None:
    for folder, name in {"one": "My Bundle!", "two": "off", "three": "cursor"}.items():
        kind = "cursor" if folder == "three" else "codex"
        program.write(f".openclaw/extensions/{folder}/.{kind}-plugin/plugin.json", json.dumps({"name": name}))
        program.hook(f".openclaw/extensions/{folder}/hooks/{folder}")
    settings = {"plugins": {"entries": {"off": {"enabled": False}}}}
    program.write(".openclaw/openclaw.json", json.dumps(settings))
    found = program.listed()
    assert {name: hook["pluginId"] for name, hook in found.items()} == {"one": "my-bundle"}


def test_metadata_may_be_nested_deeply_and_aliases_may_not_multiply(program: Program) -> None:
    def write(name: str, header: str) -> None:
        program.write(f".openclaw/hooks/{name}/HOOK.md", f"---\nname: {name}\n{header}\n---\n")
        program.write(f".openclaw/hooks/{name}/handler.js", "export default () => {};")

    events = "metadata:\n  openclaw:\n    events: [command:new]"
    nested = "[" * 300 + "]" * 300
    write("deep", f'metadata: {{"openclaw": {{"events": ["command:new"], "x": {nested}}}}}')
    write("few", f"a: &a [1]\nb: [{', '.join(['*a'] * 99)}]\n{events}")
    write("many", f"a: &a [1]\nb: [{', '.join(['*a'] * 100)}]\n{events}")
    assert {name: hook["events"] for name, hook in program.listed().items()} == {
        "deep": ["command:new"],
        "few": ["command:new"],
        "many": [],
    }


def test_variables_are_filled_into_texts(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXTRA", str(program.home / "x"))
    program.hook("x/h")
    text = {"a": "$${EXTRA}", "b": "${lower}", "c": "${NOT_SET_ANYWHERE}"}
    program.settings({"load": {"extraDirs": ["${EXTRA}"]}, "entries": {"e": text}})
    assert list(program.listed()) == ["h"]
    host = program.host()
    assert host.hooks_setting("entries", "e")[0] == {
        "a": "${EXTRA}", "b": "${lower}", "c": "${NOT_SET_ANYWHERE}",
    }  # fmt: skip
    assert ["NOT_SET_ANYWHERE" in problem.text for problem in host.problems + host.settings.problems] == [
        True
    ]


@pytest.mark.parametrize(
    ("internal", "issue"),
    [
        ({"enabled": "yes"},
         f"hooks.internal.enabled: Invalid input: expected boolean, received string{BOTH}"),
        ({"entries": []}, "hooks.internal.entries: Invalid input: expected record, received array"),
        ({"entries": {"h": True}},
         "hooks.internal.entries.h: Invalid input: expected object, received boolean"),
        ({"entries": {"h": {"enabled": None}}},
         f"hooks.internal.entries.h.enabled: Invalid input: expected boolean, received null{BOTH}"),
        ({"entries": {"h": {"env": {"A": 1}}}},
         "hooks.internal.entries.h.env.A: Invalid input: expected string, received number"),
        ({"load": {"extraDirs": "x"}},
         "hooks.internal.load.extraDirs: Invalid input: expected array, received string"),
        ({"load": {"extraDirs": [1]}},
         "hooks.internal.load.extraDirs[0]: Invalid input: expected string, received number"),
        ({"installs": {}}, 'hooks.internal: Unrecognized key: "installs"'),
        ({"a": 1, "b": 2}, 'hooks.internal: Unrecognized keys: "a", "b"'),
        ({"load": {"dirs": []}}, 'hooks.internal.load: Unrecognized key: "dirs"'),
    ],
)  # fmt: skip
def test_settings_with_a_wrong_type_or_key_are_refused_by_every_command(
    program: Program, internal: dict[str, Any], issue: str
) -> None:
    program.hook(".openclaw/hooks/h")
    file = program.settings(internal)
    message = f"Invalid config at {file}:\n- {issue}"
    before = file.read_bytes()
    for command in (["list"], ["check"], ["info", "h"]):
        document = program.document(*command)
        assert document == {"ok": False, "error": {"type": "cli_error", "message": message}}
    for command in (["enable", "h"], ["disable", "h"]):
        assert program.says(*command)[0] == 1
    assert file.read_bytes() == before


def test_the_default_agents_workspace_beats_the_common_one(program: Program) -> None:
    agents = {
        "defaults": {"workspace": "~/common"},
        "list": [{"id": "a", "workspace": "~/a"}, {"id": "b", "default": True, "workspace": "~/b"}],
    }
    program.settings(agents=agents)
    assert program.document("list")["workspaceDir"] == str(program.home / "b")
    assert program.document("list", "--agent", "a")["workspaceDir"] == str(program.home / "a")
    program.settings(agents={"defaults": {"workspace": "~/common"}})
    assert program.document("list")["workspaceDir"] == str(program.home / "common")
    blank = [{"id": "a", "default": True, "workspace": "  "}]
    program.settings(agents={"defaults": {"workspace": "~/common"}, "list": blank})
    assert program.document("list")["workspaceDir"] == str(program.home / "common")


# The command


def test_info_says_when_there_is_no_such_hook(program: Program) -> None:
    assert program.document("info", "x") == {
        "ok": False,
        "error": {"type": "cli_error", "message": 'Hook "x" not found.'},
        "hook": "x",
    }
    assert program.says("info", "x")[0] == 1


def test_check_and_list_say_yes_even_if_nothing_is_ready(program: Program) -> None:
    program.hook(".openclaw/hooks/h", {"events": []})
    assert program.says("check")[0] == 0
    assert program.says("list")[0] == 0
    assert program.document("list", "--eligible")["hooks"] == []


def test_enable_does_not_look_at_events_and_keeps_other_fields(program: Program) -> None:
    program.hook(".openclaw/hooks/h", {"events": []})
    program.settings({"entries": {"h": {"note": 1, "enabled": False}}})
    code, out, _ = program.says("enable", "h")
    assert (code, out) == (0, "✓ Enabled hook: h\n")
    refused = 'OpenClaw does not recognize option "--json".\nTry: openclaw hooks enable --help'
    assert program.document("enable", "h")["error"] == {"type": "cli_error", "message": refused}
    assert program.host().settings.value["hooks"] == {
        "internal": {"enabled": True, "entries": {"h": {"note": 1, "enabled": True}}}
    }


def test_hookscopes_own_hooks_are_no_part_of_the_hosts_answers(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENCLAW_BUNDLED_HOOKS_DIR")
    program.hook(".openclaw/hooks/h")
    for command in ("list", "check"):
        code, out, warnings = program.says(command)
        assert (code, warnings) == (0, [])
        assert "boot-md" not in out
    assert list(program.listed()) == ["h"]


def test_the_hosts_flags_want_the_hosts_format(program: Program, capsys: pytest.CaptureFixture[str]) -> None:
    from hookscope.cli.main import exit_code

    assert exit_code(["--dialect", "openclaw@2026.9", "check", "--eligible"]) == 2
    assert "--format host" in capsys.readouterr().err
    assert exit_code(["--dialect", "openclaw", "list", "--format", "host"]) == 2


def test_our_own_list_shows_what_only_the_loader_asks(
    program: Program, capsys: pytest.CaptureFixture[str]
) -> None:
    import json

    from hookscope.cli.main import exit_code

    program.hook(".openclaw/hooks/h", {"os": ["macos", "Linux"]})
    program.hook(".openclaw/hooks/py", file="handler.py", handler="def handler(event): pass\n")
    exit_code(["--dialect", "openclaw@2026.9", "list", "--json"])
    hooks = {hook["name"]: hook for hook in json.loads(capsys.readouterr().out)["hooks"]}
    gates = [(gate["passed"], gate["reported"]) for gate in hooks["h"]["gates"] if gate["gate"] == "os"]
    assert gates == [(True, True), (False, False)]
    assert any("Hookscope only" in note for note in hooks["py"]["notes"])
    assert Path(hooks["py"]["handler"]).name == "handler.py"


def test_the_workspace_is_the_hosts_own_wherever_one_stands(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    program.hook("project/hooks/mine")
    monkeypatch.chdir(program.home / "project")
    assert program.listed() == {}
    monkeypatch.setenv("OPENCLAW_WORKSPACE_DIR", str(program.home / "project"))
    assert list(program.listed()) == ["mine"]
