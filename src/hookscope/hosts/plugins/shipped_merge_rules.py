"""How OpenClaw as shipped merges the answers to each hook. Source: plug-01 to plug-05."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from functools import partial

from hookscope.formats.script_values import is_truthy, script_trim
from hookscope.hosts.plugins.merge_rules import (
    BARE,
    NO_ANSWER,
    Answer,
    HandlerAnswer,
    Merge,
    Merged,
    MergeRule,
    answer_always,
    answered_fields,
    as_answer,
    first_answer_wins,
    joined_text,
    last_answer_wins,
)
from hookscope.hosts.plugins.tool_names import ToolNames
from hookscope.model.payload import mapping_or_empty

DECISION = frozenset({"outcome", "reason", "message", "category", "metadata"})
INVALID = "before_agent_run returned an invalid decision"
NO_PAYLOAD = "Cannot destructure property 'trustedLocalMedia' of 'next' as it is null."
NOT_ITERABLE = "(next.findings ?? []) is not iterable"
CONTEXTS = ("prependContext", "appendContext")
SYSTEM_CONTEXTS = ("prependSystemContext", "appendSystemContext")
OUTCOMES = "outcomes"  # key for the list of evaluators' outcomes: an answer must be an object


merge_prompt = first_answer_wins("systemPrompt", texts=(*CONTEXTS, *SYSTEM_CONTEXTS))


def merge_prompt_build(tools: ToolNames) -> Merge:
    """Return a merge that keeps the first system prompt, all contexts, and the tools that all allow."""

    def merge(answer: Answer, handler_answer: HandlerAnswer) -> Merged:
        merged = {**merge_prompt(answer, handler_answer).answer}
        if "toolsAllow" in handler_answer.fields:
            merged["toolsAllow"] = tools.intersection(
                answer.get("toolsAllow"), handler_answer.fields["toolsAllow"]
            )
        return Merged(merged)

    return merge


def merge_tool_call(
    answer: Answer, handler_answer: HandlerAnswer, *, requester_may_change: bool = False
) -> Merged:
    """Keep the last params until a handler requests approval; a block stops the calls (plug-02).

    With `requester_may_change`, the plugin that requested it may still change the params.
    """
    approval_requested = "requireApproval" in answer
    is_requester = approval_requested and answer["requireApproval"]["pluginId"] == handler_answer.plugin
    fixed = approval_requested and not (requester_may_change and is_requester)
    names = ("blockReason",) if fixed else ("blockReason", "params")
    merged = {**answer, **answered_fields(answer, handler_answer, *names)}
    approval = handler_answer.fields.get("requireApproval")
    if not approval_requested and is_truthy(approval):
        merged["requireApproval"] = {**_spread(approval), "pluginId": handler_answer.plugin}
        merged |= {"params": deepcopy(merged["params"])} if "params" in merged else {}
    stop = handler_answer.fields.get("block") is True
    if stop:
        merged["block"] = True
    return Merged(merged, stop=stop)


def merge_agent_run(answer: Answer, handler_answer: HandlerAnswer) -> Merged:
    """Keep the first decision unless a later one blocks; an invalid decision blocks (plug-04)."""
    decision = (
        handler_answer.fields
        if _is_decision(handler_answer.fields)
        else {"outcome": "block", "reason": INVALID}
    )
    blocks = decision["outcome"] == "block"
    if answer and not blocks:
        return Merged(answer)
    return Merged({"decision": decision, "pluginId": handler_answer.plugin}, stop=blocks)


def _is_decision(fields: Answer) -> bool:
    """Return whether the answer is a valid decision.

    `pass` allows no member besides `outcome`; `block` requires a reason, and allows a message, a category
    and metadata.
    """
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


def merge_agent_finalize(answer: Answer, handler_answer: HandlerAnswer) -> Merged:
    """Prefer finalize, then revise with all reasons and the first usable retry, then continue."""
    action = handler_answer.fields.get("action")
    reason = (
        {"reason": handler_answer.fields["reason"]} if "reason" in handler_answer.fields else {}
    )  # null stays null
    before = answer.get("action")
    if before == "finalize":
        return Merged(answer)
    if action == "finalize":
        return Merged({"action": action, **reason})
    if action == "revise":
        if before == "revise":
            both = joined_text(answer.get("reason"), handler_answer.fields.get("reason"))
            reason = {} if both is None else {"reason": both}
        return Merged(
            {"action": action, **reason, **_retry(answer if before == "revise" else {}, handler_answer)}
        )
    if before == "revise":
        return Merged(answer)
    if action == "continue":
        return Merged({"action": action, **reason})
    return Merged(as_answer(handler_answer.value) if answer is NO_ANSWER else answer)


def _retry(answer: Answer, handler_answer: HandlerAnswer) -> dict[str, Answer]:
    """Return the first usable retry as `retry`; empty if there is none."""
    retry = answer.get("retry") or _usable(handler_answer.fields.get("retry"))
    return {"retry": retry} if retry else {}


def _usable(retry: object) -> Answer | None:
    """Return the retry if it has an instruction, else None."""
    instruction = mapping_or_empty(retry).get("instruction")
    if not isinstance(instruction, str) or not instruction.strip():
        return None
    return {**mapping_or_empty(retry), "instruction": instruction.strip()}


def merge_reply_payload(
    answer: Answer, handler_answer: HandlerAnswer, *, skips_falsy: bool = False
) -> Merged:
    """Pass the payload from handler to handler; a cancel stops the calls."""
    if skips_falsy and not is_truthy(handler_answer.value):
        return Merged(answer, is_answer=False)
    own = "payload" in handler_answer.fields
    if own and handler_answer.fields["payload"] is None:
        return Merged(answer, failure=NO_PAYLOAD)
    payload = _spread(handler_answer.fields["payload"]) if own else handler_answer.payload.get("payload")
    stop = handler_answer.fields.get("cancel") is True
    merged = {**answer, **answered_fields(answer, handler_answer, "reason"), "payload": payload}
    return Merged(
        {**merged, **({"cancel": True} if stop else {})}, stop=stop, event_changes={"payload": payload}
    )


def merge_install(answer: Answer, handler_answer: HandlerAnswer) -> Merged:
    """Collect all findings; a block stops the calls."""
    found = handler_answer.fields.get("findings")
    if not isinstance(found, list | str | None):
        return Merged(answer, failure=NOT_ITERABLE)
    findings = [*answer.get("findings", ()), *(found or ())]
    merged = last_answer_wins("blockReason", sticky="block")(answer, handler_answer)
    return Merged({**merged.answer, **({"findings": findings} if findings else {})}, stop=merged.stop)


def merge_delivery_target(answer: Answer, handler_answer: HandlerAnswer) -> Merged:
    """Keep the first answer with an origin; without one, the last answer."""
    return Merged(answer if is_truthy(answer.get("origin")) else as_answer(handler_answer.value))


def merge_exec_env(answer: Answer, handler_answer: HandlerAnswer) -> Merged:
    """Keep all variables; later ones overwrite earlier ones. The first answer need not be an object."""
    before = answer[BARE] if answer.keys() == {BARE} else answer
    if answer is NO_ANSWER or not is_truthy(before):
        return Merged(as_answer(handler_answer.value))
    return Merged({**_spread(before), **_spread(handler_answer.value)})


def merge_spawning(answer: Answer, handler_answer: HandlerAnswer, *, has_origin: bool = True) -> Merged:
    """Keep the first error; else whether any handler bound the thread, and the first origin."""
    if answer.get("status") == "error" or handler_answer.fields.get("status") == "error":
        return Merged(answer if answer.get("status") == "error" else dict(handler_answer.fields))
    both = (answer, handler_answer.fields)
    is_ready = any(is_truthy(fields.get("threadBindingReady")) for fields in both)
    origins = [fields["deliveryOrigin"] for fields in both if has_origin and fields.get("deliveryOrigin")]
    merged = {"status": "ok", "threadBindingReady": is_ready}
    return Merged({**merged, "deliveryOrigin": origins[0]} if origins else merged)


def merge_claim(answer: Answer, handler_answer: HandlerAnswer) -> Merged:
    """Keep the first answer that is `handled`; the others do not count as answers."""
    handled = is_truthy(handler_answer.fields.get("handled"))
    return Merged(handler_answer.fields if handled else answer, is_answer=handled, stop=handled)


def merge_message(blocks: bool) -> Merge:
    """Return a merge that passes the message from handler to handler; with `blocks`, one may block it."""

    def merge(answer: Answer, handler_answer: HandlerAnswer) -> Merged:
        if blocks and is_truthy(handler_answer.fields.get("block")):
            return Merged({"block": True}, stop=True)
        replaced = handler_answer.fields.get("message")
        if not is_truthy(replaced):
            return Merged(answer, is_answer=False)
        return Merged({"message": replaced}, event_changes={"message": replaced})

    return merge


def merge_evaluation(answer: Answer, handler_answer: HandlerAnswer) -> Merged:
    """Add the evaluator's outcome, with its name."""
    outcome = (
        {"status": "completed", "result": handler_answer.value}
        if is_truthy(handler_answer.value)
        else {"status": "skipped"}
    )
    return Merged(_with_outcome(answer, handler_answer, outcome))


