"""Who begins in a folder of other hooks than ours, or beside a project, is told so in one sentence."""

import os
from pathlib import Path

import pytest
from tests.cli.conftest import Program
from tests.conftest import MakeHook

CLAUDE = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}'
OTHERS = (
    "hooks that Hookscope does not support. It supports hooks of OpenClaw, Milady, Eliza and Eve; "
    "see `hookscope help start`.\n"
)


def write(folder: Path, *files: str, text: str = "") -> None:
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text)


@pytest.mark.parametrize(
    ("file", "text", "who"),
    [
        (".claude/settings.json", CLAUDE, "Claude Code"),
        ("hooks/hooks.json", CLAUDE, "Claude Code"),
        (".cursor/hooks.json", '{"hooks": {"stop": []}}', "Cursor"),
        ("hooks/watch/HOOK.yaml", "events: [agent:end]", "Hermes"),
        ("hooks/watch/HOOK.toml", "[hook]", "ZeroClaw"),
        ("hooks/pre-commit", "#!/bin/sh", "Git"),
        (".husky/pre-push", "true", "Git"),
        ("hooks/useCart.tsx", "", "React"),
        ("pre-commit.sample", "#!/bin/sh", "Git"),
        ("hooks/post_gen_project.py", "", "Cookiecutter"),
    ],
)
def test_hooks_of_other_programs_are_reported_with_the_programs_name(
    hookscope: Program, workspace: Path, file: str, text: str, who: str
) -> None:
    write(workspace, file, text=text)
    for command in (["list"], ["check", "--json"], ["lint"]):
        done = hookscope(*command)
        assert done.err == f"hookscope: ./{file} ({who}) holds {OTHERS}"
    assert "(empty)" not in hookscope("list").out


@pytest.mark.parametrize(
    ("command", "key", "says"),
    [
        ("fire", "PreToolUse", "it is a name of Claude Code. The closest match is before_tool_call."),
        ("events", "SessionEnd", "it is a name of Claude Code. The closest match is "),
        ("plan", "UserPromptSubmit", "it is a name of Claude Code. The closest match is message:received."),
    ],
)
def test_an_event_of_another_program_names_that_program(
    hookscope: Program, command: str, key: str, says: str
) -> None:
    done = hookscope(command, key)
    assert done.code == 1
    assert done.err.startswith(f"hookscope: {key!r} is not an event of OpenClaw: {says}")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (".claude/settings.json", '{"permissions": {}}'),
        (".claude/settings.json", "{"),
        (".claude/settings.json", "[" * 100_000),
        ("hooks/notes.md", ""),
        ("hooks/user.ts", ""),
    ],
)
def test_files_that_are_no_hooks_are_not_reported(
    hookscope: Program, workspace: Path, file: str, text: str
) -> None:
    write(workspace, file, text=text)
    done = hookscope("list")
    assert (done.code, done.err) == (0, "")


def test_other_programs_are_reported_in_one_sentence_until_a_hook_exists(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    write(workspace, ".claude/settings.json", text=CLAUDE)
    write(workspace, ".husky/pre-push")
    both = "./.claude/settings.json (Claude Code) and ./.husky/pre-push (Git)"
    assert hookscope("list").err == f"hookscope: {both} hold {OTHERS}"
    make_hook(workspace / "hooks", "greet", "{openclaw: {events: [command]}}")
    assert hookscope("list").err == ""


@pytest.mark.parametrize("project", ["apps/agent", "my agent"])
def test_list_names_projects_in_folders_below(hookscope: Program, workspace: Path, project: str) -> None:
    write(workspace, f"{project}/agent/hooks/audit.ts", "node_modules/x/agent/hooks/audit.ts")
    (workspace / ".claude").mkdir()
    quoted = f"'./{project}'" if " " in project else f"./{project}"
    there = f"`--workspace {quoted}` looks there."
    assert hookscope("list").err == f"hookscope: Hooks of Eve are in ./{project}; {there}\n"


@pytest.mark.parametrize("inside", ["agent", "agent/hooks", "src/deep"])
def test_list_names_the_project_that_contains_the_folder(
    hookscope: Program, workspace: Path, inside: str
) -> None:
    write(workspace, "agent/hooks/audit.ts", f"{inside}/x.ts")
    done = hookscope("list", cwd=workspace / inside)
    assert "Hooks of Eve are in " in done.err
    assert f"`--workspace {workspace}` looks there." in done.err


@pytest.mark.parametrize(
    ("text", "count"),
    [("async def handler(event_type, context): ...", "2 arguments"), ("def handler(): ...", "no argument")],
)
def test_a_handler_with_a_wrong_number_of_parameters_is_broken(
    hookscope: Program, workspace: Path, make_hook: MakeHook, text: str, count: str
) -> None:
    make_hook(workspace / "hooks", "greet", "{openclaw: {events: [command]}}", handler=text)
    reason = f"`handler` in handler.py needs {count}; the host calls it with one, the event"
    hooks = {hook["name"]: hook for hook in hookscope("list", "--json").json["hooks"]}
    (gate,) = (gate for gate in hooks["greet"]["gates"] if gate["gate"] == "export")
    assert (hooks["greet"]["state"], gate["reason"]) == ("broken", reason)
    done = hookscope("lint", "greet")
    assert (done.code, reason in done.out, "Write `def handler(event)`;" in done.out) == (1, True, True)
    assert "no fix: its author must write `(event)`" in hookscope("fix", "greet", "--gate", "export").out


def test_a_workspace_named_agent_is_not_an_eve_project(
    hookscope: Program, home: Path, make_hook: MakeHook
) -> None:
    """`~/agent/hooks/greet/HOOK.md`: seen from its home it has the shape of Eve's `agent/hooks`."""
    make_hook(home / "agent" / "hooks", "greet", '{openclaw: {events: ["command:new"]}}')
    (home / "agent" / "notes").mkdir()
    for folder in (home / "agent", home, home / "agent" / "notes"):
        done = hookscope("list", "--json", cwd=folder)
        assert (done.err, done.json["dialect"]) == ("", "openclaw"), folder
    write(home / "project", "agent/hooks/audit.ts", "docs/notes.md")
    said = hookscope("list", cwd=home / "project" / "docs").err
    assert said == "hookscope: Hooks of Eve are in ~/project; `--workspace ~/project` looks there.\n"


@pytest.mark.parametrize("name", ["hooks.json", ".claude/settings.json", "plugins/watch/index.ts"])
def test_list_ignores_a_named_pipe(hookscope: Program, home: Path, name: str) -> None:
    (home / name).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(home / name)
    assert hookscope("list", "--json", cwd=home).code == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
@pytest.mark.parametrize("stands_in", ["", "inner/most"])
def test_list_ignores_an_unreadable_folder(hookscope: Program, home: Path, stands_in: str) -> None:
    """A database's volume, say, which belongs to its container."""
    (home / "inner" / "most").mkdir(parents=True)
    for shut in (home / "volume", home / "agent", home / "plugins" / "watch"):
        shut.mkdir(parents=True)
        shut.chmod(0)
    for command in ("list", "doctor", "check"):
        assert "Traceback" not in hookscope(command, "--json", cwd=home / stands_in).err


def test_a_version_with_thousands_of_digits_does_not_stop_list(hookscope: Program, home: Path) -> None:
    write(home, "agent/hooks/a.ts", text="export default { events: {} };")
    told = f'{{"name": "eve", "version": "{"9" * 5000}.1.1"}}'
    write(home / "node_modules" / "eve", "package.json", text=told)
    assert hookscope("list", "--json", cwd=home).code == 0
