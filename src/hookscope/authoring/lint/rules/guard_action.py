"""A guard tests an action that the hook does not listen to.

No event of that action reaches it: what stands behind the guard never runs.

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"]}}
        ---
    handler.py
        def handler(event):
            if event.action in ("new", "reset"):
                print(event.action)

Good:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new", "command:reset"]}}
        ---
    handler.py
        def handler(event):
            if event.action in ("new", "reset"):
                print(event.action)
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, warning
from hookscope.authoring.lint.rule_helpers import is_whole_key
from hookscope.model.text import one_line


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    events = subject.events
    if subject.facts is None or subject.kind != "folder" or not all(":" in key for key in events):
        return  # of a family it hears every action
    actions = {key.partition(":")[2] for key in events}
    for occurrence in subject.facts.guards if actions else ():
        if (
            occurrence.kind == "action"
            and occurrence.name
            and occurrence.name not in actions
            and not is_whole_key(occurrence, subject)
        ):
            text = f"The hook listens to no event of the action `{one_line(occurrence.name, 60)}`."
            next_step = f"Its events are {', '.join(events[:5])}: add one, or drop the guard."
            yield warning(subject.handler_position(occurrence), text, next_step)


RULE = Rule("guard-action", __doc__, check, reads_source=True)
