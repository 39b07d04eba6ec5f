"""What a user installs: the built wheel, in an environment with nothing else in it."""

import json
import os
import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent.parent
LOWEST = re.compile(r"([\w-]+)>=([\w.]+)")  # `click>=8.1,<9`
pytestmark = pytest.mark.environment
UV = os.environ.get("UV", "uv")  # `uv run` says where it is; an environment that it makes has no pip
CONSOLE = """
import asyncio
from hookscope.console.app import Console
from hookscope.workbench import Workbench
async def main():
    async with Console(Workbench()).run_test(size=(80, 24)) as pilot:
        await pilot.press("question_mark")
        await pilot.press("escape", "2")
asyncio.run(main())
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    if find_spec("pip"):
        build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder)]
    else:
        build = [UV, "build", "--quiet", "--wheel", "--out-dir", str(folder)]
    subprocess.run([*build, str(PROJECT)], check=True, cwd=folder)
    (built,) = folder.glob("hookscope-*.whl")
    return built


SHIPPED = {".py", ".cjs", ".mjs", ".js", ".ts", ".md", ".yaml", ".json", ".tcss", ".css", ".html", ".typed"}
MOST_BYTES = 2_050_000  # our own Python source takes 1.6 MB; builders compress a little differently


def test_the_wheel_holds_the_program_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = [archive.read(name).decode() for name in names if name.endswith(".dist-info/METADATA")]
    assert wheel.stat().st_size <= MOST_BYTES
    assert {name.split("/")[0].split("-")[0] for name in names} == {"hookscope"}
    shipped = {Path(name).suffix for name in names if not name.split("/")[0].endswith(".dist-info")}
    assert shipped <= SHIPPED
    chapters = [name for name in names if name.startswith("hookscope/manual/") and name.endswith(".md")]
    assert sorted(map(Path(PROJECT / "src").joinpath, chapters)) == sorted(
        (PROJECT / "src/hookscope/manual").glob("*.md")
    )
    assert len([name for name in names if name.endswith("ci.md")]) == 1
    assert "hookscope/cli/json_shapes.yaml" in names
    fields, _, page = metadata.partition("\n\n")
    assert [line for line in fields.splitlines() if "pytest" in line and "extra == 'dev'" not in line] == []
    assert re.findall(r"\]\((?!https?:)[^)]*\)", page) == [], "links that only a checkout has"
    assert page.startswith("# Hookscope\n")


HANDLERS = {  # CommonJS has come into Node's modules in several shapes
    "flagged.js": "exports.__esModule = true; exports.default = (e) => { e.messages.push('flagged'); };",
    "typed.ts": "enum Word { Said = 'typed' }\nexport default (e: any) => { e.messages.push(Word.Said); };",
    "whole.js": "module.exports = (e) => { e.messages.push(require('path').basename('/whole')); };",
}


def oldest() -> str:
    """The oldest packages that may stand beside it, as constraints: some other program may want them."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["node"]]
    bounds = [LOWEST.match(dependency) for dependency in wanted]
    assert all(bounds), "a dependency without a lower bound"
    return "".join(f"{bound[1]}=={bound[2]}\n" for bound in bounds if bound)


WITHOUT_WHEELS = pytest.mark.skipif(sys.version_info >= (3, 14), reason="the oldest have no wheels for it")


@pytest.mark.parametrize("packages", ["newest", pytest.param("oldest", marks=WITHOUT_WHEELS)])
def test_the_wheel_runs_in_an_empty_environment(wheel: Path, packages: str, tmp_path: Path) -> None:
    environment, constraints = tmp_path / "empty", tmp_path / "constraints.txt"
    constraints.write_text(oldest() if packages == "oldest" else "")
    venv.create(environment)
    wanted = ["--quiet", "--constraint", str(constraints), f"{wheel}[node]"]
    if find_spec("pip"):
        # From outside, and compiled when imported: a pip of its own and all of Textual cost most.
        pip = [sys.executable, "-m", "pip", "--python", str(environment)]
        install = [*pip, "install", "--no-compile", *wanted]
    else:
        install = [UV, "pip", "install", "--python", str(environment / "bin" / "python"), *wanted]
    subprocess.run(install, check=True, cwd=tmp_path)

    def ran(program: str, *arguments: str) -> str:
        environ = {"HOME": str(tmp_path / "home"), "PATH": os.defpath, "TERM": "xterm-256color"}
        command: list[str | Path] = [environment / "bin" / program, *arguments]
        return subprocess.run(
            command, check=True, capture_output=True, cwd=tmp_path, env=environ
        ).stdout.decode()

    document = json.loads(ran("hookscope", "list", "--json"))
    logger = next(hook for hook in document["hooks"] if hook["name"] == "command-logger")
    assert (logger["source"], logger["state"]) == ("bundled", "ready")
    assert Path(logger["path"]).is_relative_to(environment)
    run = json.loads(ran("hookscope", "fire", "command:new", "--only", "command-logger", "--json"))
    assert [result["status"] for result in run["results"]] == ["ok"]
    for name, source in HANDLERS.items():
        folder = tmp_path / "workspace" / "hooks" / name.partition(".")[0]
        folder.mkdir(parents=True)
        events = '{"openclaw": {"events": ["command:new"]}}'
        (folder / "HOOK.md").write_text(f"---\nname: {folder.name}\nmetadata: {events}\n---\n")
        (folder / f"handler{Path(name).suffix}").write_text(source)
    workspace = ("--dialect", "openclaw", "--workspace", "workspace")
    ran("hookscope", *workspace, "trust", "workspace")
    run = json.loads(ran("hookscope", *workspace, "fire", "command:new", "--json"))
    assert run["messages"] == [name.partition(".")[0] for name in HANDLERS], run
    ran("python", "-c", CONSOLE)
