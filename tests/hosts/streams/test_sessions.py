"""What holds of every session, whatever its hooks, its model and its tools do."""

from __future__ import annotations

from collections import Counter

from hypothesis import example, given
from hypothesis import strategies as st
from tests.hosts.streams.playing import ADD, FAILS, HELP, HELPER, NONE, Hook, Stage, stage_of

from hookscope.hosts.dialects.eve_sessions import GUIDE_SESSIONS, SESSIONS_0_18, SESSIONS_0_80
from hookscope.hosts.streams.session_messages import SessionFinished, WaitingForUser
from hookscope.hosts.streams.session_rules import ThrowEffect

TURN_ENDS = {"turn.completed", "turn.failed", "turn.cancelled"}
LAST = {"session.waiting", "session.completed", "session.failed"}
LIFE = "session.started turn.started step.started step.completed turn.completed session.waiting"
SPOKEN = "message.received message.appended message.completed actions.requested action.result"
BROKEN = "step.failed turn.failed session.failed turn.cancelled turn.waiting session.completed"
HELPED = "task.started task.settled agent.started subagent.called subagent.completed"
TYPES = f"{LIFE} {SPOKEN} {BROKEN} {HELPED} *".split()

calls = st.lists(st.sampled_from([ADD, FAILS, HELP, NONE]), min_size=1, max_size=3)
reply = st.one_of(
    st.sampled_from(["Hello", "", " ", {"fail": "model is down"}]),
    st.builds(lambda text, some: {"text": text, "toolCalls": some}, st.sampled_from(["", "Look"]), calls),
)
words = st.sampled_from([{"throws": "boom"}, {"cancel": True}, {"cancel": True, "throws": "boom"}, {}])
hook = st.builds(Hook, st.sampled_from("ab"), st.sampled_from(TYPES), words, st.sampled_from(["", HELPER]))
play = st.builds(
    lambda rules, replies, child, hooks, count: (
        stage_of(rules, [*replies, "End"], *hooks, child=[child]),
        count,
    ),
    st.sampled_from([GUIDE_SESSIONS, SESSIONS_0_18, SESSIONS_0_80]),
    st.lists(reply, max_size=4),
    st.sampled_from(["Helper answer", "", {"fail": "child is down"}]),
    st.lists(hook, max_size=4),
    st.integers(1, 3),
)


# A hook of eve@0.18 that throws at a turn's end has the last step repeated, not the turn's beginning.
repeated = stage_of(
    SESSIONS_0_18,
    [{"text": "", "toolCalls": [ADD]}, "End"],
    Hook("a", "turn.completed", {"throws": "boom"}, ""),
)


@given(play)
@example((repeated, 1))
def test_every_session_comes_to_rest_and_tells_its_turns_whole(asked: tuple[Stage, int]) -> None:
    stage, count = asked
    _, command = stage.play(*["hi"] * count)
    assert isinstance(command, WaitingForUser | SessionFinished)
    for session, stream in stage.streams.items():
        kinds = [kind for kind, _ in stream]
        assert kinds[0] == "session.started"
        assert [kind for kind in kinds if kind not in ("agent.started", "task.settled")][-1] in LAST
        for _, data in stream:
            if "sequence" in data:
                assert data["turnId"] == f"turn_{data['sequence']}"
        if stage.rules.throw_effect is ThrowEffect.LOGGED:
            turns = [data["sequence"] for kind, data in stream if kind == "turn.started"]
            assert turns == list(range(len(turns)))
            assert sum(kind in TURN_ENDS for kind in kinds) == len(turns)
            assert kinds.count("session.started") == 1
        open_turn, begun = False, set[tuple[int, int]]()
        for kind, data in stream:  # an end ends a turn that is open; no step begins outside of one
            if kind == "turn.started":
                open_turn = True
            elif kind == "step.started":
                step = (data["sequence"], data["stepIndex"])
                repeated = (
                    stage.rules.throw_effect is ThrowEffect.REPEATS and step in begun
                )  # its turn with it
                assert open_turn or repeated, f"{session}: a step outside of a turn in {kinds}"
                open_turn = True
                begun.add(step)
            elif kind in ("turn.completed", "turn.cancelled"):
                assert open_turn
                open_turn = False


@given(play)
def test_nobody_asks_the_model_once_a_turn_is_cancelled(asked: tuple[Stage, int]) -> None:
    stage, count = asked
    stage.play(*["hi"] * count)
    for session, stream in stage.streams.items():
        cancelling = {
            place
            for of, hook, kind, place in stage.calls
            if of == session and hook.words.get("cancel") and stage.rules.is_cancellable(kind)
        }
        for place in cancelling:
            after = [kind for kind, _ in stream[place + 1 :]]
            ending = after[: after.index("session.waiting") + 1]
            assert set(ending) <= {"task.settled", "turn.cancelled", "session.waiting"}
            until = place + 1 + len(ending)
            assert not [at for of, at in stage.asked if of == session and place < at < until]


late = st.sampled_from(
    ["action.result", "step.started", "message.appended", "message.completed", "step.completed"]
)
busy = st.builds(
    lambda first, replies, child, hooks: stage_of(
        SESSIONS_0_80, [{"toolCalls": first}, *replies, "End"], *hooks, child=[child]
    ),
    st.lists(st.sampled_from([HELP, ADD]), min_size=1, max_size=3),
    st.lists(reply, max_size=3),
    st.sampled_from(["Helper answer", "", {"fail": "child is down"}]),
    st.lists(st.builds(Hook, st.just("a"), late, words), max_size=2),
)


@given(busy, st.integers(1, 2))
def test_each_task_is_told_from_start_to_settlement(stage: Stage, count: int) -> None:
    stage.play(*["hi"] * count)
    for stream in stage.streams.values():
        of = {
            name: Counter(data["taskId"] for kind, data in stream if kind == name)
            for name in ("task.started", "agent.started", "task.settled")
        }
        assert of["task.started"] == of["agent.started"] == of["task.settled"]
        assert set(of["task.started"].values()) <= {1}
