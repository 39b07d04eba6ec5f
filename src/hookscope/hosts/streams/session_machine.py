"""An agent's session as a pure state machine: a state and an input give the next state and one command.

A turn is an agenda of actions, done one after another. An action that the session cannot do alone (publish
an event, query the model) becomes a command and waits for the answer; a throw or a cancel replaces the
agenda. `session_rules` has the differences between versions of the host.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hookscope.hosts.streams import session_state
from hookscope.hosts.streams import session_subagents as subagents
from hookscope.hosts.streams.session_messages import (
    AskModel,
    CallTools,
    ChildOutcomes,
    ConversationEntry,
    ModelReply,
    Publish,
    Published,
    SessionAgent,
    SessionCommand,
    SessionFinished,
    SessionInput,
    StartChildren,
    Thrown,
    ToolCall,
    ToolResult,
    ToolResults,
    UserMessage,
    WaitingForUser,
)
from hookscope.hosts.streams.session_rules import Delegation, SessionRules, ThrowEffect
from hookscope.hosts.streams.session_state import (
    Action,
    AddEntry,
    BeginStep,
    ChildPurpose,
    CloseTurn,
    Idle,
    NextStep,
    OpenTasks,
    PublishEvent,
    QueryModel,
    RunChildren,
    RunTools,
    SessionState,
    SettleTask,
    StepCheckpoint,
    format_error_id,
    format_session_id,
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
    """Return the event that reports that the session waits for the user's next message."""
    token = {"continuationToken": session.token} if session.rules.includes_token else {}
    return PublishEvent("session.waiting", {**token, "wait": "next-user-message"}, "session")


def fail_step(session: SessionState, thrown: Thrown, name: str = "") -> SessionState:
    """Fail the model's step, because of the model or a hook. Changes made in the step are undone."""
    assert session.checkpoint is not None
    kept = session.checkpoint.session.history
    session, digits = session.next_number()
    failure = session_state.failure_data(
        session_state.MODEL_FAILED, thrown.message, format_error_id(digits), thrown.text, name
    )
    terminal = {"terminal": False} if session.rules.includes_terminal else {}
    cascade = (
        PublishEvent("step.failed", failure),
        PublishEvent("turn.failed", {**failure, **terminal}, "turn"),
    )
    ending = _after_failure(session, failure, thrown.message)
    return session.with_agenda(*cascade, *ending, history=kept, is_failing=True, tasks=())


def fail_turn(session: SessionState, thrown: Thrown) -> SessionState:
    """Fail the turn because a hook threw (Eve's guide)."""
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
    """Fail the session because a hook threw in the failure cascade (Eve's guide)."""
    failure = {"code": session.rules.hook_failed_code, "message": thrown.message}
    rest = Idle(ended=True, failure=thrown.message)
    return session.with_agenda(_session_failed(session, failure), rest)


def repeat_step(session: SessionState, thrown: Thrown) -> SessionState:
    """Run the step again; after the last attempt, fail the session with an event that no hook receives."""
    checkpoint, rules = session.checkpoint, session.rules
    assert checkpoint is not None
    attempts = checkpoint.attempts + 1
    if attempts < rules.max_attempts:
        return replace(
            checkpoint.session, checkpoint=replace(checkpoint, attempts=attempts), ids_made=session.ids_made
        )
    session, digits = session.next_number()
    message = rules.attempts_failed_text.format(error=thrown.message)
    failure = session_state.failure_data(
        rules.hook_failed_code, message, format_error_id(digits), message, rules.hook_failed_code
    )
    rest = Idle(ended=True, failure=message)
    return session.with_agenda(_session_failed(session, failure, reaches_hooks=False), rest)


def cancel_turn(session: SessionState) -> SessionState:
    """Cancel the turn at a hook's request: the changes of the current step are undone, the message stays."""
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
    """Continue after the model's reply. `is_retry`: the previous reply was empty."""
    if reply.failure is not None:
        return fail_step(session, reply.failure)
    session = replace(session, last_text=reply.text)
    reply_events = tuple(_pieces(session, reply))
    if reply.calls:
        return _run_calls(session.with_agenda(*reply_events), reply)
    if reply.text.strip() or not (session.rules.empty_fails or session.agent.delegated):
        return session.with_agenda(*reply_events, _step_completed(STOP), CloseTurn())
    if not is_retry:
        return session.with_agenda(*reply_events, QueryModel(is_retry=True))
    rules = session.rules
    unanswered = fail_step(session, Thrown(rules.no_answer_text, ""), rules.no_answer_name)
    return replace(unanswered, agenda=(*reply_events, *unanswered.agenda))


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
    """Run the called tools within the step, and the called subagents after it."""
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
    reason = call.refusal or f"no tool or subagent called {call.name} accepts this input"
    return ConversationEntry("tool", call=call, output=reason, failed=True)


def _requested_action(call: ToolCall, session: SessionState) -> PublishEvent:
    if call.name in session.agent.tools:
        return PublishEvent(
            "actions.requested", {"actions": [session_state.tool_action(call)]}, in_model_step=True
        )
    event_data: dict[str, Any] = {
        "actions": [session_state.subagent_action(call, session.agent.subagents[call.name])]
    }
    if session.rules.labels_calls:
        event_data["presentation"] = session_state.call_label(call)
    return PublishEvent("actions.requested", event_data, in_model_step=True)


