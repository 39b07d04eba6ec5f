"""`hookscope new` as a newcomer uses it, in this process."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.authoring.scaffold.conftest import tree

from hookscope.cli.main import exit_code

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """run("new", "greet") → exit code, standard output, standard error."""
    monkeypatch.chdir(workspace)

    def called(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = exit_code([*arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return called


def test_new_creates_a_hook_that_passes_its_test(run: Run, workspace: Path) -> None:
    before = tree(workspace)
    code, out, err = run("new", "greet", "--description", "Greets: who starts over")
    assert (code, err) == (0, "")
    assert "● ready  greet   under openclaw" in out
    assert "    hookscope test .hookscope/events/greet.yaml\n" in out
    for file in ("hooks/greet/HOOK.md", "hooks/greet/handler.py", ".hookscope/events/greet.yaml"):
        assert f"wrote  ./{file}\n" in out
        assert (workspace / file).is_file()
    code, out, _ = run("test", ".hookscope/events/greet.yaml")
    assert (code, out[:7]) == (0, "✓ greet")
    code, out, _ = run("list", "--json")
    (mine,) = [hook for hook in json.loads(out)["hooks"] if hook["name"] == "greet"]
    assert mine["description"] == "Greets: who starts over"
    code, out, err = run("new", "greet")
    assert (code, out) == (1, "")
    assert "./hooks/greet already exists. Nothing was written; choose another name." in err
    assert run("undo")[0] == 0
    assert tree(workspace) == before


READS_ALL = """
def handler(event):
    about = event.context
    event.messages.append(f"{about['commandSource']} {about['cfg']['models']} {about['workspaceDir']}")
"""


def test_a_new_test_contains_the_listed_fields_that_the_handler_reads(
    run: Run, workspace: Path, home: Path
) -> None:
    (home / ".openclaw").mkdir()
    (home / ".openclaw/openclaw.json").write_text('{"models": {"apiKey": "sk-1234567890abcdef"}}')
    run("new", "greet")
    text = (workspace / ".hookscope/events/greet.yaml").read_text()
    assert str(workspace) not in text  # it is of use to others, too
    assert "sk-1234567890abcdef" not in text
    (workspace / "hooks/greet/handler.py").write_text(READS_ALL)
    _, out, _ = run("fire", "command:new", "--only", "greet", "--json")
    fired = json.loads(out)
    _, out, _ = run("test", "--json")
    tested = json.loads(out)[0]["run"]
    assert tested["event"]["context"] == fired["event"]["context"]
    for one in (fired, tested):
        (said,) = one["messages"]
        assert said.startswith("telegram {'apiKey': ")
        assert said.endswith(str(workspace))


@pytest.mark.skipif(os.name != "posix", reason="permission bits are POSIX's")
def test_new_files_respect_the_umask(run: Run, workspace: Path) -> None:
    usual = os.umask(0o027)
    try:
        assert run("new", "greet")[0] == 0
    finally:
        os.umask(usual)
    made = [file for file in workspace.rglob("*") if file.is_file() and "greet" in str(file)]
    assert {stat.S_IMODE(file.stat().st_mode) for file in made} == {0o640}
    assert len(made) == 3


def test_new_dry_run_shows_every_file_and_writes_nothing(run: Run, workspace: Path) -> None:
    before = tree(workspace)
    code, out, _ = run("new", "greet", "--dry-run", "--language", "javascript")
    assert code == 0
    assert './hooks/greet/package.json\n    { "type": "module" }\n' in out
    assert out.endswith("Nothing was written.\n")
    code, out, _ = run("new", "greet", "--dry-run", "--json", "--event", "command:new,command:stop")
    planned = json.loads(out)
    assert (planned["written"], planned["events"]) == (False, ["command:new", "command:stop"])
    assert tree(workspace) == before
    code, out, _ = run("new", "greet", "--json", "--event", "command:new,command:stop")
    made = json.loads(out)
    assert {file["file"]: file["text"] for file in made["files"]} == {
        file["file"]: file["text"] for file in planned["files"]
    }
    assert made["trusted"] == str((workspace / "hooks/greet").resolve())
    assert [stands["state"] for stands in made["stands"]] == ["ready"]


def test_new_creates_an_eve_module(run: Run, workspace: Path) -> None:
    code, out, _ = run("new", "audit", "--kind", "eve", "--language", "typescript", "--json")
    made = json.loads(out)
    assert (code, made["kind"], made["handler"]) == (0, "stream", str(workspace / "agent/hooks/audit.ts"))
    assert (made["trusted"], made["stands"][0]["state"]) == (str(workspace / "agent/hooks"), "ready")
    assert made["next"] == ["hookscope --dialect eve test .hookscope/events/audit.yaml"]
    code, out, _ = run("new", "guard", "--plugin", "--no-trust", "--json")
    made = json.loads(out)
    assert (made["kind"], made["trusted"], made["next"][0]) == (
        "plugin",
        None,
        "hookscope trust plugins/guard",
    )
    code, _, err = run("new", "both", "--plugin", "--pack")
    assert (code, err) == (2, "hookscope: pack and plugin are different kinds. Name one kind.\n")
    code, _, err = run("new", "odd", "--kind", "hok")
    assert (code, "Use one of hook, pack, plugin, stream." in err) == (2, True)


def test_new_notes_a_missing_editor(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "no-such-editor")
    assert "note: There is no terminal for an editor." in run("new", "greet", "--edit")[1]
    monkeypatch.delenv("EDITOR")
    assert "note: No editor is set: define VISUAL or EDITOR." in run("new", "other", "--edit")[1]


def test_new_test_expects_only_its_own_hook(run: Run, workspace: Path) -> None:
    run("new", "greet")
    run("new", "start", "--event", "gateway:startup")
    run("new", "other")
    greet, start = (workspace / f".hookscope/events/{name}.yaml" for name in ("greet", "start"))
    assert run("test", str(greet), str(start))[0] == 0
    greet.write_text(greet.read_text().replace("(dev)", "(ada)") + "  output: {other: [] }\n")
    start.write_text(start.read_text().replace("gateway:startup (", "gateway:stop ("))
    code, out, _ = run("test", str(greet), str(start), "--json")
    told = {test["file"]: test["misses"] for test in json.loads(out)}
    assert code == 1
    (miss,) = told[str(greet)]
    assert (miss["what"], miss["got"]) == ("messages.greet", ["greet: command:new (dev)"])
    (miss,) = told[str(start)]
    assert (miss["what"], miss["got"]) == ("output.start", ["start: gateway:startup (gateway:startup)"])
    assert run("test", str(greet), str(start), "--accept")[0] == 0
    assert '["greet: command:new (dev)"]' in greet.read_text()
    assert run("test", str(greet), str(start))[0] == 0
    greet.write_text(greet.read_text().replace("output: {other: [] }", "messages: 3"))
    assert run("test", str(greet))[0] != 0


def test_new_names_the_hosts_that_do_not_run_python(run: Run) -> None:
    _, several, _ = run("new", "greet", "--dialects", "openclaw,milady,eliza", "--dry-run")
    assert "in Hookscope: for OpenClaw, Milady and Eliza themselves, use `--language" in several
    _, one, _ = run("new", "greet", "--dry-run")
    assert "in Hookscope: for OpenClaw itself, use" in one
