"""Subagents of a session: called and awaited, or started as tasks that are settled later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hookscope.hosts.streams import session_state
from hookscope.hosts.streams.session_messages import ChildOutcome, ChildSession, ConversationEntry, ToolCall
from hookscope.hosts.streams.session_state import (
    Action,
    AddEntry,
    BeginStep,
    ChildPurpose,
    NextStep,
    OpenTasks,
    PublishEvent,
    RunChildren,
    SessionState,
    SubagentTask,
    format_session_id,
    id_letters,
    model_step,
)

STOPPED_REASON = "cancelled with its turn before it ended"  # what the model reads as result


def subagent_message(call: ToolCall) -> object:
    """Return the message of a call to a subagent; None if the call has no message."""
    return call.input.get("message") if isinstance(call.input, Mapping) else None


def with_children(
    session: SessionState, calls: Sequence[ToolCall]
) -> tuple[SessionState, tuple[ChildSession, ...]]:
    """Return the session with the new ids counted, and a child session for each call."""
    children = []
    for call in calls:
        session, digits = session.next_number()
        node, message = session.agent.subagents[call.name], subagent_message(call)
        text = message if isinstance(message, str) else ""
        children.append(
            ChildSession(call.name, node, text, call.id, format_session_id(digits), session.turn_id)
        )
    return session, tuple(children)


def subagent_called(child: ChildSession, session: SessionState) -> dict[str, Any]:
    """Return the data of `subagent.called`."""
    return {
        "callId": child.call,
        "childSessionId": child.session,
        "sessionId": session.id,
        "name": child.agent,
        "toolName": child.agent,
        "workflowId": session.rules.workflow_id,
    }


def join_children(
    session: SessionState, action: RunChildren, outcomes: Sequence[ChildOutcome]
) -> SessionState:
    """Continue after awaited subagents: the same step of the turn queries the model again.

    If the query fails, the conversation does not contain the calls (recorded with 0.18.1).
    """
    events: list[Action] = []
    entries = list(session.deferred_entries)
    for call, outcome in zip(action.calls, outcomes, strict=True):
        result = session_state.subagent_result(call, outcome.output, outcome.failure)
        if outcome.failure is None:
            completed = {"callId": call.id, "output": outcome.output, "subagentName": call.name}
            events.append(PublishEvent("subagent.completed", completed, "session"))
        events.append(PublishEvent("action.result", result))
        output = result["result"]["output"]
        entries.append(
            ConversationEntry("tool", call=call, output=output, failed=outcome.failure is not None)
        )
    return session.with_agenda(BeginStep(), *events, AddEntry(tuple(entries)), *model_step(session))


def start_tasks(
    session: SessionState, children: Sequence[ChildSession], calls: Sequence[ToolCall]
) -> SessionState:
    """Answer each call with a receipt, and continue the turn."""
    tasks = []
    for child, call in zip(children, calls, strict=True):
        session, digits = session.next_number()
        tasks.append(SubagentTask(f"{child.agent}-{id_letters(digits, 6)}", child, call))
    receipts = [session.rules.receipt.format(task=task.id, name=task.child.agent) for task in tasks]
    pairs = list(zip(calls, receipts, strict=True))
    return session.with_agenda(
        *session.agenda,
        BeginStep(
            kept_entries=tuple(ConversationEntry("tool", call=call, output=STOPPED_REASON) for call in calls)
        ),
        OpenTasks(tuple(tasks)),
        *(PublishEvent("task.started", _task(task), "session") for task in tasks),
        *(PublishEvent("action.result", session_state.task_receipt(call, text)) for call, text in pairs),
        AddEntry(tuple(ConversationEntry("tool", call=call, output=text) for call, text in pairs)),
        BeginStep(),
        NextStep(),
        *model_step(session),
    )


def _task(task: SubagentTask, **members: Any) -> dict[str, Any]:
    name, call, turn = task.child.agent, task.child.call, task.child.turn
    return {"callId": call, "kind": "agent", "name": name, "taskId": task.id, "turnId": turn, **members}


def _agent_started(task: SubagentTask, session: SessionState) -> PublishEvent:
    child = task.child
    path = session.rules.stream_path.format(session=child.session)
    event_data = {"callId": child.call, "turnId": child.turn, "name": child.agent, "sessionId": child.session}
    return PublishEvent("agent.started", {**event_data, "streamPath": path, "taskId": task.id}, "session")


def announce_tasks(session: SessionState, purpose: ChildPurpose) -> tuple[Action, ...]:
    """Return the actions that announce new tasks and run their sessions."""
    new = [task for task in session.tasks if not task.announced]
    if not new:
        return ()
    run = RunChildren(tuple(task.child for task in new), tuple(task.call for task in new), purpose)
    return (*(_agent_started(task, session) for task in new), run)


def settle_task(session: SessionState) -> SessionState:
    """Settle the first task with an outcome, and query the model again."""
    task = next(task for task in session.tasks if task.outcome is not None)
    remaining = tuple(other for other in session.tasks if other is not task)
    outcome = task.outcome
    assert outcome is not None
    if outcome.failure is None:
        text = outcome.output
        end: dict[str, Any] = {"status": "completed", "output": text}
    else:
        text = session.rules.task_failed.format(error=outcome.failure, name=task.child.agent)
        end = {"status": "failed", "error": {"message": text}}
    return session.with_agenda(
        PublishEvent("task.settled", _task(task, **end), "session"),
        AddEntry((ConversationEntry("note", f"{task.id}: {text}"),)),
        BeginStep(),
        NextStep(),
        *model_step(session),
        tasks=remaining,
    )


def stop_tasks(session: SessionState, reason: str) -> tuple[PublishEvent, ...]:
    """Return the events that cancel all open tasks, for this `reason`."""
    end: dict[str, Any] = {"status": "cancelled", "cancel": {"reason": reason}}
    return tuple(PublishEvent("task.settled", _task(task, **end), "session") for task in session.tasks)
