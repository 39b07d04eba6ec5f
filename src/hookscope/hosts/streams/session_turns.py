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
        held = PublishEvent("turn.waiting", {"on": "tasks"}, "turn")
        tasks = tuple(replace(task, announced=True) for task in session.tasks)
        return session.with_agenda(
            held, *announce_tasks(session, ChildPurpose.SETTLE), SettleTask(), tasks=tasks
        )
    done = PublishEvent("turn.completed", level="turn")
    if _is_awaited(session):
        return session.with_agenda(done, PublishEvent("session.completed", level="session"), Idle(ended=True))
    return session.with_agenda(done, wait_for_user(session), Idle())


def _is_awaited(session: SessionState) -> bool:
    return session.agent.delegated and session.rules.delegation is Delegation.AWAITED


def wait_for_user(session: SessionState) -> PublishEvent:
    """Return the event that the session waits for its user."""
    token = {"continuationToken": session.token} if session.rules.tells_token else {}
    return PublishEvent("session.waiting", {**token, "wait": "next-user-message"}, "session")


def fail_step(session: SessionState, thrown: Thrown, name: str = "") -> SessionState:
    """Fail the model's step, because of the model or a hook. Changes of the step are undone."""
    assert session.mark is not None
    kept = session.mark.session.history
    session, digits = session.number()
    told = data.failure_data(data.MODEL_FAILED, thrown.message, format_error_id(digits), thrown.text, name)
    terminal = {"terminal": False} if session.rules.tells_terminal else {}
    cascade = PublishEvent("step.failed", told), PublishEvent("turn.failed", {**told, **terminal}, "turn")
    ending = _after_failure(session, told, thrown.message)
    return session.with_agenda(*cascade, *ending, history=kept, falling=True, tasks=())


def fail_turn(session: SessionState, thrown: Thrown) -> SessionState:
    """Fail the turn because a hook threw (seed 002)."""
    told = {"code": session.rules.hook_failed, "message": thrown.message}
    ending = _after_failure(session, told, thrown.message)
    return session.with_agenda(PublishEvent("turn.failed", told, "turn"), *ending, falling=True)


def _after_failure(session: SessionState, told: Mapping[str, Any], message: str) -> tuple[Action, ...]:
    if _is_awaited(session):
        return _session_failed(session, told), Idle(ended=True, failure=message)
    cancelled_tasks = stop_tasks(session, "turn_ended")
    return (
        wait_for_user(session),
        *cancelled_tasks,
        *announce_tasks(session, ChildPurpose.NOTHING),
        Idle(failure=message),
    )


def _session_failed(session: SessionState, told: Mapping[str, Any], *, heard: bool = True) -> PublishEvent:
    return PublishEvent("session.failed", {**told, "sessionId": session.id}, "session", heard=heard)


def fail_session(session: SessionState, thrown: Thrown) -> SessionState:
    """Fail the session because a hook threw in the failure cascade (seed 002)."""
    told = {"code": session.rules.hook_failed, "message": thrown.message}
    rest = Idle(ended=True, failure=thrown.message)
    return session.with_agenda(_session_failed(session, told), rest)


def repeat_step(session: SessionState, thrown: Thrown) -> SessionState:
    """Run the step again. After its last attempt the session fails, and no hook receives that event."""
    mark, rules = session.mark, session.rules
    assert mark is not None
    tries = mark.tries + 1
    if tries < rules.attempts:
        return replace(mark.session, mark=replace(mark, tries=tries), made=session.made)
    session, digits = session.number()
    message = rules.repeated.format(error=thrown.message)
    told = data.failure_data(rules.hook_failed, message, format_error_id(digits), message, rules.hook_failed)
    rest = Idle(ended=True, failure=message)
    return session.with_agenda(_session_failed(session, told, heard=False), rest)


def cancel_turn(session: SessionState) -> SessionState:
    """Cancel the turn for a hook: changes of its step are undone, the message stays (eve 14)."""
    assert session.mark is not None
    cancel = (PublishEvent("turn.cancelled", level="turn"),) if session.in_turn else ()
    kept = (*session.mark.session.history, *session.mark.keeps)
    return session.with_agenda(
        *stop_tasks(session, "turn_cancelled"),
        *cancel,
        wait_for_user(session),
        *announce_tasks(session, ChildPurpose.NOTHING),
        Idle(),
        history=kept,
        tasks=(),
        said="",
    )


STOP, TOOL_CALLS = "stop", "tool-calls"


def open_turn(session: SessionState, message: str) -> SessionState:
    """Begin the turn of a new message."""
    entry = ConversationEntry("user", message)
    received: dict[str, Any] = {"message": message}
    if session.rules.parts:
        received["parts"] = [{"type": "text", "text": message}]
    runtime = {"runtime": dict(session.rules.runtime(session.agent))}
    first = () if session.started else (PublishEvent("session.started", runtime, "session"),)
    return session.with_agenda(
        BeginStep(keeps=(entry,)),
        AddEntry((entry,)),
        *first,
        PublishEvent("turn.started", level="turn"),
        PublishEvent("message.received", received, "turn"),
        *model_step(session),
    )


