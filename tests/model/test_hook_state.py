"""The state of a hook: the first that holds, in whatever order its checks stand."""

from itertools import permutations

import pytest

from hookscope import Gate, State, Verdict

# A gate that means this state, shut; in the order of precedence.
SHUT = {
    State.BROKEN: Gate("handler", False, reason="no file"),
    State.BLOCKED: Gate("bins", False, reason="no jq"),
    State.OFF: Gate("enabled", False, reason="disabled"),
    State.UNTRUSTED: Gate("trusted", False, reason="ask"),
    State.SILENT: Gate("sent", False, reason="never sent"),
}


@pytest.mark.parametrize("state", SHUT)
def test_state_follows_precedence_in_any_gate_order(state: State) -> None:
    at_most = [*SHUT][[*SHUT].index(state) :]
    for order in permutations(SHUT[one] for one in at_most):
        verdict = Verdict((Gate("os", True), *order))
        assert verdict.state is state
        assert SHUT[state].reason in verdict.why()


def test_eligible_and_enabled_are_independent() -> None:
    told = {state: Verdict((gate,)) for state, gate in SHUT.items()}
    assert [state for state, verdict in told.items() if not verdict.eligible] == [State.BLOCKED]
    assert [state for state, verdict in told.items() if not verdict.enabled] == [State.OFF]


def test_unchecked_gates_do_not_block() -> None:
    verdict = Verdict((Gate("bins", None), Gate("enabled", None)))
    assert (verdict.state, verdict.eligible, verdict.enabled, verdict.why()) == (State.READY, True, True, "")
