"""What a merge rule is, and the small steps that merge rules are made of."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

from hookscope.formats.script_values import script_text
from hookscope.systems.folders.requirements import truthy
from hookscope.values import dataclass

Answer = Mapping[str, Any]
Payload = Mapping[str, Any]
BLANK_LINE = "\n\n"


@dataclass(frozen=True, slots=True)
class Told:
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


Merge = Callable[[Answer, Told], Merged]


def nothing(payload: Payload) -> Answer:
    """The answer before anybody was asked."""
    return {}


def as_answered(answer: Answer, answered: bool, asked: bool) -> Answer | None:
    """None where nobody answered, whoever was asked."""
    return answer if answered else None


def always(answer: Answer, answered: bool, asked: bool) -> Answer:
    """The answer, whether or not anybody was asked."""
    return answer


@dataclass(frozen=True, slots=True)
class MergeRule:
    """How the answers to one hook add up."""

    merge: Merge
    start: Callable[[Payload], Answer] = nothing
    finish: Callable[[Answer, bool, bool], Answer | None] = as_answered  # (answer, answered, anybody asked)
    failed: Callable[[Answer, Told], Answer] | None = None  # `value` is the error's text; None: it is skipped
    null: bool = False  # is null an answer, and not the same as none
    silence: bool = False  # is it of interest that somebody gave no answer
    own_event: bool = False  # has each an event of its own: what one sets there, no other sees
    own_members: tuple[str, ...] = ()  # members of that object which are copies, with all that is in them
    answers: tuple[str, ...] = ()  # members that an answer may have
    copied: tuple[str, ...] = ()  # members of the event whose insides no handler changes for its host
    kept: tuple[str, ...] = ()  # members whose insides stay as a handler left them, whatever it returns


def given(answer: Answer, told: Told, *names: str) -> dict[str, Any]:
    """Those of the named fields that a handler gave; null is none (plug-01)."""
    fields = told.fields
    return {name: fields[name] for name in names if fields.get(name) is not None}


def first_wins(*names: str) -> Merge:
    """Field by field, who answers first."""

    def merge(answer: Answer, told: Told) -> Merged:
        return Merged({**given(answer, told, *names), **answer})

    return merge


def joined(left: Any, right: Any) -> Any:
    """Two texts with a blank line between them. Where one says nothing: the second, unless there is none."""
    if truthy(left) and truthy(right):
        return script_text(left) + BLANK_LINE + script_text(right)
    return left if right is None else right


def with_joined(answer: Answer, told: Told, names: Sequence[str]) -> dict[str, Any]:
    """The answer with the named texts of another handler behind those it has."""
    texts = {name: joined(answer.get(name), told.fields.get(name)) for name in names}
    return {**answer, **{name: text for name, text in texts.items() if text is not None}}


def joins(*names: str) -> Merge:
    """Texts, one behind the other in running order."""
    return lambda answer, told: Merged(with_joined(answer, told, names))


def last_wins(*names: str, sticks: str) -> Merge:
    """Field by field, who answers last; `sticks: true` stays and ends the asking."""

    def merge(answer: Answer, told: Told) -> Merged:
        stop = told.fields.get(sticks) is True
        return Merged(
            {**answer, **given(answer, told, *names), **({sticks: True} if stop else {})}, stop=stop
        )

    return merge
