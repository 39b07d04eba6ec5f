"""An event from the journal gets its secrets back, or is not fired at all."""

from dataclasses import replace
from pathlib import Path

import pytest

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.model.failure import Refusal
from hookscope.model.run import Event

MASKED = Event("command", "new", context={"who": "me", "auth": {"apiKey": "Bearer ${SECRET:API_KEY}"}})


def test_a_masked_secret_comes_from_the_environment(workspace: Path) -> None:
    bench = Workbench(Options(workspace=workspace, env={"API_KEY": "s3cret"}))
    plan = bench.plan(bench.scan(), MASKED)
    assert plan.event.context == {"who": "me", "auth": {"apiKey": "Bearer s3cret"}}


def test_missing_secret_refuses_the_plan_by_name(workspace: Path) -> None:
    bench = Workbench(Options(workspace=workspace))
    with pytest.raises(Refusal, match="API_KEY in the environment"):
        bench.plan(bench.scan(), MASKED)


def test_masked_settings_take_their_current_values(workspace: Path, home: Path) -> None:
    (home / ".openclaw").mkdir()
    (home / ".openclaw/openclaw.json").write_text("{models: {apiKey: 'now'}}")
    bench = Workbench(Options(workspace=workspace))
    event = replace(MASKED, context={"cfg": {"models": {"apiKey": "${SECRET:CFG_MODELS_API_KEY}"}}})
    assert bench.plan(bench.scan(), event).event.context == {"cfg": {"models": {"apiKey": "now"}}}


def test_event_without_secrets_is_unchanged(workspace: Path) -> None:
    bench = Workbench(Options(workspace=workspace))
    event = Event("command", "new", context={"text": "${HOME} and ${SECRET}"})
    assert bench.plan(bench.scan(), event).event is event


def test_secrets_in_ctx_are_restored_too(workspace: Path) -> None:
    bench = Workbench(Options(workspace=workspace, env={"AUTH_TOKEN": "s3cret"}))
    event = Event("before_tool_call", kind="plugin", ctx={"auth": {"token": "${SECRET:AUTH_TOKEN}"}})
    event = replace(event, context={"toolName": "exec", "params": {}})
    assert bench.plan(bench.scan(), event).event.ctx["auth"] == {"token": "s3cret"}
