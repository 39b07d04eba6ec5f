"""Projects of Eve as their authors find them: what lists, lint, fixes, plans and comparisons say of them."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Program


@pytest.fixture
def write(workspace: Path) -> Any:
    """write({"agent/hooks/a.ts": "text"}) → the workspace as a project of Eve with these files."""

    def made(files: dict[str, str]) -> Path:
        begun = {"agent/instructions.md": "Help.", "package.json": '{"dependencies": {"eve": "^0.80.1"}}'}
        for name, text in (begun | files).items():
            (workspace / name).parent.mkdir(parents=True, exist_ok=True)
            (workspace / name).write_text(text)
        return workspace

    return made


def hears(*keys: str) -> str:
    handlers = ", ".join(f"'{key}'() {{}}" for key in keys)
    begin = "import { defineHook } from 'eve/hooks';\n"
    return f"{begin}export default defineHook({{ events: {{ {handlers} }} }});"


@pytest.mark.parametrize(
    ("dialect", "key", "has_it"),
    [("eve@0.18", "input.resolved", "eve@0.80"), ("eve@0.80", "subagent.completed", "eve@0.18")],
)
def test_an_event_of_another_version_names_that_version(
    hookscope: Program, write: Any, dialect: str, key: str, has_it: str
) -> None:
    write({"agent/hooks/close.ts": hears(key)})
    (hook,) = hookscope("list", "--dialect", dialect, "--json").json["hooks"]
    (sent,) = (gate for gate in hook["gates"] if gate["gate"] == "sent")
    assert sent["reason"] == f"{dialect} never sends {key}; {has_it} does"
    assert hook["notes"] == [f"{key}: {has_it} sends this event, {dialect} does not"]
    (finding,) = hookscope("lint", "--dialect", dialect, "--json").json["findings"]
    assert (finding["rule"], finding["severity"]) == ("events-unknown", "error")
    assert f"`{key}` is not an event of {dialect}" in finding["text"]
    assert finding["then"] == f"`--dialect {has_it}` uses that version's rules."


def test_the_guide_names_the_version_that_first_sends_an_event(hookscope: Program, write: Any) -> None:
    write({"agent/hooks/close.ts": hears("turn.cancelled")})
    (hook,) = hookscope("list", "--dialect", "eve", "--json").json["hooks"]
    (sent,) = (gate for gate in hook["gates"] if gate["gate"] == "sent")
    assert (sent["passed"], sent["found"]) == (True, "by eve@0.80; not listed in this guide")
    (finding,) = hookscope("lint", "--dialect", "eve", "--json").json["findings"]
    assert finding["severity"] == "hint"
    assert finding["text"] == "`turn.cancelled` is not in Eve's guide, but eve@0.80 sends it."


def test_a_module_without_events_is_silent_and_linted(hookscope: Program, write: Any) -> None:
    folder = write({"agent/hooks/quiet.ts": hears()})
    assert hookscope("trust", str(folder)).code == 0
    (hook,) = hookscope("list", "--json").json["hooks"]
    assert hook["state"] == "silent"
    done = hookscope("lint", "--json")
    assert (done.code, [one["rule"] for one in done.json["findings"]]) == (1, ["events-none"])
    assert "no fix: add one there; `hookscope events` lists the events" in hookscope("fix", "quiet").out


def test_hooks_of_a_stream_are_compared_under_their_own_hosts_versions(
    hookscope: Program, write: Any
) -> None:
    write({"agent/hooks/close.ts": hears("turn.completed")})
    done = hookscope("compare")
    assert done.out.split("\n")[0].split() == ["eve", "eve@0.80", "eve@0.18"]
    assert "close" in done.out
    assert "metadata" not in done.out
    assert hookscope("compare", "--shipped").out.split("\n")[0].split() == ["eve@0.80", "eve@0.18"]
    assert json.loads(hookscope("compare", "--json").out)["hooks"]


def test_handlers_get_the_variables_of_the_projects_env_files(hookscope: Program, write: Any) -> None:
    said = "console.log(process.env.FROM, process.env.ALSO, process.env.SET);"
    files = {
        ".env": "FROM=env\nALSO=env\nSET=env",
        ".env.local": "FROM=local\nALSO='of local'",
        ".env.development.local": "FROM=strongest",
        ".env.production": "ALSO=never",
    }
    write({"agent/hooks/tell.ts": f"export default {{ events: {{ '*'() {{ {said} }} }} }};", **files})
    done = hookscope("fire", "turn.started", "--trust", "--json", env={"SET": "here"})
    (result,) = done.json["results"]
    assert result["stdout"] == "strongest of local here\n"
    (finding,) = (
        one for one in hookscope("doctor", "--json").json["findings"] if one["name"] == "handlers get"
    )
    assert finding["found"].startswith("the variables of .env.development.local and .env.local and .env,")


@pytest.mark.parametrize("ending", ["ts", "js"])
def test_nodes_warning_about_a_typeless_package_is_hidden(
    hookscope: Program, write: Any, ending: str
) -> None:
    write({f"agent/hooks/tell.{ending}": "export default { events: { '*'() { console.log('told'); } } };"})
    done = hookscope("fire", "turn.started", "--trust")
    assert "told" in done.out
    assert "MODULE_TYPELESS" not in done.out + done.err
    assert "note:" not in done.out


def test_lint_reports_imports_that_break_the_build(hookscope: Program, write: Any) -> None:
    imports = ("../lib/there", "../../lib/gone", "pg", "@/lib/db", "eve/tools", "node:fs", "kept/x")
    top = "".join(f"import {{ a as a{at} }} from '{name}';\n" for at, name in enumerate(imports))
    used = "".join(f"a{at};" for at in range(len(imports)))
    files = {"agent/hooks/a.ts": f"{top}{used}\nexport default {{ events: {{ '*'() {{}} }} }};"}
    write(files | {"agent/lib/there.ts": "export const a = 1;", "kept/x.ts": "", "tsconfig.json": "{}"})
    done = hookscope("lint", "--json")
    found = [
        (one["severity"], one["text"]) for one in done.json["findings"] if one["rule"] == "import-missing"
    ]
    assert found == [
        (
            "error",
            "`../../lib/gone`, which the module imports, does not exist: Eve cannot build the project.",
        ),
        ("warning", "The package of `pg` is not installed in the project: Eve cannot build it."),
    ]
    assert done.code == 1


def test_a_file_name_that_breaks_the_build_is_reported_with_its_fix(hookscope: Program, write: Any) -> None:
    write({"agent/hooks/close.ts": hears("turn.completed"), "agent/hooks/_shared.ts": "export const x = 1;"})
    step = "no fix: rename ./agent/hooks/_shared.ts, or move it to a folder that its host does not scan"
    assert step in hookscope("fix", "close").out