def continue_after_reply(session: SessionState, reply: ModelReply, *, again: bool) -> SessionState:
    """Continue after the model's reply. `is_retry`: its reply before this one was empty."""
    if reply.failure is not None:
        return fail_step(session, reply.failure)
    session = replace(session, said=reply.text)
    begun = tuple(_pieces(session, reply))
    if reply.calls:
        return _run_calls(session.with_agenda(*begun), reply)
    if reply.text.strip() or not _must_answer(session):
        return session.with_agenda(*begun, _step_completed(STOP), CloseTurn())
    if not again:
        return session.with_agenda(*begun, QueryModel(again=True))
    rules = session.rules
    unanswered = fail_step(session, Thrown(rules.no_answer, ""), rules.no_answer_name)
    return replace(unanswered, agenda=(*begun, *unanswered.agenda))


def _must_answer(session: SessionState) -> bool:
    return session.rules.empty_fails or session.agent.delegated


def _pieces(session: SessionState, reply: ModelReply) -> Iterator[PublishEvent]:
    """Yield the events of the reply's text: appended, and completed."""
    if reply.text:
        so_far = {"messageSoFar": reply.text} if session.rules.so_far else {}
        yield PublishEvent("message.appended", {"messageDelta": reply.text, **so_far}, inside=True)
    if reply.text.strip():
        held = session.agent.delegated and session.tasks  # not the final message yet
        reason = TOOL_CALLS if reply.calls or held else STOP
        yield PublishEvent("message.completed", {"finishReason": reason, "message": reply.text}, inside=True)


def _step_completed(reason: str) -> PublishEvent:
    return PublishEvent("step.completed", {"finishReason": reason}, inside=True)


def _run_calls(session: SessionState, reply: ModelReply) -> SessionState:
    """Run tools within the step, subagents after it."""
    calls = [replace(call, input={} if call.input is None else call.input) for call in reply.calls]
    tools = tuple(call for call in calls if call.name in session.agent.tools and not call.refused)
    others = tuple(call for call in calls if call not in tools and _is_subagents(call, session))
    refused = tuple(_refused_result(call) for call in calls if call not in tools and call not in others)
    asked = (_requested_action(call, session) for call in calls if call in tools or call in others)
    awaited = bool(others) and session.rules.delegation is Delegation.AWAITED
    agenda = *session.agenda, *asked, RunTools(tools, refused, held=awaited), _step_completed(TOOL_CALLS)
    if not others:
        return session.with_agenda(*agenda, BeginStep(), NextStep(), *model_step(session))
    session, children = with_children(session, others)
    if not awaited:
        return start_tasks(session.with_agenda(*agenda), children, others)
    heard = session.rules.tells_calls
    told = (
        PublishEvent("subagent.called", subagent_called(child, session), "turn", heard=heard)
        for child in children
    )
    return session.with_agenda(*agenda, *told, RunChildren(children, others, ChildPurpose.JOIN))


def _is_subagents(call: ToolCall, session: SessionState) -> bool:
    if call.name not in session.agent.subagents:
        return False
    return not session.rules.wants_message or isinstance(subagent_message(call), str)


def _refused_result(call: ToolCall) -> ConversationEntry:
    """Return the result of a refused call. No event reports it; only the model reads it."""
    why = call.refused or f"there is nothing to call as {call.name} with this"
    return ConversationEntry("tool", call=call, output=why, failed=True)


def _requested_action(call: ToolCall, session: SessionState) -> PublishEvent:
    if call.name in session.agent.tools:
        return PublishEvent("actions.requested", {"actions": [data.tool_action(call)]}, inside=True)
    told: dict[str, Any] = {"actions": [data.subagent_action(call, session.agent.subagents[call.name])]}
    if session.rules.labels:
        told["presentation"] = data.call_label(call)
    return PublishEvent("actions.requested", told, inside=True)


def continue_after_tools(session: SessionState, use: RunTools, results: Sequence[ToolResult]) -> SessionState:
    """Continue after tools: results are in order of ending in the stream, of calling in the conversation."""
    names = {call.id: call.name for call in use.calls}
    told = (
        PublishEvent("action.result", data.tool_result(result, names[result.id], session.rules), inside=True)
        for result in session.rules.in_order_of_ending(results)
    )
    found = (_result_entry(call, result) for call, result in zip(use.calls, results, strict=True))
    entries = *use.refused, *found
    if use.held:
        return session.with_agenda(*told, *session.agenda, held=entries)
    return session.with_agenda(*told, AddEntry(entries), *session.agenda)


def _result_entry(call: ToolCall, result: ToolResult) -> ConversationEntry:
    failure = result.failure
    output = result.output if failure is None else failure.text
    return ConversationEntry("tool", call=call, output=output, failed=failure is not None)
