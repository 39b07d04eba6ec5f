"""The structure that CONTRIBUTING.md draws: which room may import which, and what no room does."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.rooms import MAY_IMPORT, MAY_START, SHARED, imported, statements, tree_of

import hookscope

SOURCE = Path(hookscope.__file__).parent
FILES = sorted(path for path in SOURCE.rglob("*.py") if "bundled_hooks" not in path.parts)

PURE = (
    "formats/",
    "model/",
    "hosts/gates/",
    "hosts/folders/",
    "hosts/streams/",
    "hosts/plugins/",
    "hosts/dialects/",
)
WORLDLY = {"asyncio", "subprocess", "sqlite3", "time", "os", "socket", "shutil"}
MAY_TOUCH_THE_DISK = {"model/machine.py", "model/regular_file.py"}
HOSTS = ("openclaw", "milady", "eliza", "clawdbot")


def room_of(path: Path) -> str:
    relative = path.relative_to(SOURCE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def test_a_room_imports_only_rooms_below_it() -> None:
    wrong = []
    for path in FILES:
        room = room_of(path)
        rooms = {
            name.split(".")[1] for name in imported(path, SOURCE.parent) if name.startswith("hookscope.")
        }
        above = rooms - MAY_IMPORT[room] - MAY_START.get(room, set()) - SHARED - {room}
        wrong += [f"{name_of(path)} imports {other}" for other in sorted(above)]
    assert not wrong


def test_the_rooms_stand_in_an_order() -> None:
    rooms = list(MAY_IMPORT)
    assert [
        (room, sorted(below - {*rooms[:place]}))
        for place, (room, below) in enumerate(MAY_IMPORT.items())
        if not below <= {*rooms[:place]}
    ] == []


def test_hosts_know_their_dialects_nowhere_else() -> None:
    """Kinds of hook systems stand below the dialects that are made of them."""
    wrong = []
    for path in FILES:
        if name_of(path).startswith("hosts/") and not name_of(path).startswith("hosts/dialects/"):
            wrong += [
                name_of(path)
                for name in imported(path, SOURCE.parent)
                if name.startswith("hookscope.hosts.dialects")
            ]
    assert not wrong


def test_only_commands_start_another_room() -> None:
    for room, started in MAY_START.items():
        for other in started:
            package = f"hookscope.{other}."
            starting = [
                name_of(path)
                for path in FILES
                if room_of(path) == room
                and any(f"{name}.".startswith(package) for name in imported(path, SOURCE.parent))
            ]
            assert starting
            assert all(name.startswith("cli/commands/") for name in starting)


def test_a_pure_room_does_not_reach_into_the_world() -> None:
    wrong = []
    for path in FILES:
        if name_of(path).startswith(PURE):
            worldly = WORLDLY & {name.split(".")[0] for name in imported(path, SOURCE.parent)}
            if name_of(path) in MAY_TOUCH_THE_DISK:
                worldly -= {"os"}
            wrong += [f"{name_of(path)} imports {module}" for module in sorted(worldly)]
    assert not wrong


def test_no_host_is_known_by_name_outside_the_dialects() -> None:
    named = []
    for path in FILES:
        named_at_all = any(host in path.read_text().lower() for host in HOSTS)
        if not name_of(path).startswith("hosts/dialects/") and named_at_all:
            nodes = list(ast.walk(tree_of(path)))
            documentation = {
                id(node.body[0].value)
                for node in nodes
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
                and node.body
                and isinstance(node.body[0], ast.Expr)
            }
            named += [
                f"{name_of(path)}:{node.lineno}: {node.value}"
                for node in nodes
                if isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and id(node) not in documentation
                and any(host in node.value.lower() for host in HOSTS)
            ]
    assert not named


def test_no_statement_numbers_its_placeholders() -> None:
    """Python 3.12.0 to 3.12.3 take `?1` for a name, and warn."""
    numbered = re.compile(r"\?[1-9]\b.*(from|where|values)|(from|where|values)\b.*\?[1-9]\b")
    room = [path for path in FILES if path.is_relative_to(SOURCE / "storage/journal")]
    assert room
    assert not [path.name for path in room if numbered.search(path.read_text())]


def test_docstrings_have_no_lone_surrogates() -> None:
    """Python 3.13.0 cannot import such a module: it encodes docstrings as UTF-8."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    texts = {
        f"{name_of(path)}:{getattr(node, 'lineno', 1)}": ast.get_docstring(node, clean=False) or ""
        for path in FILES
        for node in statements(tree_of(path))
        if isinstance(node, documented)
    }
    assert [place for place, text in texts.items() if re.search("[\ud800-\udfff]", text)] == []


