"""`hookscope lint`: what a script sees."""

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Program
from tests.cli.report_formats import sarif_faults
from tests.done import Done

from hookscope.cli.main import exit_code

DEAD = '---\nname: dead\nmetadata: {openclaw: {events: ["message:recieved"]}}\n---\n'
GOOD = '---\nname: good\nmetadata: {openclaw: {events: ["command:new"]}}\n---\n'


@pytest.fixture
def hookscope(
    workspace: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Program:
    """The program in this process: a process of its own for each of its calls takes a second."""
    monkeypatch.chdir(workspace)

    def run(*arguments: str) -> Done:
        code = exit_code(list(arguments))
        streams = capsys.readouterr()
        return Done(code, streams.out, streams.err)

    return run


def write(folder: Path, manifest: str, handler: str = "def handler(event): ...\n") -> Path:
    folder.mkdir(parents=True)
    (folder / "HOOK.md").write_text(manifest)
    (folder / "handler.py").write_text(handler)
    return folder


def test_an_error_exits_with_one_and_says_what_to_write(hookscope: Program, workspace: Path) -> None:
    write(workspace / "hooks" / "dead", DEAD)
    done = hookscope("--dialect", "openclaw", "lint")
    assert done.code == 1
    assert "HOOK.md:3" in done.out
    assert "Write `message:received`." in done.out
    assert "1 error in" in done.out


def test_a_hook_is_linted_by_its_name_as_by_its_folder(hookscope: Program, workspace: Path) -> None:
    folder = write(workspace / "hooks" / "dead", DEAD)
    write(workspace / "hooks" / "other", DEAD.replace("dead", "other"))
    by_name = hookscope("--dialect", "openclaw", "lint", "dead", "--json")
    assert by_name.code == 1
    assert by_name.json == hookscope("--dialect", "openclaw", "lint", str(folder), "--json").json
    assert by_name.json["counts"]["hooks"] == 1
    missed = hookscope("--dialect", "openclaw", "lint", "daed")
    assert missed.code == 2
    assert "There is no ./daed, and no hook of that name. Did you mean dead?" in missed.err


def test_lint_json_prints_one_document(hookscope: Program, workspace: Path) -> None:
    folder = write(
        workspace / "hooks" / "dead", DEAD, "import os\n\ndef handler(event):\n    os.environ['K']\n"
    )
    done = hookscope("--dialect", "openclaw", "lint", str(folder), "--json")
    assert done.code == 1
    assert done.json["dialect"] == "openclaw"
    assert done.json["counts"] == {"hooks": 1, "error": 1, "warning": 1, "hint": 0}
    assert done.json["rules_not_run"] == []
    error, warning = done.json["findings"]
    assert error["rule"] == "events-unknown"
    assert (error["file"], error["line"], error["column"]) == (str(folder / "HOOK.md"), 3, 32)
    assert error["fix"] == [
        {
            "file": str(folder / "HOOK.md"),
            "path": ["metadata", "openclaw", "events", 0],
            "value": "message:received",
            "meaning": "message:recieved → message:received",
        }
    ]
    assert (warning["rule"], warning["line"]) == ("env-undeclared", 4)
    assert done.json["hooks"][0]["uses"]["env"] == ["K"]


def test_warnings_alone_exit_with_0(hookscope: Program, workspace: Path) -> None:
    write(workspace / "hooks" / "good", GOOD, "import os\n\ndef handler(event):\n    os.environ['K']\n")
    done = hookscope("--dialect", "openclaw", "lint")
    assert done.code == 0
    assert "1 warning in" in done.out


def test_lint_says_if_it_finds_nothing(hookscope: Program, workspace: Path) -> None:
    write(workspace / "hooks" / "good", GOOD)
    done = hookscope("--dialect", "openclaw", "lint", "hooks/good")
    assert (done.code, done.out) == (0, "Nothing found in 1 hook under openclaw.\n")


def test_lint_finds_hooks_deep_below_a_folder(hookscope: Program, workspace: Path, tmp_path: Path) -> None:
    write(workspace / "packs" / "one" / "hooks" / "dead", DEAD)
    write(workspace / "node_modules" / "other" / "dead", DEAD)
    done = hookscope("lint", "--dialect", "openclaw", "--json", ".")
    assert [hook["path"] for hook in done.json["hooks"]] == [str(workspace / "packs/one/hooks/dead")]


def test_lint_of_a_file_checks_its_hook(hookscope: Program, workspace: Path) -> None:
    folder = write(workspace / "hooks" / "dead", DEAD)
    write(workspace / "hooks" / "good", GOOD)
    done = hookscope("--dialect", "openclaw", "lint", "--json", str(folder / "HOOK.md"))
    assert done.json["counts"]["hooks"] == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "There is no "),
        (["--rule", "events-unknwon"], "Did you mean events-unknown?"),
        (["--explain", "moon"], "`hookscope lint --explain all` lists them."),
        (["--explain", "guard-key", "nowhere"], "--explain takes no hook"),
    ],
)
def test_lint_explains_wrong_use_in_one_sentence(arguments: list[str], said: str, hookscope: Program) -> None:
    done = hookscope("lint", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_lint_can_run_one_rule(hookscope: Program, workspace: Path) -> None:
    write(workspace / "hooks" / "dead", DEAD, "import os\n\ndef handler(event):\n    os.environ['K']\n")
    done = hookscope("--dialect", "openclaw", "lint", "--rule", "env-undeclared", "--json")
    assert {finding["rule"] for finding in done.json["findings"]} == {"env-undeclared"}
    assert done.code == 0


def test_a_rule_explains_itself(hookscope: Program) -> None:
    done = hookscope("lint", "--explain", "guard-key")
    assert done.code == 0
    assert "Bad\n" in done.out
    assert 'if event.type == "command:new":' in done.out
    listed = hookscope("lint", "--explain", "all", "--json")
    assert listed.json["guard-key"].endswith(".")


def test_lint_escapes_control_characters_in_hook_names(hookscope: Program, workspace: Path) -> None:
    manifest = '---\nname: "a\\e[2Jb"\nmetadata: {openclaw: {events: ["\\e[31mred"]}}\n---\n'
    write(workspace / "hooks" / "dead", manifest)
    done = hookscope("--dialect", "openclaw", "lint")
    assert done.code == 1
    assert "\x1b[2J" not in done.out
    assert "\x1b[31mred" not in done.out


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".", ["one", "two"]),
        ("agent/hooks", ["one"]),
        ("agent/hooks/one.ts", ["one"]),
        ("agent/subagents/agent/hooks", ["two"]),
        ("agent/lib", []),
    ],
)
def test_eve_modules_are_linted_within_their_project_for_any_path_of_it(
    hookscope: Program, workspace: Path, path: str, found: list[str]
) -> None:
    for name in ("hooks/one", "subagents/agent/hooks/two", "lib/three"):
        file = workspace / "agent" / f"{name}.ts"
        file.parent.mkdir(parents=True)
        file.write_text('export default { events: { "turn.stared"() {} } };\n')
    done = hookscope("lint", path, "--dialect", "eve@0.80", "--json")
    assert [hook["name"] for hook in done.json["hooks"]] == found


