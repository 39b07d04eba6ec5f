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
    made = SessionState(rules, agent, id, seed, id)
    if id:
        return replace(made, token=f"{id}:0" if agent.delegated else id)
    made, digits = made.number()
    return replace(made, id=format_session_id(digits), token=format_session_id(digits))


def advance_session(session: SessionState, given: SessionInput) -> tuple[SessionState, SessionCommand]:
    """Return the next state of the session, and its next command.

    Raises ValueError for an input that answers no pending command.
    """
    match session.asked, given:
        case None | Idle(ended=False), UserMessage(text):
            return _proceed(turns.open_turn(session, text))
        case PublishEvent() as said, Published():
            return _proceed(_after_publish(session, said, given))
        case QueryModel(again), ModelReply():
            return _proceed(turns.continue_after_reply(session, given, again=again))
        case RunTools() as use, ToolResults(results) if len(results) == len(use.calls):
            return _proceed(turns.continue_after_tools(session, use, results))
        case RunChildren() as delegate, ChildOutcomes(outcomes) if len(outcomes) == len(delegate.children):
            return _proceed(_after_children(session, delegate, given))
    raise ValueError(f"{type(given).__name__} answers nothing that this session has asked for")


def _proceed(session: SessionState) -> tuple[SessionState, SessionCommand]:
    """Perform the actions of the agenda until one needs an answer from outside."""
    while True:
        act, *rest = session.agenda
        session = replace(session, agenda=tuple(rest), asked=act)
        match act:
            case PublishEvent():
                return session, Publish(act.type, session.data_of(act), act.heard)
            case QueryModel():
                return session, AskModel(session.history, session.step)
            case RunTools(calls=()):
                session = turns.continue_after_tools(session, act, ())
            case RunTools(calls):
                return session, CallTools(calls)
            case RunChildren(children):
                return session, StartChildren(children)
            case Idle(ended, failure):
                return session, (SessionFinished if ended else WaitingForUser)(session.said, failure)
            case BeginStep(keeps):
                session = replace(session, mark=StepCheckpoint(replace(session, mark=None), keeps))
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


def _after_publish(session: SessionState, said: PublishEvent, told: Published) -> SessionState:
    if told.thrown is not None and said.heard and session.rules.throw is not ThrowEffect.LOGGED:
        return _after_throw(session, said, told.thrown)
    session = _apply_event(session, said.type)
    if told.cancelled and said.heard and session.rules.cancels(said.type):
        return ends.cancel_turn(session)
    return session


def _apply_event(session: SessionState, kind: str) -> SessionState:
    """Return the session after an event that is on record."""
    if kind == "session.started":
        return replace(session, started=True)
    if kind == "turn.started":
        return replace(session, in_turn=True, step=0)
    if kind in TURN_ENDS:
        turns_so_far = session.sequence + session.in_turn
        return replace(session, in_turn=False, falling=False, sequence=turns_so_far, step=0)
    return session


def _after_throw(session: SessionState, said: PublishEvent, thrown: Thrown) -> SessionState:
    if session.rules.throw is ThrowEffect.REPEATS:
        return ends.fail_step(session, thrown) if said.inside else ends.repeat_step(session, thrown)
    if said.type == "session.failed":  # nothing is left to fail
        return _apply_event(session, said.type)
    if session.falling or said.type in FAILURE_EVENTS:
        return ends.fail_session(session, thrown)
    if said.type not in TURN_ENDS:
        session = _apply_event(session, said.type)
    return ends.fail_turn(session, thrown)


def _after_children(session: SessionState, delegate: RunChildren, given: ChildOutcomes) -> SessionState:
    if delegate.purpose is ChildPurpose.NOTHING:
        return session
    if delegate.purpose is ChildPurpose.JOIN:
        return subagents.join_children(session, delegate, given.outcomes)
    outcome_of = {child.session: one for child, one in zip(delegate.children, given.outcomes, strict=True)}
    tasks = (
        replace(task, outcome=outcome_of.get(task.child.session, task.outcome)) for task in session.tasks
    )
    return replace(session, tasks=tuple(tasks))