def test_only_the_console_knows_textual() -> None:
    outside = [
        name_of(path)
        for path in FILES
        if room_of(path) != "console"
        and any(name.split(".")[0] == "textual" for name in imported(path, SOURCE.parent))
    ]
    assert not outside


@pytest.mark.parametrize(
    "work",
    [
        "from hookscope.cli.main import exit_code; exit_code(['list', '--json'])",
        "from hookscope.cli.main import exit_code; exit_code(['plan', 'command:new'])",
        "from hookscope import load_hooks, trigger_hook",
    ],
)
def test_the_command_line_and_the_library_load_no_console(work: str, tmp_path: Path) -> None:
    absent = {"textual", "watchfiles", "sqlite3"}
    if "exit_code" in work:  # a look runs nothing and writes nothing
        absent |= {"asyncio", "hookscope.storage.edits", "importlib.metadata"}
    check = f"import sys; print(sorted({absent} & set(sys.modules)), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", f"{work}; {check}"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PATH": ""},
        check=True,
    )
    assert done.stderr.strip().splitlines()[-1] == "[]"


def test_the_consoles_first_frame_needs_no_workbench_and_no_pane_that_it_does_not_show(
    tmp_path: Path,
) -> None:
    ours = (
        "app.workbench hosts.dialects hosts.settings storage.edits storage.journal "
        "console.dialogs.palette console.controllers.fire_controller console.controllers.job_runner"
    )
    ours += " model.run console.panes.fire.fire_pane console.panes.hosts_pane"
    names = {"yaml", "sqlite3", "watchfiles", *(f"hookscope.{name}" for name in ours.split())}
    check = f"import sys, hookscope.console.app; print(sorted({names} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert done.stdout.strip() == "[]"


AHEAD = """
import asyncio, sys, threading
from pathlib import Path
from hookscope.console.process import PRELOAD_THREAD, PRELOADED_MODULES
from hookscope.console.app import Console
from hookscope.workbench import Options, Workbench

async def main():
    async with Console(Workbench(Options(workspace=Path())), watches=False).run_test() as pilot:
        while not set(PRELOADED_MODULES) <= set(sys.modules):
            await pilot.pause(0.01)
        for thread in threading.enumerate():
            if thread.name == PRELOAD_THREAD:
                thread.join()
        before = set(sys.modules)
        for key in "slash escape k 2 3 slash escape 4 1 question_mark escape ctrl+p escape".split():
            await pilot.press(key)
            await pilot.pause()
        print(sorted(name for name in set(sys.modules) - before if name.startswith("hookscope.console")))

asyncio.run(main())
"""


def test_the_first_key_finds_loaded_what_it_goes_to(tmp_path: Path) -> None:
    env = {**os.environ, "HOME": str(tmp_path), "HOOKSCOPE_STATE_DIR": str(tmp_path / "state")}
    done = subprocess.run(
        [sys.executable, "-c", AHEAD], capture_output=True, text=True, cwd=tmp_path, env=env, timeout=240
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_help_loads_nothing_but_click(tmp_path: Path) -> None:
    work = "import sys; from hookscope.cli.main import exit_code; exit_code(['--help'])"
    check = "print(sorted(m for m in sys.modules if m.split('.')[0] in ('yaml', 'rich', 'pyjson5', 'asyncio') or m.startswith('hookscope.') and not m.startswith(('hookscope.cli', 'hookscope.host_options'))), file=sys.stderr)"  # noqa: E501
    done = subprocess.run(
        [sys.executable, "-c", f"{work}; {check}"], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert done.stderr.strip() == "[]"