def test_sarif_reports_contain_the_same_findings(hookscope: Program, workspace: Path, tmp_path: Path) -> None:
    write(workspace / "hooks" / "dead", DEAD)
    write(workspace / "hooks" / "nö ok", DEAD.replace("dead", "nö ok"))
    elsewhere = write(tmp_path / "else" / "hooks" / "far", DEAD.replace("dead", "far"))
    file = workspace / "findings.sarif"
    arguments = ("--dialect", "openclaw", "lint", "hooks", str(elsewhere), "--sarif", str(file), "--json")
    done = hookscope(*arguments)
    assert done.code == 1
    log = json.loads(file.read_text())
    assert sarif_faults(log) == []
    assert log["$schema"].rpartition("/")[2] == "sarif-2.1.0.json"
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rules[one["ruleIndex"]]["id"] for one in run["results"]] == [
        one["ruleId"] for one in run["results"]
    ]
    levels = {"error": "error", "warning": "warning", "hint": "note"}
    assert [(one["ruleId"], one["level"]) for one in run["results"]] == [
        (one["rule"], levels[one["severity"]]) for one in done.json["findings"]
    ]
    places = [one["locations"][0]["physicalLocation"] for one in run["results"]]
    named = {place["artifactLocation"]["uri"]: place["artifactLocation"].get("uriBaseId") for place in places}
    assert named == {
        "hooks/dead/HOOK.md": "%SRCROOT%",
        "hooks/n%C3%B6%20ok/HOOK.md": "%SRCROOT%",
        (elsewhere / "HOOK.md").as_uri(): None,
    }
    assert [place["region"]["startLine"] for place in places] == [
        one["line"] for one in done.json["findings"]
    ]
    for place in places:
        region = place["region"]
        assert region["endColumn"] > region["startColumn"]
    levels_of_rules = {rule["id"]: rule["defaultConfiguration"]["level"] for rule in rules}
    order = ["note", "warning", "error"]
    assert set(levels_of_rules.values()) == set(order)
    assert all(
        order.index(one["level"]) <= order.index(levels_of_rules[one["ruleId"]]) for one in run["results"]
    )
    prints = [one["partialFingerprints"]["hookscope/v1"] for one in run["results"]]
    assert len(set(prints)) == len(prints)
    (workspace / "hooks" / "dead" / "HOOK.md").write_text(DEAD.replace("---\nname", "---\n\nname", 1))
    hookscope(*arguments)
    again = json.loads(file.read_text())["runs"][0]["results"]
    assert [one["partialFingerprints"]["hookscope/v1"] for one in again] == prints, (
        "they move with their lines"
    )


def test_an_unwritable_sarif_file_is_reported_in_one_sentence(hookscope: Program, workspace: Path) -> None:
    write(workspace / "hooks" / "good", GOOD)
    done = hookscope("--dialect", "openclaw", "lint", "--sarif", str(workspace / "hooks"))
    assert done.code == 2
    assert done.err.startswith("hookscope: Cannot write ")
    assert hookscope("lint", "--sarif", "x", "--explain", "all").code == 2