def merge_failed_evaluation(answer: Answer, handler_answer: HandlerAnswer) -> Answer:
    """Return the answer with a failed handler's outcome: the first line of its error."""
    lines = str(handler_answer.value).splitlines() or [""]
    return _with_outcome(
        answer, handler_answer, {"status": "error", "error": lines[0].strip() or "unknown error"}
    )


def _with_outcome(answer: Answer, handler_answer: HandlerAnswer, outcome: Answer) -> Answer:
    named = {
        "evaluatorId": handler_answer.options.get("registrationId") or handler_answer.plugin,
        "pluginId": handler_answer.plugin,
    }
    return {OUTCOMES: [*answer.get(OUTCOMES, ()), {**named, **outcome}]}


def _spread(value: object) -> Answer:
    """Return the members of any value, as `{...value}` does: those of strings and lists by index."""
    if isinstance(value, str | list):
        return {str(place): item for place, item in enumerate(value)}
    return mapping_or_empty(value)


# Every handler gets its own copy of the event; if copying fails, the event fails.
FROZEN_EVENTS = frozenset({"skill_proposal_evaluate", "skill_proposal_changed", "skill_changed"})
SEPARATE_COPY_EVENTS = frozenset({"before_tool_call", *FROZEN_EVENTS})
FAIL_CLOSED_EVENTS = frozenset({"before_agent_run", "before_tool_call", "before_install"})

