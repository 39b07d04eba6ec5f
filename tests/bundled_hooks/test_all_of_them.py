"""What holds for every hook that ships."""

import ast
import sys
from pathlib import Path

import pytest
from tests.bundled_hooks.conftest import FireHere

from hookscope import discover_hooks
from hookscope.hosts.dialects import dialect_named

BUNDLED = Path(__file__).parent.parent.parent / "bundled_hooks"
SOURCES = sorted(BUNDLED.rglob("*.py"))
NAMES = ["boot-md", "bootstrap-extra-files", "command-logger", "session-memory"]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_oldest_interpreter_of_workers_can_read_it(path: Path) -> None:
    ast.parse(path.read_text(), feature_version=(3, 9))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_bundled_hook_imports_only_the_standard_library_and_its_folder(path: Path) -> None:
    neighbours = {file.stem for file in path.parent.glob("*.py")}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            assert {name.name.partition(".")[0] for name in node.names} <= sys.stdlib_module_names
        elif isinstance(node, ast.ImportFrom) and node.module != "hookscope":  # for type checkers
            top = str(node.module).partition(".")[0]
            assert top in (neighbours if node.level else sys.stdlib_module_names)


@pytest.mark.parametrize("dialect", ["openclaw", "milady", "eliza"])
def test_every_host_has_all_four_with_events_that_it_can_send(dialect: str) -> None:
    hooks = discover_hooks(bundled_dir=BUNDLED, internal_config={}, dialect=dialect)
    assert sorted(hook.name for hook in hooks) == NAMES
    catalogue = dialect_named(dialect).catalogue()
    for hook in hooks:
        assert hook.meta.events
        assert all(catalogue.sends(key) for key in hook.meta.events)


def test_openclaws_guide_names_their_events_and_needs() -> None:
    """Guide 004, section 7."""
    hooks = discover_hooks(bundled_dir=BUNDLED, internal_config={}, dialect="openclaw")
    assert {hook.name: (hook.meta.events, hook.meta.requires.config) for hook in hooks} == {
        "session-memory": (("command:new",), ("workspace.dir",)),
        "bootstrap-extra-files": (("agent:bootstrap",), ("workspace.dir",)),
        "command-logger": (("command",), ()),
        "boot-md": (("gateway:startup",), ("workspace.dir",)),
    }


def test_each_is_documented() -> None:
    for header in BUNDLED.glob("*/HOOK.md"):
        text = header.read_text()
        for title in ("## What it ", "## Settings", "## When it fails"):
            assert title in text, f"{header} lacks {title!r}"


ODD_FOLDERS = [True, 5, [], {}, "\0", "x" * 5_000, "~nobody-of-that-name/x", "\ud800"]


@pytest.mark.parametrize(
    ("hook", "key"),
    [
        ("session-memory", "command:new"),
        ("boot-md", "gateway:startup"),
        ("bootstrap-extra-files", "agent:bootstrap"),
    ],
)
async def test_a_folder_that_no_disk_has_is_no_failure(
    fire_here: FireHere, workspace: Path, hook: str, key: str
) -> None:
    for odd in ODD_FOLDERS:
        context = {"workspaceDir": odd, "sessionFile": odd, "bootstrapFiles": [{"name": odd, "path": odd}]}
        result = await fire_here(hook, key, context)
        assert (result.status, result.error) == ("ok", None), odd
