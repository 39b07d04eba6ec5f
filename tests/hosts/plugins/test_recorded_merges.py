"""What the runner of openclaw 2026.9.6 made of random sets of handlers: `{"step", "answer"}`, a line each.

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

ROWS = json.loads(Path(__file__).with_name("recorded_merges.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("hook", sorted({row["step"]["hook"] for row in ROWS}))
async def test_answers_add_up_as_the_program_says(hook: str, tmp_path: Path) -> None:
    here = Machine("linux", {"HOME": str(tmp_path)}, tmp_path, tmp_path)
    engine = HookEngine(open_host(DIALECTS["openclaw@2026.9"], here))
    for row in ROWS:
        if row["step"]["hook"] == hook:
            answer: dict[str, Any] = await plugin_hook(engine, row["step"])
            told = {name: answer.get(name) for name in OF_PLUGINS if name in row["answer"]}
            assert told == row["answer"], json.dumps(row)
    await engine.close()
