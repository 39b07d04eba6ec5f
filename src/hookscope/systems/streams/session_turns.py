"""The agendas of a session: how a turn begins, what follows a reply, how it ends, fails or is cancelled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hookscope.systems.streams import session_data as data
from hookscope.systems.streams.session_acts import (
    Act,
    Add,
    Begin,
    Close,
    Delegate,
    For,
    NextStep,
    Open,
    Rest,
    Say,
    Session,
    SettleOne,
    Task,
    Think,
    Use,
    error_id,
    letters,
    session_id,
)
from hookscope.systems.streams.session_rules import Delegation
from hookscope.systems.streams.session_words import (
    Child,
    Entry,
    Outcome,
    Reply,
    Thrown,
    ToolCall,
    ToolResult,
)

STOP, TOOL_CALLS = "stop", "tool-calls"
STOPPED = "cancelled with its turn, before it had ended"  # what the model reads of such a call


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


def step(session: Session) -> tuple[Act, ...]:
    """The model is asked."""
    told = {"modelId": session.rules.model} if session.rules.names_model else {}
    return Say("step.started", told), Think()


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
    tools = tuple(call for call in calls if call.name in session.agent.tools)
    others = tuple(call for call in calls if call not in tools and _is_subagents(call, session))
    refused = tuple(_refused(call) for call in calls if call not in tools and call not in others)
    asked = (_requested(call, session) for call in calls if call in tools or call in others)
    awaited = bool(others) and session.rules.delegation is Delegation.AWAITED
    agenda = *session.agenda, *asked, Use(tools, refused, held=awaited), _step_completed(TOOL_CALLS)
    if not others:
        return session.with_agenda(*agenda, Begin(), NextStep(), *step(session))
    session, children = _children(session, others)
    if not awaited:
        return _as_tasks(session.with_agenda(*agenda), children, others)
    heard = session.rules.tells_calls
    told = (
        Say("subagent.called", _subagent_called(child, session), "turn", heard=heard) for child in children
    )
    return session.with_agenda(*agenda, *told, Delegate(children, others, For.JOIN))


def _is_subagents(call: ToolCall, session: Session) -> bool:
    if call.name not in session.agent.subagents:
        return False
    return not session.rules.wants_message or isinstance(_message_of(call), str)


def _message_of(call: ToolCall) -> object:
    return call.input.get("message") if isinstance(call.input, Mapping) else None


def _refused(call: ToolCall) -> Entry:
    """No event tells of such a call; the model alone reads of it."""
    return Entry("tool", call=call, output=f"there is nothing to call as {call.name} with this", failed=True)


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


# Subagents.


def _children(session: Session, calls: Sequence[ToolCall]) -> tuple[Session, tuple[Child, ...]]:
    children = []
    for call in calls:
        session, digits = session.number()
        node, message = session.agent.subagents[call.name], _message_of(call)
        text = message if isinstance(message, str) else ""
        children.append(Child(call.name, node, text, call.id, session_id(digits), session.turn_id))
    return session, tuple(children)


def _subagent_called(child: Child, session: Session) -> dict[str, Any]:
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


def _as_tasks(session: Session, children: Sequence[Child], calls: Sequence[ToolCall]) -> Session:
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


def _announced(session: Session, purpose: For) -> tuple[Act, ...]:
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


# Ends.


def closed(session: Session) -> Session:
    """The model has spoken: the turn ends, or waits for its tasks."""
    if session.tasks:
        held = Say("turn.waiting", {"on": "tasks"}, "turn")
        tasks = tuple(replace(task, announced=True) for task in session.tasks)
        return session.with_agenda(held, *_announced(session, For.SETTLE), SettleOne(), tasks=tasks)
    done = Say("turn.completed", level="turn")
    if _is_awaited(session):
        return session.with_agenda(done, Say("session.completed", level="session"), Rest(ended=True))
    return session.with_agenda(done, waiting(session), Rest())


def _is_awaited(session: Session) -> bool:
    return session.agent.delegated and session.rules.delegation is Delegation.AWAITED


def waiting(session: Session) -> Say:
    """That the session waits for its user."""
    token = {"continuationToken": session.token} if session.rules.tells_token else {}
    return Say("session.waiting", {**token, "wait": "next-user-message"}, "session")


def failed(session: Session, thrown: Thrown, name: str = "") -> Session:
    """The model's step has failed, by the model or by a hook. What the step had brought is undone."""
    assert session.mark is not None
    kept = session.mark.session.history
    session, digits = session.number()
    told = data.failure_data(data.MODEL_FAILED, thrown.message, error_id(digits), thrown.text, name)
    terminal = {"terminal": False} if session.rules.tells_terminal else {}
    cascade = Say("step.failed", told), Say("turn.failed", {**told, **terminal}, "turn")
    ending = _after_failure(session, told, thrown.message)
    return session.with_agenda(*cascade, *ending, history=kept, falling=True, tasks=())


def surfaced(session: Session, thrown: Thrown) -> Session:
    """A hook's throw fails its turn (seed 002)."""
    told = {"code": session.rules.hook_failed, "message": thrown.message}
    ending = _after_failure(session, told, thrown.message)
    return session.with_agenda(Say("turn.failed", told, "turn"), *ending, falling=True)


def _after_failure(session: Session, told: Mapping[str, Any], message: str) -> tuple[Act, ...]:
    if _is_awaited(session):
        return _session_failed(session, told), Rest(ended=True, failure=message)
    stopped = _stopped(session, "turn_ended")
    return (waiting(session), *stopped, *_announced(session, For.NOTHING), Rest(failure=message))


def _stopped(session: Session, reason: str) -> tuple[Say, ...]:
    end: dict[str, Any] = {"status": "cancelled", "cancel": {"reason": reason}}
    return tuple(Say("task.settled", _task(task, **end), "session") for task in session.tasks)


def _session_failed(session: Session, told: Mapping[str, Any], *, heard: bool = True) -> Say:
    return Say("session.failed", {**told, "sessionId": session.id}, "session", heard=heard)


def escalated(session: Session, thrown: Thrown) -> Session:
    """A hook's throw in the cascade fails the session (seed 002)."""
    told = {"code": session.rules.hook_failed, "message": thrown.message}
    rest = Rest(ended=True, failure=thrown.message)
    return session.with_agenda(_session_failed(session, told), rest)


def repeated(session: Session, thrown: Thrown) -> Session:
    """The step is run from its beginning; after its last attempt the session fails, and no hook hears it."""
    mark, rules = session.mark, session.rules
    assert mark is not None
    tries = mark.tries + 1
    if tries < rules.attempts:
        return replace(mark.session, mark=replace(mark, tries=tries), made=session.made)
    session, digits = session.number()
    message = rules.repeated.format(error=thrown.message)
    told = data.failure_data(rules.hook_failed, message, error_id(digits), message, rules.hook_failed)
    rest = Rest(ended=True, failure=message)
    return session.with_agenda(_session_failed(session, told, heard=False), rest)


def cancelled(session: Session) -> Session:
    """A hook has cancelled the turn: what its step had brought is undone, the message stays (eve 14)."""
    assert session.mark is not None
    cancel = (Say("turn.cancelled", level="turn"),) if session.in_turn else ()
    kept = (*session.mark.session.history, *session.mark.keeps)
    return session.with_agenda(
        *_stopped(session, "turn_cancelled"),
        *cancel,
        waiting(session),
        *_announced(session, For.NOTHING),
        Rest(),
        history=kept,
        tasks=(),
        said="",
    )
