"""How handlers' answers are merged, with the rule for each hook in OpenClaw's guides (section 8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

from hookscope.formats.script_values import is_truthy, script_text
from hookscope.values import dataclass

Answer = Mapping[str, Any]
Payload = Mapping[str, Any]
BLANK_LINE = "\n\n"
NO_ANSWER: Answer = {}  # by identity: no handler has answered; an empty answer is another object
BARE = "returned"  # key for a value that is not an object: an answer must be one


@dataclass(frozen=True, slots=True)
class HandlerAnswer:
    """The answer of one handler."""

    value: Any  # None only if the handler explicitly answered null
    plugin: str  # the handler's plugin
    payload: Payload  # the event as this handler got it
    options: Mapping[str, Any] = field(default_factory=dict)  # of its registration

    @property
    def fields(self) -> Answer:
        """Return the members of the answer; empty if it is not an object."""
        value = self.value
        return value if type(value) is dict or isinstance(value, Mapping) else {}


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged answer of all handlers so far."""

    answer: Answer
    is_answer: bool = True  # whether the handler's answer counts as an answer to its hook
    stop: bool = False  # no other handler is called
    event_changes: Mapping[str, Any] | None = None  # event fields for the next handler
    failure: str = ""  # the error with which the host fails to merge, as if the handler had thrown it


Merge = Callable[[Answer, HandlerAnswer], Merged]


def empty_answer(payload: Payload) -> Answer:
    """Return the answer before any handler is called."""
    return NO_ANSWER


def as_answer(value: Any) -> Answer:
    """Return what a handler answered as an answer, under `BARE` if it is not an object."""
    return dict(value) if isinstance(value, Mapping) else {BARE: value}


def answer_if_answered(answer: Answer, answered: bool, called: bool) -> Answer | None:
    """Return the answer; None if no handler answered, even if some were called."""
    return answer if answered else None


def answer_always(answer: Answer, answered: bool, called: bool) -> Answer:
    """Return the answer, even if no handler was called."""
    return answer


@dataclass(frozen=True, slots=True)
class MergeRule:
    """How the answers to one hook are merged."""

    merge: Merge
    start: Callable[[Payload], Answer] = empty_answer
    finish: Callable[[Answer, bool, bool], Answer | None] = (
        answer_if_answered  # answer, any answered, any called
    )
    on_failure: Callable[[Answer, HandlerAnswer], Answer] | None = None  # `value` is the error; None: skipped
    accepts_null: bool = False  # whether null counts as an answer
    counts_silence: bool = False  # whether a missing answer is merged
    separate_events: bool = False  # whether handlers have separate events and do not see each other's changes
    separate_members: tuple[str, ...] = ()  # members of that event that are deep copies
    answer_members: tuple[str, ...] = ()  # members that an answer may have
    copied_members: tuple[str, ...] = ()  # members whose nested changes the host ignores
    kept_members: tuple[str, ...] = ()  # members whose nested changes the host keeps, whatever is returned


def answered_fields(answer: Answer, handler_answer: HandlerAnswer, *names: str) -> dict[str, Any]:
    """Return those of the named fields that the handler answered; null counts as absent (plug-01)."""
    fields = handler_answer.fields
    return {name: fields[name] for name in names if fields.get(name) is not None}


def joined_text(left: Any, right: Any) -> Any:
    """Join two texts with a blank line. If either is empty, return `right`, or `left` if `right` is None."""
    if is_truthy(left) and is_truthy(right):
        return script_text(left) + BLANK_LINE + script_text(right)
    return left if right is None else right


def with_joined_texts(answer: Answer, handler_answer: HandlerAnswer, names: Sequence[str]) -> dict[str, Any]:
    """Return the answer with the named texts of another handler appended to its own."""
    texts = {name: joined_text(answer.get(name), handler_answer.fields.get(name)) for name in names}
    return {**answer, **{name: text for name, text in texts.items() if text is not None}}


