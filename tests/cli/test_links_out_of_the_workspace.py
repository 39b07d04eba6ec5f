"""A link in a workspace, whose author may be somebody else, leads no write out of it unasked."""

from pathlib import Path

import pytest
from tests.cli.conftest import Program
from tests.conftest import MakeHook

LEADS_OUT = "leads out of the workspace, to "


def files_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.fixture
def elsewhere(workspace: Path, tmp_path: Path, make_hook: MakeHook) -> Path:
    """The target of the workspace's links; it has a hook that a fix would edit."""
    folder = tmp_path / "elsewhere"
    (workspace / "hooks").rmdir()
    (workspace / ".hookscope").mkdir()
    (folder / "events").mkdir(parents=True)
    (workspace / "hooks").symlink_to(folder)
    (workspace / ".hookscope" / "events").symlink_to(folder / "events")
    make_hook(folder, "greet", '{"events": ["command:new"]}')
    return folder


WRITES = {
    "new": ("new", "other", "--language", "python"),
    "save": ("fire", "command:new", "--save", "kept"),
    "fix": ("fix", "greet", "--apply"),
    "all": ("fix", "--all", "--apply"),
}


@pytest.mark.parametrize("words", WRITES.values(), ids=WRITES)
def test_nothing_is_written_through_a_link_unless_its_target_is_trusted(
    hookscope: Program, elsewhere: Path, words: tuple[str, ...]
) -> None:
    before = files_below(elsewhere), (elsewhere / "greet/HOOK.md").read_bytes()
    refused = hookscope(*words)
    assert (files_below(elsewhere), (elsewhere / "greet/HOOK.md").read_bytes()) == before
    assert refused.code != 0
    assert f"{LEADS_OUT}{elsewhere}" in refused.err
    hookscope("trust", str(elsewhere))
    hookscope(*words)
    assert (files_below(elsewhere), (elsewhere / "greet/HOOK.md").read_bytes()) != before


def test_a_link_within_the_workspace_is_followed(hookscope: Program, workspace: Path) -> None:
    (workspace / "hooks").rmdir()
    (workspace / "mine").mkdir()
    (workspace / "hooks").symlink_to("mine")
    assert hookscope("new", "other", "--language", "python").code == 0
    assert (workspace / "mine/other/handler.py").is_file()
