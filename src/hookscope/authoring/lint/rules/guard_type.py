"""A guard tests a type that the hook does not subscribe to.

A guard is an `if` on the event. No event of that type reaches the hook, so the guarded code never runs.

Bad:
    HOOK.md as usual
    handler.py
        def handler(event):
            if event.type == "gateway":
                print("started")

Good:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new", "gateway:startup"]}}
        ---
    handler.py
        def handler(event):
            if event.type == "gateway":
                print("started")
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, warning
from hookscope.authoring.lint.rule_helpers import is_whole_key
from hookscope.model.text import one_line


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    if not subject.events:
        return
    types = {key.partition(":")[0] for key in subject.events}
    for occurrence in subject.source_facts.guards:
        if (
            occurrence.kind == "type"
            and occurrence.name not in types
            and not is_whole_key(occurrence, subject)
        ):
            text = f"The hook subscribes to no event of the type `{one_line(occurrence.name, 60)}`."
            next_step = (
                f"Its events are {', '.join(subject.events[:5])}. Add the missing event, or remove the guard."
            )
            yield warning(subject.handler_position(occurrence), text, next_step)


RULE = Rule("guard-type", __doc__, check, reads_source=True, only_folder_hooks=True)