def first_answer_wins(*names: str, texts: Sequence[str] = ()) -> Merge:
    """Return a merge in which the first answer wins, field by field; `texts` are joined in call order.

    A null stays in the answer until a handler answers anything else, or nothing.
    """

    def merge(answer: Answer, added: HandlerAnswer) -> Merged:
        first = {name: answer[name] for name in names if answer.get(name) is not None}
        first = {name: value for name, value in {**added.fields, **first}.items() if name in names}
        others = {name: value for name, value in answer.items() if name not in names}
        return Merged({**first, **with_joined_texts(others, added, texts)})

    return merge


def last_answer_wins(*names: str, sticky: str) -> Merge:
    """Return a merge in which the last answer wins, field by field.

    Once the field named `sticky` is true, it stays true, and no more handlers are called.
    """

    def merge(answer: Answer, handler_answer: HandlerAnswer) -> Merged:
        stop = handler_answer.fields.get(sticky) is True
        return Merged(
            {**answer, **answered_fields(answer, handler_answer, *names), **({sticky: True} if stop else {})},
            stop=stop,
        )

    return merge


def modify_fields(
    fields: Mapping[str, str], *, texts: tuple[str, ...] = (), stops: Mapping[str, str] | None = None
) -> Merge:
    """Return a merge in which the last answer wins, field by field.

    `fields` maps each field that a handler may answer to its name in the merged answer; the event of the
    next handler has it under both names. `texts` are joined with a blank line. `stops` maps, in the same
    way, the fields that stop the calls when they are true.
    """

    def merge(answer: Answer, handler_answer: HandlerAnswer) -> Merged:
        merged, event_changes, returned = dict(answer), dict[str, Any](), handler_answer.fields
        for written, name in fields.items():
            value = returned.get(written)
            if value is not None:
                merged[name] = event_changes[written] = event_changes[name] = value
        for name in texts:
            both = merged.get(name), returned.get(name)
            parts = [text for text in both if isinstance(text, str) and text]
            if parts:
                merged[name] = event_changes[name] = BLANK_LINE.join(parts)
        ends = [name for written, name in (stops or {}).items() if returned.get(written) is True]
        merged |= dict.fromkeys(ends, True)
        return Merged(merged, stop=bool(ends), event_changes=event_changes)

    return merge


def same_names(*names: str) -> dict[str, str]:
    """Return the `fields` argument of `modify_fields` for fields that keep these names when merged."""
    return {name: name for name in names}


def unblocked_answer(payload: Payload) -> Answer:
    """Return the answer to `before_tool_call` before any handler is called."""
    return {"blocked": False, "params": payload.get("params", {})}


PROMPT_FIELDS = ("prompt", "systemPrompt", "messages")
CONTEXT_FIELDS = ("context", "prependContext", "appendContext")


def modifier_rule(
    fields: Mapping[str, str],
    *,
    texts: tuple[str, ...] = (),
    stops: Mapping[str, str] | None = None,
    start: Callable[[Payload], Answer] = empty_answer,
    finish: Callable[[Answer, bool, bool], Answer | None] = answer_if_answered,
) -> MergeRule:
    """Return the rule of a hook whose handlers may answer with these fields."""
    merge = modify_fields(fields, texts=texts, stops=stops)
    return MergeRule(merge, start, finish, answer_members=(*fields, *texts, *(stops or ())))


GUIDE_MERGE_RULES: dict[str, MergeRule] = {
    "before_tool_call": modifier_rule(
        {"params": "params", "blockReason": "blockReason", "reason": "blockReason"},
        stops={"block": "blocked", "blocked": "blocked"},
        start=unblocked_answer,
        finish=answer_always,
    ),
    "tool_result_persist": modifier_rule(same_names("result", "message")),
    "before_agent_start": modifier_rule(
        {
            "model": "modelOverride",
            "modelOverride": "modelOverride",
            "provider": "providerOverride",
            "providerOverride": "providerOverride",
            **same_names(*PROMPT_FIELDS),
        },
        texts=CONTEXT_FIELDS,
    ),
    "before_prompt_build": modifier_rule(same_names(*PROMPT_FIELDS), texts=CONTEXT_FIELDS),
    "before_message_write": modifier_rule(
        same_names("message", "blockReason"), stops={"block": "block", "blocked": "block"}
    ),
    "message_sending": modifier_rule(same_names("content", "cancelReason"), stops={"cancel": "cancel"}),
}
