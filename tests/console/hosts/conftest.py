"""The console over hooks that hosts read differently."""

from pathlib import Path

import pytest
from tests.analysis.host_comparison.conftest import for_all
from tests.conftest import MakeHook
from tests.console.conftest import SIZES, Open, Story, console

__all__ = ["SIZES", "Open", "Story", "console"]

PUSHES = "def handler(event):\n    event.messages.append('hi')\n"


@pytest.fixture
def hooks(workspace: Path, make_hook: MakeHook) -> Path:
    """One for all hosts, one for the first alone, one whose handler only the first looks for."""
    folder = workspace / "hooks"
    make_hook(folder, "everywhere", for_all('"command:new"'), PUSHES)
    make_hook(folder, "only-here", '{"openclaw": {"events": ["command:new"]}}', PUSHES)
    make_hook(folder, "script", for_all('"command:new"'), "export default () => {}\n", file="handler.js")
    return folder
