"""A session of an agent, pure: a state and an input give the next state and one command.

A turn is an agenda of actions, done one after another. Some need something from outside (publish an
event, query the model) and wait for the answer; a throw or a cancel replaces the agenda.
`session_turns` and `session_subagents` write the agendas; `session_rules` says what differs between
versions of a host.
"""

from __future__ import annotations

from dataclasses import replace

from hookscope.hosts.streams import session_subagents as subagents
from hookscope.hosts.streams import session_turns as ends
from hookscope.hosts.streams import session_turns as turns
from hookscope.hosts.streams.session_messages import (
    AskModel,
    CallTools,
    ChildOutcomes,
    ModelReply,
    Publish,
    Published,
    SessionAgent,
    SessionCommand,
    SessionFinished,
    SessionInput,
    StartChildren,
    Thrown,
    ToolResults,
    UserMessage,
    WaitingForUser,
)
from hookscope.hosts.streams.session_rules import SessionRules, ThrowEffect
from hookscope.hosts.streams.session_state import (
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
    format_session_id,
)

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
    """Return the next state of the session, and its next command.

    Raises ValueError for an input that answers no pending command.
    """
    match session.pending_action, session_input:
        case None | Idle(ended=False), UserMessage(text):
            return _proceed(turns.open_turn(session, text))
        case PublishEvent() as publish_action, Published():
            return _proceed(_after_publish(session, publish_action, session_input))
        case QueryModel(is_retry), ModelReply():
            return _proceed(turns.continue_after_reply(session, session_input, is_retry=is_retry))
        case RunTools() as tools_action, ToolResults(results) if len(results) == len(tools_action.calls):
            return _proceed(turns.continue_after_tools(session, tools_action, results))
        case RunChildren() as children_action, ChildOutcomes(outcomes) if len(outcomes) == len(
            children_action.children
        ):
            return _proceed(_after_children(session, children_action, session_input))
    raise ValueError(f"{type(session_input).__name__} answers nothing that this session has asked for")


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
                session = turns.continue_after_tools(session, action, ())
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
                session = ends.close_turn(session)


def _after_publish(session: SessionState, action: PublishEvent, published: Published) -> SessionState:
    if (
        published.thrown is not None
        and action.reaches_hooks
        and session.rules.throw_effect is not ThrowEffect.LOGGED
    ):
        return _after_throw(session, action, published.thrown)
    session = _apply_event(session, action.type)
    if published.cancelled and action.reaches_hooks and session.rules.is_cancellable(action.type):
        return ends.cancel_turn(session)
    return session


def _apply_event(session: SessionState, kind: str) -> SessionState:
    """Return the session after an event that is on record."""
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
        return ends.fail_step(session, thrown) if action.in_model_step else ends.repeat_step(session, thrown)
    if action.type == "session.failed":  # nothing is left to fail
        return _apply_event(session, action.type)
    if session.is_failing or action.type in FAILURE_EVENTS:
        return ends.fail_session(session, thrown)
    if action.type not in TURN_ENDS:
        session = _apply_event(session, action.type)
    return ends.fail_turn(session, thrown)


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
