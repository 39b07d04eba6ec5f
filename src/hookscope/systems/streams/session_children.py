"""The subagents of a session: called and waited for, or begun as tasks that are settled later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hookscope.systems.streams import session_data as data
from hookscope.systems.streams.session_acts import (
    Act,
    Add,
    Begin,
    Delegate,
    For,
    NextStep,
    Open,
    Say,
    Session,
    Task,
    letters,
    session_id,
    step,
)
from hookscope.systems.streams.session_words import ChildSession, Entry, Outcome, ToolCall

STOPPED = "cancelled with its turn, before it had ended"  # what the model reads of such a call


def message_of(call: ToolCall) -> object:
    """What a call asks its subagent; None where it asks nothing."""
    return call.input.get("message") if isinstance(call.input, Mapping) else None


def with_children(session: Session, calls: Sequence[ToolCall]) -> tuple[Session, tuple[ChildSession, ...]]:
    """The subagents of these calls, each with a session of its own, and ours with its numbers taken."""
    children = []
    for call in calls:
        session, digits = session.number()
        node, message = session.agent.subagents[call.name], message_of(call)
        text = message if isinstance(message, str) else ""
        children.append(ChildSession(call.name, node, text, call.id, session_id(digits), session.turn_id))
    return session, tuple(children)


def subagent_called(child: ChildSession, session: Session) -> dict[str, Any]:
    """The data of `subagent.called`."""
    return {
        "callId": child.call,
        "childSessionId": child.session,
        "sessionId": session.id,
        "name": child.agent,
        "toolName": child.agent,
        "workflowId": session.rules.workflow,
    }


def joined(session: Session, delegate: Delegate, outcomes: Sequence[Outcome]) -> Session:
    """Subagents that the step has waited for are done: the same step of the turn asks the model again.

    Where that fails, the conversation knows nothing of the calls (recorded with 0.18.1).
    """
    told: list[Act] = []
    entries = list(session.held)
    for call, outcome in zip(delegate.calls, outcomes, strict=True):
        result = data.subagent_result(call, outcome.output, outcome.failure)
        if outcome.failure is None:
            done = {"callId": call.id, "output": outcome.output, "subagentName": call.name}
            told.append(Say("subagent.completed", done, "session"))
        told.append(Say("action.result", result))
        output = result["result"]["output"]
        entries.append(Entry("tool", call=call, output=output, failed=outcome.failure is not None))
    return session.with_agenda(Begin(), *told, Add(tuple(entries)), *step(session))


def as_tasks(session: Session, children: Sequence[ChildSession], calls: Sequence[ToolCall]) -> Session:
    """Each call is answered with a receipt, and the turn goes on."""
    tasks = []
    for child, call in zip(children, calls, strict=True):
        session, digits = session.number()
        tasks.append(Task(f"{child.agent}-{letters(digits, 6)}", child, call))
    receipts = [session.rules.receipt.format(task=task.id, name=task.child.agent) for task in tasks]
    pairs = list(zip(calls, receipts, strict=True))
    return session.with_agenda(
        *session.agenda,
        Begin(keeps=tuple(Entry("tool", call=call, output=STOPPED) for call in calls)),
        Open(tuple(tasks)),
        *(Say("task.started", _task(task), "session") for task in tasks),
        *(Say("action.result", data.receipt(call, text)) for call, text in pairs),
        Add(tuple(Entry("tool", call=call, output=text) for call, text in pairs)),
        Begin(),
        NextStep(),
        *step(session),
    )


def _task(task: Task, **more: Any) -> dict[str, Any]:
    name, call, turn = task.child.agent, task.child.call, task.child.turn
    return {"callId": call, "kind": "agent", "name": name, "taskId": task.id, "turnId": turn, **more}


def _agent_started(task: Task, session: Session) -> Say:
    child = task.child
    path = session.rules.stream_path.format(session=child.session)
    told = {"callId": child.call, "turnId": child.turn, "name": child.agent, "sessionId": child.session}
    return Say("agent.started", {**told, "streamPath": path, "taskId": task.id}, "session")


def announced(session: Session, purpose: For) -> tuple[Act, ...]:
    """The sessions of tasks that nobody has heard of are told, and played."""
    new = [task for task in session.tasks if not task.announced]
    if not new:
        return ()
    played = Delegate(tuple(task.child for task in new), tuple(task.call for task in new), purpose)
    return (*(_agent_started(task, session) for task in new), played)


def settled(session: Session) -> Session:
    """The first task with an outcome is settled, and the model is asked again."""
    task = next(task for task in session.tasks if task.outcome is not None)
    rest = tuple(other for other in session.tasks if other is not task)
    outcome = task.outcome
    assert outcome is not None
    if outcome.failure is None:
        text = outcome.output
        end: dict[str, Any] = {"status": "completed", "output": text}
    else:
        text = session.rules.task_failed.format(error=outcome.failure, name=task.child.agent)
        end = {"status": "failed", "error": {"message": text}}
    return session.with_agenda(
        Say("task.settled", _task(task, **end), "session"),
        Add((Entry("note", f"{task.id}: {text}"),)),
        Begin(),
        NextStep(),
        *step(session),
        tasks=rest,
    )


def stopped(session: Session, reason: str) -> tuple[Say, ...]:
    """That tasks which have not ended are cancelled with their turn, and why."""
    end: dict[str, Any] = {"status": "cancelled", "cancel": {"reason": reason}}
    return tuple(Say("task.settled", _task(task, **end), "session") for task in session.tasks)
