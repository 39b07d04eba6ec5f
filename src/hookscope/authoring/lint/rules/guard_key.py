"""A guard compares the event's type or action with a whole event key.

The type of `command:new` is `command` and its action is `new`; neither is ever `command:new`. So the guard is
never true.

Bad:
    HOOK.md as usual
    handler.py
        def handler(event):
            if event.type == "command:new":
                print("new")

Good:
    HOOK.md as usual
    handler.py
        def handler(event):
            if event.type == "command" and event.action == "new":
                print("new")
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, error
from hookscope.authoring.lint.rule_helpers import is_whole_key
from hookscope.model.text import one_line


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    for occurrence in subject.source_facts.guards:
        if is_whole_key(occurrence, subject):
            key = one_line(occurrence.name, 60)
            family, _, action = key.partition(":")
            text = (
                f"The event's {occurrence.kind} is never `{key}`: its type is `{family}` "
                f"and its action is `{action}`."
            )
            yield error(
                subject.handler_position(occurrence), text, "Compare the type and the action separately."
            )


RULE = Rule("guard-key", __doc__, check, reads_source=True, only_folder_hooks=True)
