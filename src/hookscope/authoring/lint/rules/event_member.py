"""A handler reads or sets an event member that no event has.

An event has `type`, `action`, `sessionKey`, `timestamp`, `messages` and `context`; its details are in
`context`. Any other member has no value, and the host ignores it if a handler sets it.

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["message:received"]}}
        ---
    handler.ts
        export default async (event) => { console.log(event.sessionKey, event.content); };

Good:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["message:received"]}}
        ---
    handler.ts
        export default async (event) => { console.log(event.sessionKey, event.context.content); };
"""

from collections.abc import Iterator, Sequence

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, hint, warning
from hookscope.hosts.source.facts import RETURNED_MEMBERS as ANSWERS_OF_GATES
from hookscope.hosts.source.facts import Occurrence
from hookscope.model.text import one_line

LISTED = 5  # names in one sentence
ANSWERS = ANSWERS_OF_GATES | {
    "blocked",
    "cancelReason",
    "cancelled",
    "handled",
    "reply",
    "response",
    "skip",
    "stop",
}


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    answers = [occurrence for occurrence in subject.source_facts.puts if occurrence.name in ANSWERS]
    if answers:
        text = f"The handler sets {_listed(answers)}, which the host ignores: the action is not stopped."
        plugins = any(event.kind == "plugin" for event in subject.host.catalogue.events)
        next_step = "A HOOK.md hook can answer only through `event.messages`."
        next_step += " A plugin hook such as message_sending can stop the action." if plugins else ""
        yield warning(subject.handler_position(answers[0]), text, next_step)
    fields = {field for event in subject.received_events() for field in event.fields}
    own = [occurrence for occurrence in subject.source_facts.strays if occurrence.name in fields]
    other = [occurrence for occurrence in subject.source_facts.strays if occurrence.name not in fields]
    if own:
        where = "it is" if len({occurrence.name for occurrence in own}) == 1 else "they are"
        text = f"No event has {_listed(own)}: {where} in the event's context."
        yield warning(
            subject.handler_position(own[0]), text, f"Write `event.context.{one_line(own[0].name, 60)}`."
        )
    if other:
        next_step = "An event's details are in `event.context`; `hookscope events KEY` shows the fields."
        yield hint(subject.handler_position(other[0]), f"No event has {_listed(other)}.", next_step)


def _listed(occurrences: Sequence[Occurrence]) -> str:
    names = list(dict.fromkeys(occurrence.name for occurrence in occurrences))
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(f"`event.{one_line(name, 60)}`" for name in names[:LISTED]) + more


RULE = Rule("event-member", __doc__, check, reads_source=True, only_folder_hooks=True, depends_on_host=True)