def continue_after_tools(
    session: SessionState, action: RunTools, results: Sequence[ToolResult]
) -> SessionState:
    """Continue after tools: the stream gets the results as they ended, the conversation in call order."""
    names = {call.id: call.name for call in action.calls}
    result_events = (
        PublishEvent(
            "action.result",
            session_state.tool_result(result, names[result.id], session.rules),
            in_model_step=True,
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


FAILURE_EVENTS = ("step.failed", "turn.failed", "session.failed")
TURN_ENDS = ("session.waiting", "session.completed", "session.failed")


def begin_session(rules: SessionRules, agent: SessionAgent, seed: str, id: str = "") -> SessionState:  # noqa: A002  (the host's name)
    """Return a session that waits for its first message.

    All its ids are derived from `seed`; `id` is its own id if it already has one.
    """
    session = SessionState(rules, agent, id, seed, id)
    if id:
        return replace(session, token=f"{id}:0" if agent.delegated else id)
    session, digits = session.next_number()
    return replace(session, id=format_session_id(digits), token=format_session_id(digits))


def advance_session(
    session: SessionState, session_input: SessionInput
) -> tuple[SessionState, SessionCommand]:
    """Return the next state and command. Raises ValueError for an input that answers no pending command."""
    match session.pending_action, session_input:
        case None | Idle(ended=False), UserMessage(text):
            return _proceed(open_turn(session, text))
        case PublishEvent() as publish_action, Published():
            return _proceed(_after_publish(session, publish_action, session_input))
        case QueryModel(is_retry), ModelReply():
            return _proceed(continue_after_reply(session, session_input, is_retry=is_retry))
        case RunTools() as tools_action, ToolResults(results) if len(results) == len(tools_action.calls):
            return _proceed(continue_after_tools(session, tools_action, results))
        case RunChildren() as children_action, ChildOutcomes(outcomes) if len(outcomes) == len(
            children_action.children
        ):
            return _proceed(_after_children(session, children_action, session_input))
    raise ValueError(f"{type(session_input).__name__} answers no request of this session")


def _proceed(session: SessionState) -> tuple[SessionState, SessionCommand]:
    """Perform the actions of the agenda until one needs an answer from outside."""
    while True:
        action, *rest = session.agenda
        session = replace(session, agenda=tuple(rest), pending_action=action)
        match action:
            case PublishEvent():
                return session, Publish(action.type, session.data_of(action), action.reaches_hooks)
            case QueryModel():
                return session, AskModel(session.history, session.step)
            case RunTools(calls=()):
                session = continue_after_tools(session, action, ())
            case RunTools(calls):
                return session, CallTools(calls)
            case RunChildren(children):
                return session, StartChildren(children)
            case Idle(ended, failure):
                return session, (SessionFinished if ended else WaitingForUser)(session.last_text, failure)
            case BeginStep(keeps):
                session = replace(
                    session, checkpoint=StepCheckpoint(replace(session, checkpoint=None), keeps)
                )
            case AddEntry(entries):
                session = replace(session, history=(*session.history, *entries))
            case OpenTasks(tasks):
                session = replace(session, tasks=(*session.tasks, *tasks))
            case NextStep():
                session = replace(session, step=session.step + 1)
            case SettleTask():
                session = subagents.settle_task(session)
            case CloseTurn():
                session = close_turn(session)


def _after_publish(session: SessionState, action: PublishEvent, published: Published) -> SessionState:
    if (
        published.thrown is not None
        and action.reaches_hooks
        and session.rules.throw_effect is not ThrowEffect.LOGGED
    ):
        return _after_throw(session, action, published.thrown)
    session = _apply_event(session, action.type)
    if published.cancelled and action.reaches_hooks and session.rules.is_cancellable(action.type):
        return cancel_turn(session)
    return session


def _apply_event(session: SessionState, kind: str) -> SessionState:
    """Return the session after an event of this type was recorded."""
    if kind == "session.started":
        return replace(session, started=True)
    if kind == "turn.started":
        return replace(session, in_turn=True, step=0)
    if kind in TURN_ENDS:
        turn_count = session.sequence + session.in_turn
        return replace(session, in_turn=False, is_failing=False, sequence=turn_count, step=0)
    return session


def _after_throw(session: SessionState, action: PublishEvent, thrown: Thrown) -> SessionState:
    if session.rules.throw_effect is ThrowEffect.REPEATS:
        return fail_step(session, thrown) if action.in_model_step else repeat_step(session, thrown)
    if action.type == "session.failed":  # nothing is left to fail
        return _apply_event(session, action.type)
    if session.is_failing or action.type in FAILURE_EVENTS:
        return fail_session(session, thrown)
    if action.type not in TURN_ENDS:
        session = _apply_event(session, action.type)
    return fail_turn(session, thrown)


def _after_children(session: SessionState, action: RunChildren, answer: ChildOutcomes) -> SessionState:
    if action.purpose is ChildPurpose.NOTHING:
        return session
    if action.purpose is ChildPurpose.JOIN:
        return subagents.join_children(session, action, answer.outcomes)
    outcome_of = {
        child.session: outcome for child, outcome in zip(action.children, answer.outcomes, strict=True)
    }
    tasks = (
        replace(task, outcome=outcome_of.get(task.child.session, task.outcome)) for task in session.tasks
    )
    return replace(session, tasks=tuple(tasks))
