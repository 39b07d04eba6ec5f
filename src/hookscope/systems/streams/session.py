"""A session of an agent, pure: a state and an input make the next state and one command.

The way of a turn is an agenda: acts that are done one after another. Some ask for something outside (publish
an event, ask the model) and wait for the answer; a throw or a cancel puts another agenda in its place.
`session_turns`, `session_children` and `session_ends` write the agendas; `session_rules` says what differs
between versions of a host.
"""

from __future__ import annotations

from dataclasses import replace

from hookscope.systems.streams import session_children as subagents
from hookscope.systems.streams import session_ends as ends
from hookscope.systems.streams import session_turns as turns
from hookscope.systems.streams.session_acts import (
    Add,
    Begin,
    Close,
    Delegate,
    For,
    Mark,
    NextStep,
    Open,
    Rest,
    Say,
    Session,
    SettleOne,
    Think,
    Use,
    session_id,
)
from hookscope.systems.streams.session_rules import SessionRules, Throw
from hookscope.systems.streams.session_words import (
    AskModel,
    CallTools,
    Command,
    Ended,
    Input,
    Message,
    Outcomes,
    Publish,
    Published,
    Reply,
    SessionAgent,
    StartChildren,
    Thrown,
    ToolResults,
    Waiting,
)

CASCADE = ("step.failed", "turn.failed", "session.failed")
ENDS = ("session.waiting", "session.completed", "session.failed")


def begin(rules: SessionRules, agent: SessionAgent, seed: str, id: str = "") -> Session:  # noqa: A002  (the host's name)
    """A session that waits for its first message. All its ids are made of `seed`; `id` where it has one."""
    made = Session(rules, agent, id, seed, id)
    if id:
        return replace(made, token=f"{id}:0" if agent.delegated else id)
    made, digits = made.number()
    return replace(made, id=session_id(digits), token=session_id(digits))


def advance(session: Session, given: Input) -> tuple[Session, Command]:
    """What becomes of the session, and what it asks for next.

    Raises ValueError for an input that answers nothing it has asked for.
    """
    match session.asked, given:
        case None | Rest(ended=False), Message(text):
            return _proceed(turns.opened(session, text))
        case Say() as said, Published():
            return _proceed(_published(session, said, given))
        case Think(again), Reply():
            return _proceed(turns.replied(session, given, again=again))
        case Use() as use, ToolResults(results) if len(results) == len(use.calls):
            return _proceed(turns.used(session, use, results))
        case Delegate() as delegate, Outcomes(outcomes) if len(outcomes) == len(delegate.children):
            return _proceed(_come_back(session, delegate, given))
    raise ValueError(f"{type(given).__name__} answers nothing that this session has asked for")


def _proceed(session: Session) -> tuple[Session, Command]:
    """Do what is on the agenda, until something is to be asked for."""
    while True:
        act, *rest = session.agenda
        session = replace(session, agenda=tuple(rest), asked=act)
        match act:
            case Say():
                return session, Publish(act.type, session.data_of(act), act.heard)
            case Think():
                return session, AskModel(session.history, session.step)
            case Use(calls=()):
                session = turns.used(session, act, ())
            case Use(calls):
                return session, CallTools(calls)
            case Delegate(children):
                return session, StartChildren(children)
            case Rest(ended, failure):
                return session, (Ended if ended else Waiting)(session.said, failure)
            case Begin(keeps):
                session = replace(session, mark=Mark(replace(session, mark=None), keeps))
            case Add(entries):
                session = replace(session, history=(*session.history, *entries))
            case Open(tasks):
                session = replace(session, tasks=(*session.tasks, *tasks))
            case NextStep():
                session = replace(session, step=session.step + 1)
            case SettleOne():
                session = subagents.settled(session)
            case Close():
                session = ends.closed(session)


def _published(session: Session, said: Say, told: Published) -> Session:
    if told.thrown is not None and said.heard and session.rules.throw is not Throw.LOGGED:
        return _thrown(session, said, told.thrown)
    session = _after(session, said.type)
    if told.cancelled and said.heard and session.rules.cancels(said.type):
        return ends.cancelled(session)
    return session


def _after(session: Session, kind: str) -> Session:
    """What an event that is on record makes true."""
    if kind == "session.started":
        return replace(session, started=True)
    if kind == "turn.started":
        return replace(session, in_turn=True, step=0)
    if kind in ENDS:
        turns_so_far = session.sequence + session.in_turn
        return replace(session, in_turn=False, falling=False, sequence=turns_so_far, step=0)
    return session


def _thrown(session: Session, said: Say, thrown: Thrown) -> Session:
    if session.rules.throw is Throw.REPEATS:
        return ends.failed(session, thrown) if said.inside else ends.repeated(session, thrown)
    if said.type == "session.failed":  # there is nothing left that could fail
        return _after(session, said.type)
    if session.falling or said.type in CASCADE:
        return ends.escalated(session, thrown)
    if said.type not in ENDS:
        session = _after(session, said.type)
    return ends.surfaced(session, thrown)


def _come_back(session: Session, delegate: Delegate, given: Outcomes) -> Session:
    if delegate.purpose is For.NOTHING:
        return session
    if delegate.purpose is For.JOIN:
        return subagents.joined(session, delegate, given.outcomes)
    outcome_of = {child.session: one for child, one in zip(delegate.children, given.outcomes, strict=True)}
    tasks = (
        replace(task, outcome=outcome_of.get(task.child.session, task.outcome)) for task in session.tasks
    )
    return replace(session, tasks=tuple(tasks))
