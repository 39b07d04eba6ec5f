"""The agenda of a turn: how it begins, continues after model and tools, ends, fails or is cancelled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hookscope.hosts.streams import session_data as data
from hookscope.hosts.streams.session_messages import (
    ConversationEntry,
    ModelReply,
    Thrown,
    ToolCall,
    ToolResult,
)
from hookscope.hosts.streams.session_rules import Delegation
from hookscope.hosts.streams.session_state import (
    Action,
    AddEntry,
    BeginStep,
    ChildPurpose,
    CloseTurn,
    Idle,
    NextStep,
    PublishEvent,
    QueryModel,
    RunChildren,
    RunTools,
    SessionState,
    SettleTask,
    format_error_id,
    model_step,
)
from hookscope.hosts.streams.session_subagents import (
    announce_tasks,
    start_tasks,
    stop_tasks,
    subagent_called,
    subagent_message,
    with_children,
)


def close_turn(session: SessionState) -> SessionState:
    """End the turn after the model's last reply, or wait for its tasks."""
    if session.tasks:
        waiting = PublishEvent("turn.waiting", {"on": "tasks"}, "turn")
        tasks = tuple(replace(task, announced=True) for task in session.tasks)
        return session.with_agenda(
            waiting, *announce_tasks(session, ChildPurpose.SETTLE), SettleTask(), tasks=tasks
        )
    done = PublishEvent("turn.completed", level="turn")
    if _is_awaited(session):
        return session.with_agenda(done, PublishEvent("session.completed", level="session"), Idle(ended=True))
    return session.with_agenda(done, wait_for_user(session), Idle())


def _is_awaited(session: SessionState) -> bool:
    return session.agent.delegated and session.rules.delegation is Delegation.AWAITED


def wait_for_user(session: SessionState) -> PublishEvent:
    """Return the event that the session waits for its user."""
    token = {"continuationToken": session.token} if session.rules.includes_token else {}
    return PublishEvent("session.waiting", {**token, "wait": "next-user-message"}, "session")


def fail_step(session: SessionState, thrown: Thrown, name: str = "") -> SessionState:
    """Fail the model's step, because of the model or a hook. Changes of the step are undone."""
    assert session.checkpoint is not None
    kept = session.checkpoint.session.history
    session, digits = session.next_number()
    failure = data.failure_data(data.MODEL_FAILED, thrown.message, format_error_id(digits), thrown.text, name)
    terminal = {"terminal": False} if session.rules.includes_terminal else {}
    cascade = (
        PublishEvent("step.failed", failure),
        PublishEvent("turn.failed", {**failure, **terminal}, "turn"),
    )
    ending = _after_failure(session, failure, thrown.message)
    return session.with_agenda(*cascade, *ending, history=kept, is_failing=True, tasks=())


def fail_turn(session: SessionState, thrown: Thrown) -> SessionState:
    """Fail the turn because a hook threw (seed 002)."""
    failure = {"code": session.rules.hook_failed_code, "message": thrown.message}
    ending = _after_failure(session, failure, thrown.message)
    return session.with_agenda(PublishEvent("turn.failed", failure, "turn"), *ending, is_failing=True)


def _after_failure(
    session: SessionState, failure_data: Mapping[str, Any], message: str
) -> tuple[Action, ...]:
    if _is_awaited(session):
        return _session_failed(session, failure_data), Idle(ended=True, failure=message)
    cancelled_tasks = stop_tasks(session, "turn_ended")
    return (
        wait_for_user(session),
        *cancelled_tasks,
        *announce_tasks(session, ChildPurpose.NOTHING),
        Idle(failure=message),
    )


def _session_failed(
    session: SessionState, failure_data: Mapping[str, Any], *, reaches_hooks: bool = True
) -> PublishEvent:
    return PublishEvent(
        "session.failed", {**failure_data, "sessionId": session.id}, "session", reaches_hooks=reaches_hooks
    )


def fail_session(session: SessionState, thrown: Thrown) -> SessionState:
    """Fail the session because a hook threw in the failure cascade (seed 002)."""
    failure = {"code": session.rules.hook_failed_code, "message": thrown.message}
    rest = Idle(ended=True, failure=thrown.message)
    return session.with_agenda(_session_failed(session, failure), rest)


def repeat_step(session: SessionState, thrown: Thrown) -> SessionState:
    """Run the step again. After its last attempt the session fails, and no hook receives that event."""
    checkpoint, rules = session.checkpoint, session.rules
    assert checkpoint is not None
    attempts = checkpoint.attempts + 1
    if attempts < rules.max_attempts:
        return replace(
            checkpoint.session, checkpoint=replace(checkpoint, attempts=attempts), ids_made=session.ids_made
        )
    session, digits = session.next_number()
    message = rules.attempts_failed_text.format(error=thrown.message)
    failure = data.failure_data(
        rules.hook_failed_code, message, format_error_id(digits), message, rules.hook_failed_code
    )
    rest = Idle(ended=True, failure=message)
    return session.with_agenda(_session_failed(session, failure, reaches_hooks=False), rest)


def cancel_turn(session: SessionState) -> SessionState:
    """Cancel the turn for a hook: changes of its step are undone, the message stays (eve 14)."""
    assert session.checkpoint is not None
    cancel = (PublishEvent("turn.cancelled", level="turn"),) if session.in_turn else ()
    kept = (*session.checkpoint.session.history, *session.checkpoint.kept_entries)
    return session.with_agenda(
        *stop_tasks(session, "turn_cancelled"),
        *cancel,
        wait_for_user(session),
        *announce_tasks(session, ChildPurpose.NOTHING),
        Idle(),
        history=kept,
        tasks=(),
        last_text="",
    )


STOP, TOOL_CALLS = "stop", "tool-calls"


