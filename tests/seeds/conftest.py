"""The examples of guides about plugin and stream hooks, fired in workers as the command line does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.model.run import Run

Fire = Callable[..., Awaitable[Run]]
Write = Callable[[str, str], Path]


@pytest.fixture
def write(workspace: Path) -> Write:
    """write("agent/hooks/audit.ts", source) → the file below the workspace."""

    def written(name: str, source: str) -> Path:
        file = workspace / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(source).lstrip("\n"))
        if name.startswith("agent/"):
            (workspace / "agent" / "instructions.md").touch()  # without which its host builds nothing
        return file

    return written


@pytest.fixture
def fire(workspace: Path) -> Fire:
    """await fire("turn.started", dialect="eve", context={…}) → the Run; what is not given is the example"""

    async def fired(key: str, *, dialect: str, context: Mapping[str, Any] | None = None, **ctx: Any) -> Run:
        bench = Workbench(Options(dialect=dialect, workspace=workspace), trust_all=True)
        try:
            view = bench.scan()
            event = bench.template(view, key)
            view = await bench.load_modules(view, event.kind)
            event = replace(event, ctx={**event.ctx, **ctx})
            event = event if context is None else replace(event, context=context)
            return await bench.fire(view, bench.plan(view, event))
        finally:
            await bench.close()

    return fired