OVERRIDES = ("modelOverride", "providerOverride")
BLOCK = ("block", "blockReason")
CLAIM_RULE = MergeRule(merge_claim, answer_members=("handled",))

SHIPPED_MERGE_RULES: dict[str, MergeRule] = {
    "before_model_resolve": MergeRule(first_answer_wins(*OVERRIDES), answer_members=OVERRIDES),
    "agent_turn_prepare": MergeRule(
        first_answer_wins(texts=CONTEXTS), answer_members=CONTEXTS, copied_members=("messages",)
    ),
    "heartbeat_prompt_contribution": MergeRule(first_answer_wins(texts=CONTEXTS), answer_members=CONTEXTS),
    "before_prompt_build": MergeRule(  # the dialect replaces the tool names
        merge_prompt_build(ToolNames()),
        answer_members=(*CONTEXTS, *SYSTEM_CONTEXTS, "systemPrompt", "toolsAllow"),
        copied_members=("messages",),
    ),
    "before_agent_finalize": MergeRule(merge_agent_finalize, answer_members=("action", "reason", "retry")),
    "before_agent_run": MergeRule(merge_agent_run, accepts_null=True, answer_members=("outcome", "reason")),
    "before_tool_call": MergeRule(merge_tool_call, answer_members=("params", *BLOCK, "requireApproval")),
    "message_sending": MergeRule(
        last_answer_wins("content", "cancelReason", "metadata", sticky="cancel"),
        answer_members=("content", "cancel", "cancelReason", "metadata"),
    ),
    "reply_payload_sending": MergeRule(
        merge_reply_payload,
        separate_events=True,
        separate_members=("payload",),
        answer_members=("payload", "cancel", "reason"),
        copied_members=("payload",),
    ),
    "subagent_delivery_target": MergeRule(merge_delivery_target, answer_members=("origin",)),
    "before_install": MergeRule(merge_install, answer_members=("findings", *BLOCK)),
    "resolve_exec_env": MergeRule(merge_exec_env, finish=answer_always),
    "inbound_claim": CLAIM_RULE,
    "before_dispatch": CLAIM_RULE,
    "before_agent_reply": CLAIM_RULE,
    "reply_dispatch": CLAIM_RULE,
    "tool_result_persist": MergeRule(
        merge_message(blocks=False),
        start=lambda payload: {"message": payload["message"]} if "message" in payload else {},
        finish=lambda answer, answered, called: answer if called else None,
        separate_events=True,
        answer_members=("message",),
        kept_members=("message",),
    ),
    "before_message_write": MergeRule(
        merge_message(blocks=True),
        separate_events=True,
        answer_members=("message", "block"),
        kept_members=("message",),
    ),
    "skill_proposal_evaluate": MergeRule(
        merge_evaluation,
        start=lambda payload: {OUTCOMES: []},
        finish=answer_always,
        on_failure=merge_failed_evaluation,
        counts_silence=True,
    ),
}


def older_merge_rules(*texts: str, has_origin: bool = True) -> dict[str, MergeRule]:
    """Return the rules that differ before 2026.8: these texts, no lists of tools, and two hooks more."""
    rules = SHIPPED_MERGE_RULES
    prompt = replace(
        rules["before_prompt_build"],
        merge=first_answer_wins("systemPrompt", texts=texts),
        answer_members=(*texts, "systemPrompt"),
    )
    return {
        "before_prompt_build": prompt,
        "before_agent_start": replace(
            prompt,
            merge=first_answer_wins("systemPrompt", *OVERRIDES, texts=texts),
            answer_members=(*prompt.answer_members, *OVERRIDES),
        ),
        "before_tool_call": replace(
            rules["before_tool_call"], merge=partial(merge_tool_call, requester_may_change=True)
        ),
        "reply_payload_sending": replace(
            rules["reply_payload_sending"], merge=partial(merge_reply_payload, skips_falsy=True)
        ),
        "subagent_spawning": MergeRule(
            partial(merge_spawning, has_origin=has_origin),
            answer_members=("status", "threadBindingReady", *(("deliveryOrigin",) if has_origin else ())),
        ),
    }
