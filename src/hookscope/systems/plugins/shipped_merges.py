"""How the program as shipped merges answers: a rule for each hook. Source: rules-openclaw section 6."""

from collections.abc import Mapping
from copy import deepcopy

from hookscope.formats.script_values import script_trim
from hookscope.systems.folders.requirements import truthy
from hookscope.systems.plugins.rules import (
    Answer,
    Merge,
    Merged,
    MergeRule,
    Payload,
    Told,
    always,
    first_wins,
    given,
    joined,
    joins,
    last_wins,
    with_joined,
)
from hookscope.systems.plugins.tool_lists import ToolNames

DECISION = frozenset({"outcome", "reason", "message", "category", "metadata"})
INVALID = "before_agent_run returned an invalid decision"
NO_PAYLOAD = "Cannot destructure property 'trustedLocalMedia' of 'next' as it is null."
NOT_ITERABLE = "(next.findings ?? []) is not iterable"
CONTEXTS = ("prependContext", "appendContext")
SYSTEM_CONTEXTS = ("prependSystemContext", "appendSystemContext")
OUTCOMES = "outcomes"  # of evaluators: an answer is an object, so their list stands under a name


def prompt_build(tools: ToolNames) -> Merge:
    """The first system prompt, all contexts, and only the tools that everybody allows."""

    def merge(answer: Answer, told: Told) -> Merged:
        merged = with_joined(answer, told, (*CONTEXTS, *SYSTEM_CONTEXTS))
        merged = {**given(answer, told, "systemPrompt"), **merged}
        if "toolsAllow" in told.fields:
            merged["toolsAllow"] = tools.intersection(answer.get("toolsAllow"), told.fields["toolsAllow"])
        return Merged(merged)

    return merge


def tool_call(answer: Answer, told: Told) -> Merged:
    """The last params until somebody asks for an approval; a block sticks and stops (plug-02)."""
    asked = "requireApproval" in answer
    merged = {**answer, **given(answer, told, "blockReason", *(() if asked else ("params",)))}
    approval = told.fields.get("requireApproval")
    if not asked and truthy(approval):
        merged["requireApproval"] = {**_spread(approval), "pluginId": told.plugin}
        merged |= {"params": deepcopy(merged["params"])} if "params" in merged else {}
    stop = told.fields.get("block") is True
    if stop:
        merged["block"] = True
    return Merged(merged, stop=stop)


def agent_run(answer: Answer, told: Told) -> Merged:
    """The first decision stands until somebody blocks; what is no decision blocks (plug-04)."""
    decision = told.fields if _is_decision(told.fields) else {"outcome": "block", "reason": INVALID}
    blocks = decision["outcome"] == "block"
    if answer and not blocks:
        return Merged(answer)
    return Merged({"decision": decision, "pluginId": told.plugin}, stop=blocks)


def _is_decision(fields: Answer) -> bool:
    """A pass says nothing else; a block has a reason, and may have a message, a category and metadata."""
    if fields.get("outcome") == "pass":
        return len(fields) == 1
    texts = [fields[name] for name in ("reason", "message", "category") if name in fields]
    return (
        fields.get("outcome") == "block"
        and "reason" in fields
        and fields.keys() <= DECISION
        and all(isinstance(text, str) and script_trim(text) for text in texts)
        and isinstance(fields.get("metadata", {}), Mapping)
    )


def agent_finalize(answer: Answer, told: Told) -> Merged:
    """Finalize beats everything, then revise with all reasons and the first usable retry, then continue."""
    action = told.fields.get("action")
    reason = {"reason": told.fields["reason"]} if "reason" in told.fields else {}  # null stays null
    before = answer.get("action")
    if before == "finalize":
        return Merged(answer)
    if action == "finalize":
        return Merged({"action": action, **reason})
    if action == "revise":
        if before == "revise":
            both = joined(answer.get("reason"), told.fields.get("reason"))
            reason = {} if both is None else {"reason": both}
        return Merged({"action": action, **reason, **_retry(answer if before == "revise" else {}, told)})
    if before == "revise":
        return Merged(answer)
    if action == "continue":
        return Merged({"action": action, **reason})
    return Merged(answer or dict(told.fields))


def _retry(answer: Answer, told: Told) -> dict[str, Answer]:
    """The first that can be used."""
    retry = answer.get("retry") or _usable(told.fields.get("retry"))
    return {"retry": retry} if retry else {}


def _usable(retry: object) -> Answer | None:
    """A retry says what to do once more; without that it is none."""
    instruction = _members(retry).get("instruction")
    if not isinstance(instruction, str) or not instruction.strip():
        return None
    return {**_members(retry), "instruction": instruction.strip()}


def reply_payload(answer: Answer, told: Told) -> Merged:
    """Each handler sees the payload that the one before it left; a cancel sticks and stops."""
    own = "payload" in told.fields
    if own and told.fields["payload"] is None:
        return Merged(answer, failed=NO_PAYLOAD)
    payload = _spread(told.fields["payload"]) if own else told.payload.get("payload")
    stop = told.fields.get("cancel") is True
    merged = {**answer, **given(answer, told, "reason"), "payload": payload}
    return Merged({**merged, **({"cancel": True} if stop else {})}, stop=stop, passes_on={"payload": payload})


def install(answer: Answer, told: Told) -> Merged:
    """All findings; a block sticks and stops."""
    found = told.fields.get("findings")
    if not isinstance(found, list | str | None):
        return Merged(answer, failed=NOT_ITERABLE)
    findings = [*answer.get("findings", ()), *(found or ())]
    merged = last_wins("blockReason", sticks="block")(answer, told)
    return Merged({**merged.answer, **({"findings": findings} if findings else {})}, stop=merged.stop)