def open_turn(session: SessionState, message: str) -> SessionState:
    """Begin the turn of a new message."""
    entry = ConversationEntry("user", message)
    received: dict[str, Any] = {"message": message}
    if session.rules.includes_parts:
        received["parts"] = [{"type": "text", "text": message}]
    runtime = {"runtime": dict(session.rules.runtime_data(session.agent))}
    first = () if session.started else (PublishEvent("session.started", runtime, "session"),)
    return session.with_agenda(
        BeginStep(kept_entries=(entry,)),
        AddEntry((entry,)),
        *first,
        PublishEvent("turn.started", level="turn"),
        PublishEvent("message.received", received, "turn"),
        *model_step(session),
    )


def continue_after_reply(session: SessionState, reply: ModelReply, *, is_retry: bool) -> SessionState:
    """Continue after the model's reply. `is_retry`: its reply before this one was empty."""
    if reply.failure is not None:
        return fail_step(session, reply.failure)
    session = replace(session, last_text=reply.text)
    reply_events = tuple(_pieces(session, reply))
    if reply.calls:
        return _run_calls(session.with_agenda(*reply_events), reply)
    if reply.text.strip() or not _must_answer(session):
        return session.with_agenda(*reply_events, _step_completed(STOP), CloseTurn())
    if not is_retry:
        return session.with_agenda(*reply_events, QueryModel(is_retry=True))
    rules = session.rules
    unanswered = fail_step(session, Thrown(rules.no_answer_text, ""), rules.no_answer_name)
    return replace(unanswered, agenda=(*reply_events, *unanswered.agenda))


def _must_answer(session: SessionState) -> bool:
    return session.rules.empty_fails or session.agent.delegated


def _pieces(session: SessionState, reply: ModelReply) -> Iterator[PublishEvent]:
    """Yield the events of the reply's text: appended, and completed."""
    if reply.text:
        so_far = {"messageSoFar": reply.text} if session.rules.includes_so_far else {}
        yield PublishEvent("message.appended", {"messageDelta": reply.text, **so_far}, in_model_step=True)
    if reply.text.strip():
        is_interim = session.agent.delegated and session.tasks  # not the final message yet
        reason = TOOL_CALLS if reply.calls or is_interim else STOP
        yield PublishEvent(
            "message.completed", {"finishReason": reason, "message": reply.text}, in_model_step=True
        )


def _step_completed(reason: str) -> PublishEvent:
    return PublishEvent("step.completed", {"finishReason": reason}, in_model_step=True)


def _run_calls(session: SessionState, reply: ModelReply) -> SessionState:
    """Run tools within the step, subagents after it."""
    calls = [replace(call, input={} if call.input is None else call.input) for call in reply.calls]
    tools = tuple(call for call in calls if call.name in session.agent.tools and not call.refusal)
    others = tuple(call for call in calls if call not in tools and _is_subagents(call, session))
    refused = tuple(_refused_result(call) for call in calls if call not in tools and call not in others)
    requests = (_requested_action(call, session) for call in calls if call in tools or call in others)
    awaited = bool(others) and session.rules.delegation is Delegation.AWAITED
    agenda = (
        *session.agenda,
        *requests,
        RunTools(tools, refused, is_deferred=awaited),
        _step_completed(TOOL_CALLS),
    )
    if not others:
        return session.with_agenda(*agenda, BeginStep(), NextStep(), *model_step(session))
    session, children = with_children(session, others)
    if not awaited:
        return start_tasks(session.with_agenda(*agenda), children, others)
    reaches_hooks = session.rules.shows_calls_to_hooks
    called_events = (
        PublishEvent("subagent.called", subagent_called(child, session), "turn", reaches_hooks=reaches_hooks)
        for child in children
    )
    return session.with_agenda(*agenda, *called_events, RunChildren(children, others, ChildPurpose.JOIN))


def _is_subagents(call: ToolCall, session: SessionState) -> bool:
    if call.name not in session.agent.subagents:
        return False
    return not session.rules.requires_message or isinstance(subagent_message(call), str)


def _refused_result(call: ToolCall) -> ConversationEntry:
    """Return the result of a refused call. No event reports it; only the model reads it."""
    reason = call.refusal or f"there is nothing to call as {call.name} with this"
    return ConversationEntry("tool", call=call, output=reason, failed=True)


def _requested_action(call: ToolCall, session: SessionState) -> PublishEvent:
    if call.name in session.agent.tools:
        return PublishEvent("actions.requested", {"actions": [data.tool_action(call)]}, in_model_step=True)
    event_data: dict[str, Any] = {"actions": [data.subagent_action(call, session.agent.subagents[call.name])]}
    if session.rules.labels_calls:
        event_data["presentation"] = data.call_label(call)
    return PublishEvent("actions.requested", event_data, in_model_step=True)


def continue_after_tools(
    session: SessionState, action: RunTools, results: Sequence[ToolResult]
) -> SessionState:
    """Continue after tools: results are in order of ending in the stream, of calling in the conversation."""
    names = {call.id: call.name for call in action.calls}
    result_events = (
        PublishEvent(
            "action.result", data.tool_result(result, names[result.id], session.rules), in_model_step=True
        )
        for result in session.rules.by_completion(results)
    )
    found = (_result_entry(call, result) for call, result in zip(action.calls, results, strict=True))
    entries = *action.refusals, *found
    if action.is_deferred:
        return session.with_agenda(*result_events, *session.agenda, deferred_entries=entries)
    return session.with_agenda(*result_events, AddEntry(entries), *session.agenda)


def _result_entry(call: ToolCall, result: ToolResult) -> ConversationEntry:
    failure = result.failure
    output = result.output if failure is None else failure.text
    return ConversationEntry("tool", call=call, output=output, failed=failure is not None)
