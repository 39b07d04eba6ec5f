"""Interpreters that a workspace names wait for its trust; a what-if makes no folder bundled."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.console.conftest import Open
from tests.done import Done
from tests.forking import Forks

from hookscope.runtime.executors import Node, find_node

EVENTS = '{openclaw: {events: ["command:new"]}}'
FOUND = find_node(shutil.which("node"))
needs_node = pytest.mark.skipif(
    not isinstance(FOUND, Node) or not FOUND.runs_typescript, reason="runs TypeScript"
)
Run = Callable[..., Done]


@pytest.fixture
def hookscope(workspace: Path, tmp_path: Path, forks: Forks) -> Run:
    """hookscope("list", "--json") in the workspace, without bundled hooks unless `env` or options say so."""

    def run(*words: str, env: dict[str, str] | None = None, text: str = "") -> Done:
        done = forks.run(words, cwd=workspace, env={**os.environ, **(env or {})}, text=text)
        return Done(done.code, done.out, done.err)

    return run


@pytest.fixture
def marks(workspace: Path, tmp_path: Path) -> Path:
    """The marks of `./mark.sh` and `./mark.py`, which stand in for what they are called in the place of."""
    marks = tmp_path / "marks"
    real = {"mark.sh": FOUND.path if isinstance(FOUND, Node) else "false", "mark.py": sys.executable}
    for name, program in real.items():
        script = workspace / name
        script.write_text(f'#!/bin/sh\necho "$0" >> "{marks}"\nexec {program} "$@"\n')
        script.chmod(0o755)
    return marks


def name(workspace: Path, text: str) -> None:
    (workspace / ".hookscope").mkdir(exist_ok=True)
    (workspace / ".hookscope/config.yaml").write_text(text)


def named(workspace: Path, make_hook: MakeHook, text: str) -> None:
    make_hook(workspace / "hooks", "typed", EVENTS, "export default () => {};\n", file="handler.ts")
    make_hook(workspace / "hooks", "snake", EVENTS)
    name(workspace, text)


NO_PATHS = {
    "empty": '""',
    "blank": '"  "',
    "a null byte": '"./mark.sh\\0"',
    "several lines": '"/usr/bin/node\\nhookscope: all is well"',
    "colours": '"./mark\\e[31m.sh"',
    "a carriage return": '"./mark.sh\\r/usr/bin/node"',
    "a tag character": '"./mark.sh\\U000E0041"',
    "a list": "[./mark.sh]",
}


@pytest.mark.parametrize("text", NO_PATHS.values(), ids=NO_PATHS)
@pytest.mark.parametrize("key", ["node", "python"])
def test_what_is_no_path_is_refused_and_forges_no_line(
    hookscope: Run, workspace: Path, make_hook: MakeHook, text: str, key: str
) -> None:
    named(workspace, make_hook, f"{key}: {text}\n")
    for words in (["list"], ["doctor"], ["trust", "."], ["fire", "command:new", "--trust"]):
        told = hookscope(*words)
        assert told.code == 2
        assert "must be the path of a program" in told.err
        assert told.err.count("\n") == 1


WAYS = {
    "relative": "node: ./mark.sh\npython: ./mark.py\n",
    "no dot": "node: mark.sh\npython: mark.py\n",
    "absolute": "node: {workspace}/mark.sh\npython: {workspace}/mark.py\n",
    "upwards": "node: hooks/../mark.sh\npython: hooks/../mark.py\n",
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_until_the_workspace_is_trusted_its_programs_are_shown_and_not_used(
    hookscope: Run, workspace: Path, make_hook: MakeHook, marks: Path, way: str
) -> None:
    named(workspace, make_hook, way.format(workspace=workspace))
    for command in ("list", "check", "doctor"):
        shown = hookscope(command)
        assert "not trusted yet" in shown.out + shown.err
    for hook, program, key in (("typed", "mark.sh", "node"), ("snake", "mark.py", "python")):
        told = " ".join(hookscope("info", hook).out.split())
        assert f"{program}, named under `{key}:` in .hookscope/config.yaml, is not trusted yet" in told
        assert "`hookscope trust .` allows it" in told
    assert hookscope("trust", str(workspace / "hooks")).code == 0  # its handlers, not its programs
    fired = hookscope("fire", "command:new", "--json", "--bundled", str(workspace / "none"))
    assert (fired.code, fired.json["results"]) == (1, [])
    reasons = {item["hook"]: item["reason"] for item in fired.json["not_run"]}
    assert all("is not trusted yet" in reason for reason in reasons.values())
    assert reasons.keys() == {"typed", "snake"}
    assert "`hookscope trust .` allows it" in fired.err
    assert not marks.exists()


@needs_node
def test_a_trusted_workspace_uses_the_programs_that_it_names(
    hookscope: Run, workspace: Path, make_hook: MakeHook, marks: Path
) -> None:
    named(workspace, make_hook, WAYS["relative"])
    trusted = hookscope("trust", ".", "--json")
    assert {one["key"] for one in trusted.json["programs"]} == {"node", "python"}
    fired = hookscope("fire", "command:new", "--json", "--bundled", str(workspace / "none"))
    assert {one["hook"]: one["status"] for one in fired.json["results"]} == {"typed": "ok", "snake": "ok"}
    assert {Path(line).name for line in marks.read_text().split()} == {"mark.sh", "mark.py"}


def test_trust_in_another_workspace_allows_no_program_of_this_one(
    hookscope: Run, workspace: Path, tmp_path: Path, make_hook: MakeHook, marks: Path
) -> None:
    named(workspace, make_hook, WAYS["relative"])
    other = tmp_path / "other"
    (other / ".hookscope").mkdir(parents=True)
    (other / ".hookscope/config.yaml").write_text(f"python: {workspace}/mark.py\n")
    assert hookscope("trust", str(other)).code == 0
    for command in ("doctor", "list"):
        assert "not trusted yet" in "".join((hookscope(command).out, hookscope(command).err))
    assert not marks.exists()
    assert hookscope("doctor", "--workspace", str(other)).code == 0
    assert marks.exists(), "that one is trusted"


def test_a_link_to_the_workspace_is_the_workspace(
    hookscope: Run, workspace: Path, tmp_path: Path, make_hook: MakeHook, marks: Path
) -> None:
    named(workspace, make_hook, WAYS["relative"])
    (tmp_path / "linked").symlink_to(workspace)
    assert hookscope("trust", str(tmp_path / "linked")).code == 0
    assert hookscope("doctor").code == 0
    assert marks.exists()


@pytest.mark.parametrize("home", ["--home", "--env-from"])
def test_a_what_if_home_names_no_program(hookscope: Run, workspace: Path, marks: Path, home: str) -> None:
    name(workspace, "python: ~/mark.py\n")
    assert hookscope("trust", ".").code == 0
    (workspace / "service.env").write_text(f"PATH=/usr/bin\nHOME={workspace}\n")
    given = str(workspace) if home == "--home" else "service.env"
    hookscope("doctor", home, given)
    assert not marks.exists()


@pytest.mark.parametrize("spec", ["python:pip", "python:click", "python:pytest"])
def test_packages_of_an_untrusted_interpreter_are_not_looked_for(
    hookscope: Run, workspace: Path, marks: Path, spec: str
) -> None:
    name(workspace, "python: ./mark.py\n")
    done = hookscope("install", spec)
    assert done.code == 1
    assert "is not trusted yet. `hookscope trust .` allows it." in done.err
    assert not marks.exists()


@pytest.mark.parametrize("answer", ["n\n", "y\n"])
def test_the_question_on_the_terminal_names_the_programs(
    workspace: Path, make_hook: MakeHook, marks: Path, answer: str
) -> None:
    from click.testing import CliRunner

    from hookscope.app.options import Options
    from hookscope.app.workbench import Workbench
    from hookscope.cli.fire_arguments import ask_for_trust
    from hookscope.model.trust import folder_target

    named(workspace, make_hook, WAYS["relative"])
    bench = Workbench(Options(workspace=workspace))
    with CliRunner().isolation(answer) as streams:
        view = bench.scan()
        allowed = ask_for_trust(bench, view, [folder_target(workspace, view.host)])
        asked = b"".join(stream.getvalue() for stream in streams if stream is not None).decode()
    assert f"{workspace}/mark.sh (`node:`" in asked.replace("~", "")
    assert f"{workspace}/mark.py (`python:`" in asked.replace("~", "")
    assert allowed is (answer == "y\n")


async def test_the_question_of_the_console_names_the_programs(
    workspace: Path, make_hook: MakeHook, marks: Path, console: Open
) -> None:
    named(workspace, make_hook, WAYS["relative"])
    async with console() as story:
        await story.shows("typed")
        await story.press("f", "ctrl+r")
        await story.shows("Allow this folder to run?")
        question = " ".join(story.text().split())
        assert "mark.sh" in question
        assert "mark.py" in question
        await story.press("escape")


@pytest.fixture
def evil(workspace: Path, make_hook: MakeHook) -> Path:
    """A folder of the workspace that would like to be bundled."""
    make_hook(workspace / "ours", "evil", EVENTS)
    return workspace / "ours"


BUNDLED = {
    "--env": ("--env", "OPENCLAW_BUNDLED_HOOKS_DIR={evil}"),
    "--env, relative": ("--env", "OPENCLAW_BUNDLED_HOOKS_DIR=ours"),
    "--env-from": ("--env-from", "bundled.env"),
    "--env-from and all": ("--env-from", "whole.env"),
    "a home whose settings say so": ("--home", "{evil}/home"),
    "a state folder whose .env says so": ("--env", "OPENCLAW_STATE_DIR={evil}/home/.openclaw"),
    "settings that say so": ("--env", "OPENCLAW_CONFIG_PATH={evil}/home/.openclaw/openclaw.json"),
}


@pytest.mark.parametrize("host", [(), ("--dialect", "openclaw@2026.9")], ids=["guide", "shipped"])
@pytest.mark.parametrize("options", BUNDLED.values(), ids=BUNDLED)
def test_a_what_if_makes_no_folder_bundled(
    hookscope: Run, workspace: Path, evil: Path, options: tuple[str, ...], host: tuple[str, ...]
) -> None:
    variable = f"OPENCLAW_BUNDLED_HOOKS_DIR={evil}\n"
    (workspace / "bundled.env").write_text(variable)
    (workspace / "whole.env").write_text(f"PATH=/usr/bin:/bin\nHOME={evil}/home\n{variable}")
    state = evil / "home/.openclaw"
    state.mkdir(parents=True)
    (state / ".env").write_text(variable)
    settings = {"hooks": {"internal": {"enabled": True}}, "env": {"OPENCLAW_BUNDLED_HOOKS_DIR": str(evil)}}
    (state / "openclaw.json").write_text(json.dumps(settings))
    words = [*host, *(option.format(evil=evil) for option in options)]
    for hook in hookscope(*words, "list", "--json").json["hooks"]:
        assert (hook["name"], hook["source"]) != ("evil", "bundled")
    fired = hookscope(*words, "fire", "command:new", "--json").json
    assert "evil" not in {result["hook"] for result in fired["results"]}


def test_a_relative_folder_in_the_users_variable_is_not_trusted(
    hookscope: Run, evil: Path, workspace: Path
) -> None:
    for folder, trusted in (
        ("ours", False),
        ("./ours", False),
        (str(evil), True),
    ):  # of the latter they say it
        env = {"OPENCLAW_BUNDLED_HOOKS_DIR": folder}
        listed = hookscope("--dialect", "openclaw@2026.9", "list", "--json", env=env).json["hooks"]
        (gates,) = (hook["gates"] for hook in listed if hook["name"] == "evil")
        assert [gate["passed"] for gate in gates if gate["gate"] == "trusted"] == [trusted]


def a_host(package: Path, hook: str, make_hook: MakeHook) -> Path:
    """The program of an installed OpenClaw, whose package ships a hook of that name."""
    make_hook(package / "dist/bundled", hook, EVENTS)
    (package / "package.json").write_text('{"name": "openclaw", "version": "2026.9.1"}')
    program = package / "openclaw.mjs"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize("beside", [False, True], ids=["none is installed", "one is installed"])
@pytest.mark.parametrize("place", ["bin", "node_modules/.bin", "what-if"])
def test_a_host_in_the_workspace_brings_no_bundled_hooks(
    hookscope: Run, workspace: Path, home: Path, tmp_path: Path, make_hook: MakeHook, place: str, beside: bool
) -> None:
    folders = [workspace / ("bin" if place == "what-if" else place), tmp_path / "bin"]
    for folder in folders:
        folder.mkdir(parents=True)
    (folders[0] / "openclaw").symlink_to(a_host(workspace / "node_modules/openclaw", "evil", make_hook))
    if beside:
        (folders[1] / "openclaw").symlink_to(a_host(tmp_path / "lib/openclaw", "shipped", make_hook))
    (home / ".openclaw").mkdir()
    words = ("--path", f"+{folders[0]}") if place == "what-if" else ()
    real = os.pathsep.join(map(str, [*folders[bool(words) :], os.environ["PATH"]]))
    listed = hookscope(*words, "list", "--json", env={"PATH": real}).json["hooks"]
    assert "evil" not in {hook["name"] for hook in listed}


@pytest.mark.parametrize("variable", ["LD_PRELOAD", "LD_AUDIT", "GCONV_PATH", "OPENSSL_CONF"])
def test_a_what_if_loads_no_code_into_the_worker_of_a_trusted_hook(
    hookscope: Run, workspace: Path, make_hook: MakeHook, variable: str
) -> None:
    says = f"event.messages.append(os.environ.get('{variable}', 'none') + os.environ['GREETING'])"
    make_hook(workspace / "hooks", "says", EVENTS, f"import os\ndef handler(event): {says}\n")
    words = ("--env", f"{variable}={workspace}/x.so", "--env", "GREETING= yet", "--bundled", "none")
    fired = hookscope(*words, "fire", "command:new", "--trust", "--json")
    assert fired.json["messages"] == ["none yet"]
