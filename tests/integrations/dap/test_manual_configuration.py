"""What the manual tells editors to be configured with starts a session that works."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.integrations.dap.conftest import Open

from hookscope.integrations.dap.debugged_run import EDITOR_ARGUMENTS, LAUNCH_ARGUMENTS
from hookscope.manual import chapters


def test_the_files_for_vs_code_start_a_session(opened: Open, workspace: Path, make_hook: MakeHook) -> None:
    blocks = re.findall(r"(?ms)^```json\n(.*?)^```", chapters()["editors"].text)
    extension, launch = map(json.loads, blocks)
    (adapter,) = extension["contributes"]["debuggers"]
    (configuration,) = launch["configurations"]
    assert configuration["type"] == adapter["type"]
    assert [adapter["runtime"], *adapter["runtimeArgs"]] == ["hookscope", "dap"]
    assert {*adapter["languages"]} <= {one["language"] for one in extension["contributes"]["breakpoints"]}
    make_hook(workspace / "hooks", "greet", '{openclaw: {events: ["command:new"]}}')
    editor = opened()
    given = {name: text.replace("${workspaceFolder}", str(workspace)) for name, text in configuration.items()}
    editor.begin(**given)
    editor.event("terminated")
    assert "greet" in "".join(shown["output"] for shown in editor.outputs)


@pytest.mark.parametrize("language", ["lua", "lisp"])
def test_other_editors_are_told_known_arguments(language: str) -> None:
    text = "".join(re.findall(rf"(?ms)^```{language}\n(.*?)^```", chapters()["editors"].text))
    named = re.findall(r"(\w+) = \"" if language == "lua" else r":(\w+) \"", text)
    adapter = {"command"}
    assert {"event", "request", "type"} <= {*named} <= {*LAUNCH_ARGUMENTS, *EDITOR_ARGUMENTS, *adapter}
