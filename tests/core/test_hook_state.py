"""The state of a hook: the first that holds, in whatever order its checks stand."""

from itertools import permutations

import pytest

from hookscope.core.standing import Gate, State, Verdict

# A gate that means this state, shut; in the order of precedence.
SHUT = {
    State.BROKEN: Gate("handler", False, reason="no file"),
    State.BLOCKED: Gate("bins", False, reason="no jq"),
    State.OFF: Gate("enabled", False, reason="disabled"),
    State.UNTRUSTED: Gate("trusted", False, reason="ask"),
    State.SILENT: Gate("sent", False, reason="never sent"),
}


@pytest.mark.parametrize("state", SHUT)
def test_the_first_that_holds_is_the_state_whatever_stands_before_it(state: State) -> None:
    at_most = [*SHUT][[*SHUT].index(state) :]
    for order in permutations(SHUT[one] for one in at_most):
        verdict = Verdict((Gate("os", True), *order))
        assert verdict.state is state
        assert SHUT[state].reason in verdict.why()


def test_eligible_and_enabled_are_two_things() -> None:
    told = {state: Verdict((gate,)) for state, gate in SHUT.items()}
    assert [state for state, verdict in told.items() if not verdict.eligible] == [State.BLOCKED]
    assert [state for state, verdict in told.items() if not verdict.enabled] == [State.OFF]


def test_what_nobody_looked_at_stops_nothing() -> None:
    verdict = Verdict((Gate("bins", None), Gate("enabled", None)))
    assert (verdict.state, verdict.eligible, verdict.enabled, verdict.why()) == (State.READY, True, True, "")
