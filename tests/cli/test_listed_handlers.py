"""Handlers that the settings list one by one (guide 004): where one does not load, what to write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Program


def listed(home: Path, *handlers: Any) -> None:
    value = {"hooks": {"internal": {"enabled": True, "handlers": handlers}}}
    (home / ".openclaw").mkdir(exist_ok=True)
    (home / ".openclaw" / "openclaw.json").write_text(json.dumps(value, indent=1))


NEW = "`hookscope new gone --event command:new`"


@pytest.mark.parametrize(
    ("entry", "name", "gate", "step"),
    [
        (
            {"event": "command:new", "module": "./gone.js"},
            "./gone.js",
            "handler",
            "create ./gone.js, or set `module` of hooks.internal.handlers[0] (~/.openclaw/openclaw.json:6) "
            f"to an existing file; or create a folder with a HOOK.md instead: {NEW}",
        ),
        (
            {"event": "command:new", "module": "/usr/gone.js"},
            "/usr/gone.js",
            "path",
            "move the handler below the workspace, and set `module` of hooks.internal.handlers[0] "
            "(~/.openclaw/openclaw.json:6) to the new path; "
            f"or create a folder with a HOOK.md instead: {NEW}",
        ),
        (
            {"event": "command:new"},
            "handlers[0]",
            "fields",
            "write `event` and `module`, both as strings, into hooks.internal.handlers[0] "
            "(~/.openclaw/openclaw.json:6)",
        ),
    ],
)
def test_a_listed_handler_that_does_not_load_names_its_entry_and_fix(
    hookscope: Program, home: Path, entry: dict[str, str], name: str, gate: str, step: str
) -> None:
    listed(home, entry)
    fixes = hookscope("fix", name, "--json").json["fixes"]
    (why,) = [fix["why_not"] for fix in fixes if fix["gate"] == gate]
    assert why == step


def test_lint_names_the_settings_file_of_a_listed_handler(hookscope: Program, home: Path) -> None:
    listed(home, {"event": "command:new"})
    (found,) = hookscope("lint", "handlers[0]", "--rule", "field-type", "--json").json["findings"]
    assert found["file"].endswith("openclaw.json")