def exec_env(answer: Answer, told: Told) -> Merged:
    """Every variable; later ones overwrite."""
    return Merged({**answer, **_spread(told.value)})


def delivery_target(answer: Answer, told: Told) -> Merged:
    """The first answer with an origin; before there is one, the last answer."""
    return Merged(answer if truthy(answer.get("origin")) else dict(told.fields))


def claim(answer: Answer, told: Told) -> Merged:
    """The first that has handled it; all others have said nothing."""
    handled = truthy(told.fields.get("handled"))
    return Merged(told.fields if handled else answer, counts=handled, stop=handled)


def message(blocks: bool) -> Merge:
    """Each handler sees the message that the one before it left. `blocks`: may one forbid the writing."""

    def merge(answer: Answer, told: Told) -> Merged:
        if blocks and truthy(told.fields.get("block")):
            return Merged({"block": True}, stop=True)
        replaced = told.fields.get("message")
        if not truthy(replaced):
            return Merged(answer, counts=False)
        return Merged({"message": replaced}, passes_on={"message": replaced})

    return merge


def latest_message(payload: Payload) -> Answer:
    """The answer that stands before any handler: the message as it came."""
    return {"message": payload["message"]} if "message" in payload else {}


def whenever_asked(answer: Answer, answered: bool, asked: bool) -> Answer | None:
    """Somebody was asked, so there is an answer."""
    return answer if asked else None


def evaluation(answer: Answer, told: Told) -> Merged:
    """An outcome for each evaluator, with its name on it."""
    outcome = {"status": "completed", "result": told.value} if truthy(told.value) else {"status": "skipped"}
    return Merged(_with_outcome(answer, told, outcome))


def failed_evaluation(answer: Answer, told: Told) -> Answer:
    """The answer with a failed handler's outcome: the first line of what it threw."""
    lines = str(told.value).splitlines() or [""]
    return _with_outcome(answer, told, {"status": "error", "error": lines[0].strip() or "unknown error"})


def _with_outcome(answer: Answer, told: Told, outcome: Answer) -> Answer:
    named = {"evaluatorId": told.options.get("registrationId") or told.plugin, "pluginId": told.plugin}
    return {OUTCOMES: [*answer.get(OUTCOMES, ()), {**named, **outcome}]}


def _members(value: object) -> Answer:
    return value if isinstance(value, dict) else {}


def _spread(value: object) -> Answer:
    """The members of any value, as `{...value}` takes them: of a text and a list by their places."""
    if isinstance(value, str | list):
        return {str(place): item for place, item in enumerate(value)}
    return _members(value)


# Every handler has a copy of the event of its own; a copy that cannot be made fails the event.
FROZEN = frozenset({"skill_proposal_evaluate", "skill_proposal_changed", "skill_changed"})
APART = frozenset({"before_tool_call", *FROZEN})
FAIL_CLOSED = frozenset({"before_agent_run", "before_tool_call", "before_install"})

OVERRIDES = ("modelOverride", "providerOverride")
BLOCK = ("block", "blockReason")
HANDLED = MergeRule(claim, answers=("handled",))

SHIPPED: dict[str, MergeRule] = {
    "before_model_resolve": MergeRule(first_wins(*OVERRIDES), answers=OVERRIDES),
    "agent_turn_prepare": MergeRule(joins(*CONTEXTS), answers=CONTEXTS, copied=("messages",)),
    "heartbeat_prompt_contribution": MergeRule(joins(*CONTEXTS), answers=CONTEXTS),
    "before_prompt_build": MergeRule(  # whose names are the dialect's
        prompt_build(ToolNames()),
        answers=(*CONTEXTS, *SYSTEM_CONTEXTS, "systemPrompt", "toolsAllow"),
        copied=("messages",),
    ),
    "before_agent_finalize": MergeRule(agent_finalize, answers=("action", "reason", "retry")),
    "before_agent_run": MergeRule(agent_run, null=True, answers=("outcome", "reason")),
    "before_tool_call": MergeRule(tool_call, answers=("params", *BLOCK, "requireApproval")),
    "message_sending": MergeRule(
        last_wins("content", "cancelReason", "metadata", sticks="cancel"),
        answers=("content", "cancel", "cancelReason", "metadata"),
    ),
    "reply_payload_sending": MergeRule(
        reply_payload,
        own_event=True,
        own_members=("payload",),
        answers=("payload", "cancel", "reason"),
        copied=("payload",),
    ),
    "subagent_delivery_target": MergeRule(delivery_target, answers=("origin",)),
    "before_install": MergeRule(install, answers=("findings", *BLOCK)),
    "resolve_exec_env": MergeRule(exec_env, finish=always),
    "inbound_claim": HANDLED,
    "before_dispatch": HANDLED,
    "before_agent_reply": HANDLED,
    "reply_dispatch": HANDLED,
    "tool_result_persist": MergeRule(
        message(blocks=False),
        start=latest_message,
        finish=whenever_asked,
        own_event=True,
        answers=("message",),
        kept=("message",),
    ),
    "before_message_write": MergeRule(
        message(blocks=True), own_event=True, answers=("message", "block"), kept=("message",)
    ),
    "skill_proposal_evaluate": MergeRule(
        evaluation,
        start=lambda payload: {OUTCOMES: []},
        finish=always,
        failed=failed_evaluation,
        silence=True,
    ),
}
