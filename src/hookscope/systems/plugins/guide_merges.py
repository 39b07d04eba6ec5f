"""How answers merge as the guides tell it: each handler sees what those before it changed.

Source: guide 004 section 8, "Can Modify" and "Global Hook Runner"; guide 003, "Hook Reference".
"""

from collections.abc import Callable, Mapping
from typing import Any

from hookscope.systems.plugins.rules import (
    BLANK_LINE,
    Answer,
    Merge,
    Merged,
    MergeRule,
    Payload,
    Told,
    always,
    as_answered,
    nothing,
)


def modifies(
    fields: Mapping[str, str], *, texts: tuple[str, ...] = (), stops: Mapping[str, str] | None = None
) -> Merge:
    """The last answer wins, field by field.

    `fields` are the words that handlers may write, each with the word of the answer; the next handler sees
    them under both. `texts` are joined with a blank line. `stops` are the words that end the asking when
    they are true, each with the word of the answer.
    """

    def merge(answer: Answer, told: Told) -> Merged:
        merged, seen, said = dict(answer), dict[str, Any](), told.fields
        for written, name in fields.items():
            value = said.get(written)
            if value is not None:
                merged[name] = seen[written] = seen[name] = value
        for name in texts:
            both = merged.get(name), said.get(name)
            parts = [text for text in both if isinstance(text, str) and text]
            if parts:
                merged[name] = seen[name] = BLANK_LINE.join(parts)
        ends = [name for written, name in (stops or {}).items() if said.get(written) is True]
        merged |= dict.fromkeys(ends, True)
        return Merged(merged, stop=bool(ends), passes_on=seen)

    return merge


def same(*names: str) -> dict[str, str]:
    """Fields that are called alike in event and answer."""
    return {name: name for name in names}


def unblocked(payload: Payload) -> Answer:
    """What the caller of `before_tool_call` reads, before anybody was asked."""
    return {"blocked": False, "params": payload.get("params", {})}


PROMPT = ("prompt", "systemPrompt", "messages")
CONTEXTS = ("context", "prependContext", "appendContext")


def modifier(
    fields: Mapping[str, str],
    *,
    texts: tuple[str, ...] = (),
    stops: Mapping[str, str] | None = None,
    start: Callable[[Payload], Answer] = nothing,
    finish: Callable[[Answer, bool, bool], Answer | None] = as_answered,
) -> MergeRule:
    """The rule of a hook whose handlers may answer with these fields."""
    merge = modifies(fields, texts=texts, stops=stops)
    return MergeRule(merge, start, finish, answers=(*fields, *texts, *(stops or ())))


GUIDE: dict[str, MergeRule] = {
    "before_tool_call": modifier(
        {"params": "params", "blockReason": "blockReason", "reason": "blockReason"},
        stops={"block": "blocked", "blocked": "blocked"},
        start=unblocked,
        finish=always,
    ),
    "tool_result_persist": modifier(same("result", "message")),
    "before_agent_start": modifier(
        {
            "model": "modelOverride",
            "modelOverride": "modelOverride",
            "provider": "providerOverride",
            "providerOverride": "providerOverride",
            **same(*PROMPT),
        },
        texts=CONTEXTS,
    ),
    "before_prompt_build": modifier(same(*PROMPT), texts=CONTEXTS),
    "before_message_write": modifier(
        same("message", "blockReason"), stops={"block": "block", "blocked": "block"}
    ),
    "message_sending": modifier(same("content", "cancelReason"), stops={"cancel": "cancel"}),
}
