"""What the runners of OpenClaw made of random sets of handlers: `{"version", "step", "answer"}`, a line each.

Without a `version`, it was 2026.9.6; the others are 2026.7.35, 2026.6.35 and 2026.3.31.

A step is as in the recorded cases (`plugin-hook`). The program's own runner was asked, with the policy for
failures that the program gives it at its start.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.openclaw_plugins import OF_PLUGINS, plugin_hook

from hookscope import HookEngine
from hookscope.hosts.dialects import DIALECTS
from hookscope.hosts.settings.host_opener import open_host
from hookscope.model.machine import Machine

ROWS = [
    {"version": "2026.9", **row}
    for name in ("recorded_merges.json", "recorded_merges_older.json")
    for row in json.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))
]


@pytest.mark.parametrize(("version", "hook"), sorted({(row["version"], row["step"]["hook"]) for row in ROWS}))
async def test_answers_add_up_as_the_program_says(version: str, hook: str, tmp_path: Path) -> None:
    here = Machine("linux", {"HOME": str(tmp_path)}, tmp_path, tmp_path)
    engine = HookEngine(open_host(DIALECTS[f"openclaw@{version}"], here))
    for row in ROWS:
        if (row["version"], row["step"]["hook"]) == (version, hook):
            answer: dict[str, Any] = await plugin_hook(engine, row["step"])
            told = {name: answer.get(name) for name in OF_PLUGINS if name in row["answer"]}
            assert told == row["answer"], json.dumps(row)
    await engine.close()
