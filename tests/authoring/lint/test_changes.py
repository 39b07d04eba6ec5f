"""Lint reports a change of the context that the host reads back for none of the hook's events."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.authoring.lint.conftest import Lint
    from tests.conftest import MakeHook

PROGRAM = "openclaw@2026.9"
SENT, PREPROCESSED, BOOTSTRAP = "message:sent", "message:preprocessed", "agent:bootstrap"
TS, JS, PY = "handler.ts", "handler.js", "handler.py"


@pytest.mark.parametrize(
    ("file", "source", "events", "level"),
    [
        (TS, "export default async (event) => { event.context.content = 'x'; };", [SENT], "warning"),
        (TS, "export default async (event: any) => { event.context['content'] += '!'; };", [SENT], "warning"),
        (
            JS,
            "export default (e) => { const c = e.context; delete c.bodyForAgent; };",
            [PREPROCESSED],
            "warning",
        ),
        (PY, "def handler(event):\n    event.context['bodyForAgent'] = ''\n", [PREPROCESSED], "warning"),
        (PY, "async def handler(event):\n    event.context.content += '!'\n", [SENT], "warning"),
        (PY, "def handler(event):\n    event.context['content'] = ''\n", [SENT, BOOTSTRAP], "hint"),
        (PY, "def handler(event):\n    event.context['bootstrapFiles'] = []\n", [BOOTSTRAP], ""),
        (PY, "def handler(event):\n    event.context['mine'] = 1\n", [SENT], ""),  # for a later handler
        (PY, "def handler(event):\n    print(event.context['content'])\n", [SENT], ""),
        (PY, "def handler(event):\n    event.context.setdefault('content', '')\n", [SENT], ""),
    ],
)
def test_a_change_that_is_not_read_back_is_reported(
    workspace: Path,
    make_hook: MakeHook,
    lint_under: Lint,
    file: str,
    source: str,
    events: list[str],
    level: str,
) -> None:
    names = ", ".join(f'"{key}"' for key in events)
    folder = make_hook(
        workspace / "hooks", "tidy", f'{{"openclaw": {{"events": [{names}]}}}}', source, file=file
    )
    found = [
        finding
        for finding in lint_under(folder, dialect=PROGRAM).report.findings
        if finding.rule == "change-ignored"
    ]
    assert [finding.severity.value for finding in found] == ([level] if level else [])
    assert all("does not wait for handlers" in finding.text for finding in found)
    assert all(finding.place.file.name == file for finding in found)
