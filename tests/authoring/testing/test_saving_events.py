"""A saved event reads as the event that was saved, whatever it holds."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookscope.app.options import Options
from hookscope.app.variables import folders_of
from hookscope.app.workbench import Workbench
from hookscope.authoring.testing.saved_events import read_saved_event, save_event, saved_event_path
from hookscope.model.failure import Refusal
from hookscope.model.run import Event

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.from_regex(
    r"\A(\$|\{|\}|X|now|now-1h|:ms|\$\{X\}|\$\{now\}){0,6}\Z"
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=10,
)
NAMES = TEXTS.filter(lambda name: name != "cfg")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(NAMES, VALUES, max_size=4), TEXTS)
def test_saved_event_reads_back(workspace: Path, context: dict[str, Any], session: str) -> None:
    bench = Workbench(Options(workspace=workspace, env={}))
    view = bench.scan()
    template = bench.template(view, "command:new")
    file = workspace / "one.yaml"
    file.unlink(missing_ok=True)
    hidden = save_event(
        replace(template, context=context, session_key=session), template, file, folders=folders_of(view.host)
    )
    if not hidden:
        read = read_saved_event(bench, view, file)
        assert (read.key, read.session_key, read.context) == ("command:new", session, context)


@pytest.mark.parametrize("key", ["command:new", "gateway:startup", "before_tool_call", "before_reset"])
def test_unchanged_example_is_saved_whole_without_local_paths(key: str, workspace: Path, home: Path) -> None:
    (home / ".openclaw").mkdir()
    (home / ".openclaw/openclaw.json").write_text('{"models": {"apiKey": "sk-1234567890abcdef"}}')
    bench = Workbench(Options(workspace=workspace))
    view = bench.scan()
    template, file = bench.template(view, key), workspace / "whole.yaml"
    assert not save_event(template, template, file, folders=folders_of(view.host))
    assert read_saved_event(bench, view, file).context == template.context
    assert not any(text in file.read_text() for text in (str(home), str(workspace), "sk-1234567890abcdef"))


def test_changed_ctx_is_saved(workspace: Path) -> None:
    bench = Workbench(Options(workspace=workspace))
    view = bench.scan()
    template = bench.template(view, "before_tool_call")
    file = saved_event_path("call", view.host.workspace, workspace)
    save_event(
        replace(template, ctx={**template.ctx, "runId": "run-7"}),
        template,
        file,
        folders=folders_of(view.host),
    )
    assert file == workspace / ".hookscope/events/call.yaml"
    assert [path.name for path in file.parent.iterdir()] == ["call.yaml"]  # no lock: it may be a repository
    assert file.read_text().endswith('ctx:\n  runId: "run-7"\n')
    assert read_saved_event(bench, view, file).ctx["runId"] == "run-7"


def test_paths_of_the_workspace_are_saved_for_every_machine(workspace: Path) -> None:
    bench = Workbench(Options(workspace=workspace))
    view = bench.scan()
    template, file = bench.template(view, "before_tool_call"), workspace / "paths.yaml"
    context = {
        "path": f"{workspace}/notes.md",
        "nested": [{"dir": str(workspace)}, f"file://{workspace}/a b"],
        "content": f"Read {workspace}/a.md, then `{workspace}`; ${{HOME}} stays.",
        "beside": [f"{workspace}-2/x", f"/mnt{workspace}", f"${workspace}"],
    }
    event = replace(template, context=context, ctx={"sessionFile": f"{workspace}/s.jsonl"})
    save_event(event, template, file, folders=folders_of(view.host))
    written = file.read_text()
    assert written.count(str(workspace)) == 3  # other folders, and a text that would be taken for an escape
    assert 'path: "${workspace}/notes.md"' in written
    assert 'sessionFile: "${workspace}/s.jsonl"' in written
    read = read_saved_event(bench, view, file)
    assert (read.context, read.ctx["sessionFile"]) == (context, f"{workspace}/s.jsonl")


def test_every_path_of_an_example_is_absolute(workspace: Path, home: Path) -> None:
    state = home / "elsewhere"
    state.mkdir()
    bench = Workbench(Options(workspace=workspace, env={"OPENCLAW_STATE_DIR": str(state)}))
    view = bench.scan()
    keys = [event.key for event in view.host.dialect.catalogue().events if not event.family]
    for key in keys:
        template = bench.template(view, key)
        assert "~" not in json.dumps([template.context, template.ctx]), key
    sent = bench.template(view, "command:new").context
    assert sent["sessionFile"] == str(state / "agents/main/sessions/3f1c.jsonl")


def test_saving_refuses_half_characters(workspace: Path) -> None:
    event = Event("command", "new", context={"half": "\ud800"})
    with pytest.raises(Refusal, match="no text file can hold it"):
        save_event(event, event, workspace / "half.yaml", folders={})
    assert not (workspace / "half.yaml").exists()
