"""Twice as much to look at takes about twice the work. Work is counted, not timed."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.call_counting import calls_made
from tests.conftest import MakeHook

from hookscope.app import json_documents
from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.authoring.fix.repair import repair_workspace
from hookscope.cli.render import hook_output

HEADER = "{openclaw: {events: [command:new]}}"
Grown = Callable[[int, Path, MakeHook], dict[str, Any]]


def extra_folders(count: int, root: Path, make_hook: MakeHook) -> dict[str, Any]:
    for number in range(count):
        make_hook(root / f"extra/{number}", f"x{number}", HEADER)
    folders = [str(root / f"extra/{number}") for number in range(count)]
    return {"hooks": {"internal": {"enabled": True, "load": {"extraDirs": folders}}}}


def missing_extra_folders(count: int, root: Path, make_hook: MakeHook) -> dict[str, Any]:
    folders = [str(root / f"extra/{number}") for number in range(count)]
    return {"hooks": {"internal": {"enabled": True, "load": {"extraDirs": folders}}}}


def entries(count: int, root: Path, make_hook: MakeHook) -> dict[str, Any]:
    for number in range(count):
        make_hook(root / "workspace/hooks", f"x{number}", HEADER)
    switches = {f"x{number}": {"enabled": number % 2 == 0} for number in range(count)}
    return {"hooks": {"internal": {"enabled": True, "entries": switches}}}


def installs(count: int, root: Path, make_hook: MakeHook) -> dict[str, Any]:
    for number in range(count):
        make_hook(root / "workspace/hooks", f"x{number}", HEADER)
    packs = {f"pack{number}": {"source": "npm", "hooks": [f"x{number}"]} for number in range(count)}
    return {"hooks": {"internal": {"enabled": True, "installs": packs}}}


def plugins(count: int, root: Path, make_hook: MakeHook) -> dict[str, Any]:
    for number in range(count):
        folder = root / f"plugins/p{number}"
        folder.mkdir(parents=True)
        manifest = {"id": f"p{number}", "name": f"p{number}", "configSchema": {"type": "object"}}
        (folder / "openclaw.plugin.json").write_text(json.dumps(manifest))
        (folder / "index.py").write_text("def register(api): pass\n")
    paths = [str(root / f"plugins/p{number}") for number in range(count)]
    return {"plugins": {"load": {"paths": paths}, "allow": [f"p{number}" for number in range(count)]}}


def trusted_folders(count: int, root: Path, make_hook: MakeHook) -> dict[str, Any]:
    for number in range(count):
        make_hook(root / "workspace/hooks", f"x{number}", HEADER)
    known = {str(root / f"other/{number}"): {"since": "", "handlers": {}} for number in range(count)}
    (root / "state").mkdir()
    (root / "state/trust.json").write_text(json.dumps({"folders": known}))
    return {}


GROWN = [extra_folders, missing_extra_folders, entries, installs, plugins, trusted_folders]
FEW = 60


@pytest.mark.parametrize("grown", GROWN)
@pytest.mark.parametrize("dialect", ["openclaw", "openclaw@2026.9"])
def test_work_grows_linearly_with_the_number_of_hooks(
    tmp_path: Path, make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch, grown: Grown, dialect: str
) -> None:
    calls = []
    for count in (1, FEW, 2 * FEW, 4 * FEW):  # the first loads modules
        root = tmp_path / str(count)
        (root / "workspace/hooks").mkdir(parents=True)
        settings = grown(count, root, make_hook)
        (root / "home/.openclaw").mkdir(parents=True)
        (root / "home/.openclaw/openclaw.json").write_text(json.dumps(settings))
        monkeypatch.setenv("HOME", str(root / "home"))
        monkeypatch.setenv("HOOKSCOPE_STATE_DIR", str(root / "state"))
        calls.append(work_of(Options(dialect=dialect, workspace=root / "workspace")))
    first, second = calls[2] - calls[1], calls[3] - calls[2]
    assert 0 < second <= 2.3 * first, calls


def test_fixing_all_hooks_grows_linearly_with_their_number(tmp_path: Path, make_hook: MakeHook) -> None:
    calls = []
    for count in (1, 10, 20, 40):  # the first loads modules
        folder = tmp_path / str(count)
        for number in range(count):
            make_hook(folder / "hooks", f"x{number}", HEADER.replace("openclaw", "clawd"))
        view = Workbench(Options(dialect="openclaw", workspace=folder)).scan()
        calls.append(calls_made(partial(repair_workspace, view)))
    first, second = calls[2] - calls[1], calls[3] - calls[2]
    assert 0 < second <= 2.3 * first, calls


def work_of(options: Options) -> int:
    """How many functions a list calls."""

    def listing() -> None:
        view = Workbench(options).scan()
        json_documents.inventory_document(view)
        list(hook_output.hooks_by_folder(view))

    return calls_made(listing)
