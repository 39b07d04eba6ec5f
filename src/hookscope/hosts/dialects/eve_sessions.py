"""The rules of Eve's sessions: those of its guide, and those recorded from 0.18.1 and 0.80.1."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from hookscope.hosts.dialects.catalogues import catalogue
from hookscope.hosts.streams.session_rules import Delegation, SessionRules, ThrowEffect
from hookscope.model.hook import LogLine

if TYPE_CHECKING:
    from hookscope.hosts.streams.session_messages import SessionAgent

SCRIPTED_MODEL = "eve-mock/model"  # the name of the mock model
NO_ANSWER = "The model did not return a response. Please try again."


def _runtime(version: str, *, model: bool = False) -> Callable[[SessionAgent], Mapping[str, Any]]:
    """Return a function that returns the `runtime` data of session.started."""

    def runtime(agent: SessionAgent) -> Mapping[str, Any]:
        runtime_data = {"agentId": agent.name, "agentName": agent.name, "eveVersion": version}
        return {**runtime_data, "modelId": SCRIPTED_MODEL} if model else runtime_data

    return runtime


def _failure_log(kind: str, data: Mapping[str, Any]) -> LogLine | None:
    """Return the log line of a failed turn or session (eve 11, 12 and 13)."""
    code, details = data.get("code"), data.get("details")
    if kind == "turn.failed" and code == "MODEL_CALL_FAILED" and isinstance(details, Mapping):
        text = "model call failed — parking session for retry by the user"
        return _line("harness.tool-loop", text, error=details.get("message"))
    if kind == "session.failed" and code == "FatalError":
        text = "workflow loop threw — emitting terminal session.failed"
        return _line("execution.workflow-entry", text, code=code)
    return None


def _line(source: str, text: str, **log_fields: object) -> LogLine:
    return LogLine("error", f"[eve:{source}] {text} {json.dumps(log_fields, ensure_ascii=False)}")


@cache
def _cancellable() -> frozenset[str]:
    """Return the events of 0.80.1 that belong to a running turn (eve 14 and 15)."""
    return frozenset(event.key for event in catalogue("eve_0_80").events if event.cancellable)


SESSIONS_0_18 = SessionRules(
    summary="a hook's throw fails the turn while the model's answer is handled; elsewhere the step is run "
    "four times, and then the session fails (0.18.1)",
    runtime_data=_runtime("0.18.1", model=True),
    failure_log=_failure_log,
    throw_effect=ThrowEffect.REPEATS,
    delegation=Delegation.AWAITED,
    reopens_finished=True,
    hook_failed_code="FatalError",
    attempts_failed_text='Step "step//eve@0.18.1//turnStep" failed after 3 retries: {error}',
    model_id=SCRIPTED_MODEL,
    delegation_prompt="The caller delegated the following task to you. "
    "Complete it and return the final result "
    "directly.",
    workflow_id="workflow//eve//workflowEntry",
    no_answer_text=NO_ANSWER,
    no_answer_name="Empty model response",
    empty_fails=True,
    includes_so_far=True,
    output_can_fail=True,
    failures_first=True,
)
GUIDE_SESSIONS = replace(
    SESSIONS_0_18,
    summary="a hook's throw fails the turn, and in the failure cascade the session (Eve's guide)",
    runtime_data=_runtime("", model=True),
    failure_log=lambda kind, data: None,  # the guide names no log
    throw_effect=ThrowEffect.SURFACES,
    reopens_finished=False,
    delegation_prompt="",  # the guide mentions no prompt before the caller's message
    hook_failed_code="HOOK_FAILED",  # the guide names no code
    shows_calls_to_hooks=True,
    failures_first=False,
)
SESSIONS_0_80 = SessionRules(
    summary="a hook's throw is logged, and the turn continues; ctx.cancel() ends it (0.80.1)",
    runtime_data=_runtime("0.80.1"),
    failure_log=_failure_log,
    throw_effect=ThrowEffect.LOGGED,
    delegation=Delegation.TASK,
    is_cancellable=lambda kind: kind in _cancellable(),
    model_id=SCRIPTED_MODEL,
    stream_path="/eve/v1/session/{session}/stream",
    delegation_prompt="The caller delegated the following task to you. "
    "Complete it and return the result directly. "
    "The caller may send follow-up messages after you answer.",
    receipt="{name} works on it as task {task}; a message will bring the result",
    task_failed="The agent's turn failed: {error}\n"
    "This task has ended; to retry, call {name} without taskId.",
    no_answer_text=NO_ANSWER,
    no_answer_name="Empty model response",
    error_names=True,
    labels_calls=True,
    includes_parts=True,
    includes_model=True,
    includes_terminal=True,
    includes_token=True,
    requires_message=True,
)
