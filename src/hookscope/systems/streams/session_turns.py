"""The agendas of a turn: how it begins, what follows a reply of the model, what follows its tools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from hookscope.systems.streams import session_data as data
from hookscope.systems.streams.session_acts import (
    Add,
    Begin,
    Close,
    Delegate,
    For,
    NextStep,
    Say,
    Session,
    Think,
    Use,
    step,
)
from hookscope.systems.streams.session_children import as_tasks, message_of, subagent_called, with_children
from hookscope.systems.streams.session_ends import failed
from hookscope.systems.streams.session_rules import Delegation
from hookscope.systems.streams.session_words import Entry, Reply, Thrown, ToolCall, ToolResult

STOP, TOOL_CALLS = "stop", "tool-calls"


def opened(session: Session, message: str) -> Session:
    """A message has come: its turn begins."""
    entry = Entry("user", message)
    received: dict[str, Any] = {"message": message}
    if session.rules.parts:
        received["parts"] = [{"type": "text", "text": message}]
    runtime = {"runtime": dict(session.rules.runtime(session.agent))}
    first = () if session.started else (Say("session.started", runtime, "session"),)
    return session.with_agenda(
        Begin(keeps=(entry,)),
        Add((entry,)),
        *first,
        Say("turn.started", level="turn"),
        Say("message.received", received, "turn"),
        *step(session),
    )


def replied(session: Session, reply: Reply, *, again: bool) -> Session:
    """What follows the model's answer. `again`: it had been asked before, and given none."""
    if reply.failure is not None:
        return failed(session, reply.failure)
    session = replace(session, said=reply.text)
    begun = tuple(_pieces(session, reply))
    if reply.calls:
        return _called(session.with_agenda(*begun), reply)
    if reply.text.strip() or not _must_answer(session):
        return session.with_agenda(*begun, _step_completed(STOP), Close())
    if not again:
        return session.with_agenda(*begun, Think(again=True))
    rules = session.rules
    unanswered = failed(session, Thrown(rules.no_answer, ""), rules.no_answer_name)
    return replace(unanswered, agenda=(*begun, *unanswered.agenda))


def _must_answer(session: Session) -> bool:
    return session.rules.empty_fails or session.agent.delegated


def _pieces(session: Session, reply: Reply) -> Iterator[Say]:
    """The reply's text, as it comes and when it is complete."""
    if reply.text:
        so_far = {"messageSoFar": reply.text} if session.rules.so_far else {}
        yield Say("message.appended", {"messageDelta": reply.text, **so_far}, inside=True)
    if reply.text.strip():
        held = session.agent.delegated and session.tasks  # no last word yet
        reason = TOOL_CALLS if reply.calls or held else STOP
        yield Say("message.completed", {"finishReason": reason, "message": reply.text}, inside=True)


def _step_completed(reason: str) -> Say:
    return Say("step.completed", {"finishReason": reason}, inside=True)


def _called(session: Session, reply: Reply) -> Session:
    """Tools run within the step, subagents after it."""
    calls = [replace(call, input={} if call.input is None else call.input) for call in reply.calls]
    tools = tuple(call for call in calls if call.name in session.agent.tools and not call.refused)
    others = tuple(call for call in calls if call not in tools and _is_subagents(call, session))
    refused = tuple(_refused(call) for call in calls if call not in tools and call not in others)
    asked = (_requested(call, session) for call in calls if call in tools or call in others)
    awaited = bool(others) and session.rules.delegation is Delegation.AWAITED
    agenda = *session.agenda, *asked, Use(tools, refused, held=awaited), _step_completed(TOOL_CALLS)
    if not others:
        return session.with_agenda(*agenda, Begin(), NextStep(), *step(session))
    session, children = with_children(session, others)
    if not awaited:
        return as_tasks(session.with_agenda(*agenda), children, others)
    heard = session.rules.tells_calls
    told = (
        Say("subagent.called", subagent_called(child, session), "turn", heard=heard) for child in children
    )
    return session.with_agenda(*agenda, *told, Delegate(children, others, For.JOIN))


def _is_subagents(call: ToolCall, session: Session) -> bool:
    if call.name not in session.agent.subagents:
        return False
    return not session.rules.wants_message or isinstance(message_of(call), str)


def _refused(call: ToolCall) -> Entry:
    """No event tells of such a call; the model alone reads of it."""
    why = call.refused or f"there is nothing to call as {call.name} with this"
    return Entry("tool", call=call, output=why, failed=True)


def _requested(call: ToolCall, session: Session) -> Say:
    if call.name in session.agent.tools:
        return Say("actions.requested", {"actions": [data.tool_action(call)]}, inside=True)
    told: dict[str, Any] = {"actions": [data.subagent_action(call, session.agent.subagents[call.name])]}
    if session.rules.labels:
        told["presentation"] = data.label(call)
    return Say("actions.requested", told, inside=True)


def used(session: Session, use: Use, results: Sequence[ToolResult]) -> Session:
    """Tools have ended: in the stream as they ended, in the conversation in order of the calls."""
    names = {call.id: call.name for call in use.calls}
    told = (
        Say("action.result", data.tool_result(result, names[result.id], session.rules), inside=True)
        for result in session.rules.in_order_of_ending(results)
    )
    found = (_entry(call, result) for call, result in zip(use.calls, results, strict=True))
    entries = *use.refused, *found
    if use.held:
        return session.with_agenda(*told, *session.agenda, held=entries)
    return session.with_agenda(*told, Add(entries), *session.agenda)


def _entry(call: ToolCall, result: ToolResult) -> Entry:
    failure = result.failure
    output = result.output if failure is None else failure.text
    return Entry("tool", call=call, output=output, failed=failure is not None)
