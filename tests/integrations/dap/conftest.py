"""A workspace with trusted hooks, and an editor that debugs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.integrations.dap.editor import Editor

Open = Callable[..., Editor]


@pytest.fixture
def bundled(tmp_path: Path) -> Path:
    """An empty folder of bundled hooks."""
    folder = tmp_path / "bundled"
    folder.mkdir()
    return folder


@pytest.fixture
def opened(workspace: Path, bundled: Path) -> Iterator[Open]:
    """opened(): an editor whose adapter trusts all; opened(trusts=False)."""
    editors: list[Editor] = []

    def open_one(*, trusts: bool = True) -> Editor:
        editor = Editor(workspace, "--bundled", str(bundled), "dap", *(["--trust"] if trusts else []))
        editors.append(editor)
        return editor

    yield open_one
    for editor in editors:
        editor.kill()


@pytest.fixture
def editor(opened: Open) -> Editor:
    """One that trusts all."""
    return opened()
