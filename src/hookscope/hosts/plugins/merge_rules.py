"""How handlers' answers are merged, and the guides' rule for each hook (guides 003 and 004, section 8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

from hookscope.formats.script_members import is_truthy
from hookscope.formats.script_values import script_text
from hookscope.values import dataclass

Answer = Mapping[str, Any]
Payload = Mapping[str, Any]
BLANK_LINE = "\n\n"


@dataclass(frozen=True, slots=True)
class HandlerAnswer:
    """What one handler answered."""

    value: Any  # None only where it answered null in so many words
    plugin: str  # whose handler it is
    payload: Payload  # the event as it stood for this handler
    options: Mapping[str, Any] = field(default_factory=dict)  # of its registration

    @property
    def fields(self) -> Answer:
        """The answer's members; none where it is no object."""
        value = self.value
        return value if type(value) is dict or isinstance(value, Mapping) else {}


@dataclass(frozen=True, slots=True)
class Merged:
    """The answer so far, with one more handler's in it."""

    answer: Answer
    counts: bool = True  # did the handler answer in the sense of its hook
    stop: bool = False  # nobody else is asked
    passes_on: Mapping[str, Any] | None = None  # event fields as the next handler sees them
    failed: str = ""  # why the host fails as it adds this answer, as though the handler had thrown that


Merge = Callable[[Answer, HandlerAnswer], Merged]


def empty_answer(payload: Payload) -> Answer:
    """The answer before anybody was asked."""
    return {}


def answer_if_answered(answer: Answer, answered: bool, asked: bool) -> Answer | None:
    """None where nobody answered, whoever was asked."""
    return answer if answered else None


def answer_always(answer: Answer, answered: bool, asked: bool) -> Answer:
    """The answer, whether or not anybody was asked."""
    return answer


@dataclass(frozen=True, slots=True)
class MergeRule:
    """How the answers to one hook add up."""

    merge: Merge
    start: Callable[[Payload], Answer] = empty_answer
    finish: Callable[[Answer, bool, bool], Answer | None] = (
        answer_if_answered  # (answer, answered, anybody asked)
    )
    failed: Callable[[Answer, HandlerAnswer], Answer] | None = (
        None  # `value` is the error's text; None: it is skipped
    )
    null: bool = False  # is null an answer, and not the same as none
    silence: bool = False  # is it of interest that somebody gave no answer
    own_event: bool = False  # has each an event of its own: what one sets there, no other sees
    own_members: tuple[str, ...] = ()  # members of that object which are copies, with all that is in them
    answers: tuple[str, ...] = ()  # members that an answer may have
    copied: tuple[str, ...] = ()  # members of the event whose insides no handler changes for its host
    kept: tuple[str, ...] = ()  # members whose insides stay as a handler left them, whatever it returns


def answered_fields(answer: Answer, told: HandlerAnswer, *names: str) -> dict[str, Any]:
    """Those of the named fields that a handler gave; null is none (plug-01)."""
    fields = told.fields
    return {name: fields[name] for name in names if fields.get(name) is not None}


def first_answer_wins(*names: str) -> Merge:
    """Field by field, who answers first."""

    def merge(answer: Answer, told: HandlerAnswer) -> Merged:
        return Merged({**answered_fields(answer, told, *names), **answer})

    return merge


def joined_text(left: Any, right: Any) -> Any:
    """Two texts with a blank line between them. Where one says nothing: the second, unless there is none."""
    if is_truthy(left) and is_truthy(right):
        return script_text(left) + BLANK_LINE + script_text(right)
    return left if right is None else right


def with_joined_texts(answer: Answer, told: HandlerAnswer, names: Sequence[str]) -> dict[str, Any]:
    """The answer with the named texts of another handler behind those it has."""
    texts = {name: joined_text(answer.get(name), told.fields.get(name)) for name in names}
    return {**answer, **{name: text for name, text in texts.items() if text is not None}}


def join_texts(*names: str) -> Merge:
    """Texts, one behind the other in running order."""
    return lambda answer, told: Merged(with_joined_texts(answer, told, names))


def last_answer_wins(*names: str, sticks: str) -> Merge:
    """Field by field, who answers last; `sticks: true` stays and ends the asking."""

    def merge(answer: Answer, told: HandlerAnswer) -> Merged:
        stop = told.fields.get(sticks) is True
        return Merged(
            {**answer, **answered_fields(answer, told, *names), **({sticks: True} if stop else {})}, stop=stop
        )

    return merge


def modify_fields(
    fields: Mapping[str, str], *, texts: tuple[str, ...] = (), stops: Mapping[str, str] | None = None
) -> Merge:
    """The last answer wins, field by field.

    `fields` are the words that handlers may write, each with the word of the answer; the next handler sees
    them under both. `texts` are joined with a blank line. `stops` are the words that end the asking when
    they are true, each with the word of the answer.
    """

    def merge(answer: Answer, told: HandlerAnswer) -> Merged:
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


def same_names(*names: str) -> dict[str, str]:
    """Fields that are called alike in event and answer."""
    return {name: name for name in names}


def unblocked_answer(payload: Payload) -> Answer:
    """What the caller of `before_tool_call` reads, before anybody was asked."""
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
    """The rule of a hook whose handlers may answer with these fields."""
    merge = modify_fields(fields, texts=texts, stops=stops)
    return MergeRule(merge, start, finish, answers=(*fields, *texts, *(stops or ())))


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
