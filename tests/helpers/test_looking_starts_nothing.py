"""Every command and entry point in a workspace full of traps: none of its programs and modules is touched."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import click
import pytest
from tests.console.conftest import Open
from tests.console.test_killed import Terminal, until
from tests.forking import Forks
from tests.helpers.conftest import Hostile
from tests.integrations.dap.editor import Editor
from tests.integrations.serve.conftest import Served
from tests.integrations.serve.test_serving import Client, read

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.authoring.lint.linting import lint_hooks
from hookscope.cli.main import root_command

LIMIT = 120  # seconds: a guard against what never ends
# How each command is called. A new command has to be added here, and then is tried as all others are.
CALLS: dict[str, tuple[str, ...]] = {
    "list": (),
    "info": ("typed",),
    "why": ("typed",),
    "check": (),
    "lint": (),
    "compare": (),
    "load": (),
    "events": (),
    "plan": ("command:new",),
    "fire": ("command:new",),
    "sequence": (),
    "replay": ("1",),
    "test": (),
    "fuzz": ("command:new", "--examples", "1"),
    "play": ("hello",),
    "new": ("made", "--edit"),
    "fix": ("typed",),
    "enable": ("typed",),
    "disable": ("typed",),
    "undo": (),
    "install": ("../pack", "--yes"),
    "update": ("--all",),
    "uninstall": ("packed",),
    "packs": (),
    "log": (),
    "pin": ("1",),
    "export": (),
    "tap": (),
    "tap install": ("--dry-run",),
    "tap status": (),
    "tap events": (),
    "tap fire": (),
    "tap save": ("1", "kept"),
    "tap lists": (),
    "tap remove": (),
    "trust": ("../pack",),
    "keys": (),
    "doctor": (),
    "demo": (),
    "verify": (),
    "report": (),
    "schema": ("event",),
    "help": ("trust",),
    "completion": ("bash",),
}
BY_THEMSELVES = {"", "serve", "dap"}  # they wait for somebody: each has a test of its own below


def commands() -> Iterator[str]:
    """Every command and subcommand, as the program itself lists them."""
    waiting: list[tuple[str, click.Command]] = [("", root_command)]
    while waiting:
        path, command = waiting.pop()
        if isinstance(command, click.Group):
            with click.Context(command) as ctx:
                for name in command.list_commands(ctx):
                    found = command.get_command(ctx, name)
                    assert found is not None
                    waiting.append((f"{path} {name}".strip(), found))
        if not isinstance(command, click.Group) or command.invoke_without_command:
            yield path


def test_no_command_is_forgotten() -> None:
    assert {*CALLS} | BY_THEMSELVES == {*commands()}


@pytest.mark.parametrize("command", CALLS)
def test_a_command_leaves_no_mark(hostile: Hostile, program: list[str], command: str) -> None:
    done = subprocess.run(
        [*program, *command.split(), *CALLS[command]],
        cwd=hostile.workspace,
        env={**hostile.env, "EDITOR": "marker-editor"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    assert hostile.marks() == ""
    assert "Traceback" not in done.stderr
    assert "No such" not in done.stderr, "the call itself must be right"


WHAT_IFS = {
    "--env PATH": ("--env", "PATH={bin}"),
    "--env of loaders": ("--env", "LD_PRELOAD={bin}/x.so", "--env", "NODE_OPTIONS=--require {bin}/x.js"),
    "--env of editors": ("--env", "EDITOR={bin}/vi", "--env", "VISUAL={bin}/vi"),
    "--env of Hookscope": ("--env", "HOOKSCOPE_STATE_DIR={workspace}/state", "--env", "HOME={workspace}"),
    "--env-from a file": ("--env-from", "{workspace}/service.env"),
    "--env-from a part": ("--env-from", "{workspace}/part.env", "--path", "+{bin}"),
    "--path": ("--path", "{bin}"),
    "--path relative": ("--path", "bin"),
    "--home": ("--home", "{workspace}", "--clean-env"),
}
UNDER_WHAT_IF = (
    "list",
    "info",
    "check",
    "plan",
    "events",
    "fix",
    "tap status",
    "doctor",
    "fire",
    "load",
    "test",
)


@pytest.mark.parametrize("named", [True, False], ids=["programs are named", "none is named"])
@pytest.mark.parametrize("what_if", WHAT_IFS)
def test_a_what_if_leaves_no_mark(hostile: Hostile, forks: Forks, what_if: str, named: bool) -> None:
    workspace = hostile.workspace
    service = {
        "PATH": f"{workspace}/bin:/usr/bin:/bin",
        "HOME": str(workspace),
        "HOOKSCOPE_STATE_DIR": f"{workspace}/state",
        "OPENCLAW_BUNDLED_HOOKS_DIR": f"{workspace}/hooks",
        "PYTHONPATH": str(workspace),
        "LD_PRELOAD": f"{workspace}/bin/x.so",
    }
    (workspace / "service.env").write_text("".join(f"{name}={value}\n" for name, value in service.items()))
    (workspace / "part.env").write_text(f"PYTHONSTARTUP={workspace}/click.py\nEDITOR=bin/vi\n")
    (workspace / "state").mkdir()
    trusted = {"folders": {str(workspace): {"since": "2026-01-01T00:00:00+00:00"}, "/": {}}}
    (workspace / "state/trust.json").write_text(json.dumps(trusted))
    if not named:
        (workspace / ".hookscope/config.yaml").unlink()
    options = [part.format(bin=workspace / "bin", workspace=workspace) for part in WHAT_IFS[what_if]]
    for command in UNDER_WHAT_IF:
        words = [*options, *command.split(), *CALLS[command]]
        done = forks.run(words, cwd=workspace, env=hostile.env, limit=LIMIT)
        assert hostile.marks() == "", command
        assert "Traceback" not in done.err, command


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_leaves_no_mark(hostile: Hostile, forks: Forks, shell: str) -> None:
    for command in commands():
        asked = {"COMP_WORDS": f"hookscope {command} ", "COMP_CWORD": "-1"}
        env = {**hostile.env, **asked, "_HOOKSCOPE_COMPLETE": f"{shell}_complete"}
        done = forks.run([], cwd=hostile.workspace, env=env, limit=LIMIT)
        assert hostile.marks() == "", command
        assert done.code == 0


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize("typed", ["hookscope", "./hookscope", "bin/hookscope", "~/../workspace/hookscope"])
def test_a_tab_starts_the_program_that_printed_the_script(
    hostile: Hostile, program: list[str], typed: str
) -> None:
    at = {"cwd": hostile.workspace, "env": hostile.env, "capture_output": True, "text": True}
    script = subprocess.run([*program, "completion", "bash"], **at, timeout=LIMIT).stdout  # type: ignore[call-overload]
    line = f"{typed} info "
    press = f"COMP_LINE='{line}'; COMP_POINT={len(line)}; _hookscope_completion {typed}"
    bash = shutil.which("bash") or "bash"
    done = subprocess.run([bash, "-c", f'{script}\n{press}\necho "${{COMPREPLY[@]}}"'], **at, timeout=LIMIT)  # type: ignore[call-overload]
    assert hostile.marks() == ""
    assert "typed" in done.stdout.split()


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_scripts_of_other_shells_start_one_program_by_its_path(
    hostile: Hostile, program: list[str], shell: str
) -> None:
    words = [*program, "completion", shell]
    script = subprocess.run(
        words, cwd=hostile.workspace, env=hostile.env, capture_output=True, text=True, timeout=LIMIT
    ).stdout
    assert f"{program[0]} 2>/dev/null" in script or f"{program[0]} -P -m hookscope 2>/dev/null" in script
    assert "env COMP" not in script
    assert "$program" not in script
    assert "words[1]}" not in script


SHIMS = {  # of version managers, each with a program that PATH finds
    "a script of bash": '#!/usr/bin/env bash\nexec {python} -c "print(1)" "$@"\n',
    "a script of Python": "#!/usr/bin/env python3\nprint(1)\n",
    "a script that starts another": '#!/bin/sh\nexec which "$@"\n',
    "a script that asks git": "#!/bin/sh\ngit --version\n",
}


@pytest.mark.parametrize("shim", SHIMS.values(), ids=SHIMS)
def test_a_workspace_that_is_not_the_current_folder_leaves_no_mark(
    hostile: Hostile, forks: Forks, tmp_path: Path, shim: str
) -> None:
    """What the user's own node starts in turn comes from outside the workspace, too."""
    for name in ("own", "elsewhere"):
        (tmp_path / name).mkdir()
    (tmp_path / "own/node").write_text(shim.format(python=sys.executable))
    (tmp_path / "own/node").chmod(0o755)
    path = os.pathsep.join(map(str, (hostile.workspace / "bin", tmp_path / "own", os.environ["PATH"])))
    for command in UNDER_WHAT_IF:
        words = [*command.split(), *CALLS[command], "--workspace", str(hostile.workspace)]
        done = forks.run(words, cwd=tmp_path / "elsewhere", env={**hostile.env, "PATH": path}, limit=LIMIT)
        assert hostile.marks() == "", command
        assert "Traceback" not in done.err, command


