"""What an event of plugin hooks came to, in one line for people."""

from collections.abc import Mapping, Sequence

from hookscope.core.text import one_line
from hookscope.systems.plugins.rules import Answer

OBSERVE, CLAIM, EVALUATE = "observe", "claim", "evaluate"


def verdict_of(
    way: str,
    answer: Answer | None,
    changed: Sequence[str],
    by: Sequence[str],
    failure: str | None = None,
) -> str:
    """One line; empty for observers, whose answers nobody reads.

    `way` is the event's policy by name; `changed` are the members of the answer that somebody set, `by` those
    who answered, the last of whom may have stopped it.
    """
    if failure is not None:
        return f"failed closed: {one_line(failure)}"
    if way == OBSERVE:
        return ""
    last, said = by[-1] if by else "", answer or {}
    if way == CLAIM:
        return f"handled by {last}" if last else "not handled"
    if way == EVALUATE:
        return _evaluated(said)
    decision = said.get("decision")
    if isinstance(decision, Mapping):
        blocked = decision.get("outcome") == "block"
        return (
            f"blocked by {said.get('pluginId')}" + _because(decision.get("reason")) if blocked else "allowed"
        )
    if said.get("block") is True or said.get("blocked") is True:
        return f"blocked by {last}" + _because(said.get("blockReason"))
    if said.get("cancel") is True:
        return f"cancelled by {last}" + _because(said.get("cancelReason") or said.get("reason"))
    approval = said.get("requireApproval")
    if isinstance(approval, Mapping):
        return f"approval asked by {approval.get('pluginId')}" + _because(approval.get("title"))
    if "action" in said:
        return f"{said['action']}" + _because(said.get("reason"))
    return f"changed {', '.join(changed)}" if changed else "allowed"


def _because(reason: object) -> str:
    return f": {one_line(reason)}" if isinstance(reason, str) and reason.strip() else ""


def _evaluated(answer: Answer) -> str:
    outcomes = [outcome for items in answer.values() for outcome in items]
    vetoes = [
        f"{outcome['evaluatorId']}"
        for outcome in outcomes
        if isinstance(outcome.get("result"), Mapping) and outcome["result"].get("decision") == "block"
    ]
    if vetoes:
        return f"blocked by {', '.join(vetoes)}"
    failed = sum(outcome["status"] == "error" for outcome in outcomes)
    return f"evaluated by {len(outcomes)}" + (f", {failed} failed" if failed else "")
