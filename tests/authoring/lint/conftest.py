"""Folders of hooks, linted as the workbench does it."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.authoring.lint.linting import LintResult, lint_hooks

Lint = Callable[..., LintResult]
WriteHook = Callable[..., Path]


@pytest.fixture
def lint_under() -> Lint:
    """lint_under(path, …, dialect="openclaw") → what was found there."""

    def lint(*paths: Path, dialect: str = "openclaw", rules: tuple[str, ...] = ()) -> LintResult:
        return lint_hooks(Workbench(Options(dialect=dialect)), paths, rules)

    return lint


@pytest.fixture
def write_hook(tmp_path: Path) -> WriteHook:
    """write_hook({"HOOK.md": …, "handler.py": …}, name) → the hook's folder."""

    def write(files: Mapping[str, str | bytes], name: str = "tidy") -> Path:
        folder = tmp_path / "some" / "hooks" / name
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(text if isinstance(text, bytes) else text.encode())
        return folder

    return write