async def test_opening_the_console_by_pilot_leaves_no_mark(
    hostile: Hostile, console: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", hostile.env["PATH"])
    monkeypatch.chdir(hostile.workspace)
    async with console() as story:
        await story.shows("typed", "snake")
        await story.press("j", "enter", "f")
        assert hostile.marks() == ""


def test_opening_the_console_in_a_terminal_leaves_no_mark(
    hostile: Hostile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", hostile.env["PATH"])
    monkeypatch.setenv("PYTHONSAFEPATH", "1")  # as the installed command has it; `python -m` is its user's
    terminal = Terminal(hostile.workspace)
    try:
        until(lambda: terminal.shows("typed") or terminal.process.poll() is not None, "its hooks are shown")
        terminal.press(b"q")
        until(lambda: terminal.process.poll() is not None, "it has left")
    finally:
        terminal.process.kill()
        terminal.process.wait()
        terminal.hang_up()
    assert terminal.shows("typed")
    assert hostile.marks() == ""


async def test_a_console_in_a_page_leaves_no_mark(hostile: Hostile, program: list[str]) -> None:
    server = await asyncio.create_subprocess_exec(
        *program,
        *("serve", "--port", "0", "--json"),
        cwd=hostile.workspace,
        env=hostile.env,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
    )
    assert server.stdout is not None
    try:
        said = json.loads(await asyncio.wait_for(server.stdout.readuntil(b"}\n"), LIMIT))
        await _visit(Served(server, said["url"], said["origin"]))
    finally:
        server.terminate()
        await server.wait()
    assert hostile.marks() == ""


@pytest.mark.parametrize("inside", [True, False])
def test_a_browser_is_looked_for_outside_the_workspace(
    hostile: Hostile, monkeypatch: pytest.MonkeyPatch, inside: bool
) -> None:
    """Python's own `webbrowser` asks PATH: in a process of its own, since it remembers what it has found."""
    monkeypatch.chdir(hostile.workspace if inside else "/")
    for name in ("firefox", "chromium", "google-chrome", "x-www-browser", "www-browser", "lynx", "w3m"):
        hostile.mark_program(hostile.workspace / "bin" / name)
    code = (
        "from pathlib import Path\n"
        "from hookscope.integrations.serve.server import ServerAddress, browser_opener\n"
        f"with browser_opener(Path({str(hostile.workspace)!r})) as post:\n"
        "    post(ServerAddress('http://127.0.0.1:1', 'token', shows_token=True))"
    )
    folders = hostile.env["PATH"].removesuffix(os.environ["PATH"]).split(os.pathsep)
    path = os.pathsep.join(folder for folder in folders if not folder.endswith("links"))
    env = {**hostile.env, "PATH": path, "DISPLAY": ":7"}
    subprocess.run(
        [sys.executable, "-P", "-c", code], env=env, timeout=LIMIT, check=True, capture_output=True
    )
    assert hostile.marks() == ""


async def _visit(server: Served) -> None:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as http:
        client = Client(http, server)
        await client.come_in()
        page = await client.console()
        await read(page, "Hooks")
        await page.close()


@pytest.mark.parametrize("named", ["marker-editor", "bin/vi", "./bin/vi --wait", "vi"])
@pytest.mark.parametrize("by", ["VISUAL", "--env"])
@pytest.mark.parametrize("inside", [True, False])
def test_the_editor_is_the_users(
    hostile: Hostile, program: list[str], named: str, by: str, inside: bool
) -> None:
    """On a terminal, without which none is opened. Of `--env` none is taken."""
    there = [] if inside else ["--workspace", str(hostile.workspace)]
    ours, theirs = pty.openpty()
    folders = hostile.env["PATH"].removesuffix(os.environ["PATH"])
    env = {**hostile.env, "PATH": folders, **({by: named} if by == "VISUAL" else {})}
    words = ["--env", f"VISUAL={named}"] if by == "--env" else []
    try:
        done = subprocess.run(
            [*program, *words, *there, "new", "made", "--edit"],
            cwd=hostile.workspace if inside else "/",
            env=env,
            stdin=theirs,
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert hostile.marks() == ""
    assert ("does not start" if by == "VISUAL" else "No editor is set") in done.stdout


def test_dap_leaves_no_mark(hostile: Hostile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", hostile.env["PATH"])
    monkeypatch.setenv("PYTHONSAFEPATH", "1")  # as the installed command has it
    editor = Editor(hostile.workspace, "dap")
    try:
        editor.do("initialize", adapterID="hookscope")
        launch = {
            "event": "command:new",
            "bundled": str(hostile.workspace / "hooks"),
            "env": {"PATH": str(hostile.workspace / "bin"), "LD_PRELOAD": "./bin/x.so"},
        }
        editor.ask("launch", **launch)
        editor.ask("configurationDone")
        editor.response(editor.ask("disconnect"))
    finally:
        editor.process.kill()
        editor.process.communicate()
    assert hostile.marks() == ""


LIBRARY = """
import asyncio, hookscope
found = hookscope.discover_hooks(workspace_path=".")
assert len(found) >= 3, found
for hook in found:
    hookscope.check_eligibility(hook)
"""


def test_the_library_looks_and_leaves_no_mark(hostile: Hostile) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", LIBRARY],
        cwd=hostile.workspace,
        env=hostile.env,
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    assert (done.returncode, hostile.marks()) == (0, ""), done.stderr


def test_the_traps_do_leave_marks(hostile: Hostile) -> None:
    """What the other tests rely on: whoever starts such a program, or imports such a module, is seen."""
    subprocess.run(["./bin/node"], cwd=hostile.workspace, check=False)
    subprocess.run([sys.executable, "-c", "import textual"], cwd=hostile.workspace, check=False)
    assert "started ./bin/node" in hostile.marks()
    assert "imported" in hostile.marks()


async def test_what_runs_for_a_trusted_hook_imports_nothing_of_the_workspace(
    hostile: Hostile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker, and the parser of lint, of a user whose import path leads into the workspace."""
    (hostile.workspace / ".hookscope/config.yaml").unlink()
    for name, value in {**hostile.env, "PYTHONPATH": f".{os.pathsep}{hostile.workspace}"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(hostile.workspace)
    bench = Workbench(Options(env={"PYTHONSTARTUP": "click.py", "LD_PRELOAD": "./bin/x.so"}))
    try:
        view = bench.scan()
        run = await bench.fire(view, bench.plan(view, bench.template(view, "command:new")))
        assert {result.status for result in run.results} == {"ok"}
        assert lint_hooks(bench, [hostile.workspace / "hooks"]).report.subjects
    finally:
        await bench.close()
    assert hostile.marks() == ""


@pytest.mark.parametrize("started", ["hookscope", "hookscope.console.browser_process"])
def test_python_m_drops_the_current_folder_before_it_loads_anything(hostile: Hostile, started: str) -> None:
    """But for what Python itself loads to find the module, `types` and `signal` among it."""
    for name in ("types", "json", "asyncio", "subprocess"):
        (hostile.workspace / f"{name}.py").unlink()
    subprocess.run(
        [sys.executable, "-m", started, "list"],
        cwd=hostile.workspace,
        env=hostile.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=LIMIT,
    )
    assert hostile.marks() == ""
