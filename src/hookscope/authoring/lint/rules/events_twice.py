"""A hook subscribes to a type and to one of its events, or to one event twice.

Its handler runs twice for that event: hosts call every registration that matches.

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: [command, "command:new"]}}
        ---
    handler.py
        def handler(event): ...

Good:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: [command]}}
        ---
    handler.py
        def handler(event): ...
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, warning


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    events = subject.events if subject.kind == "folder" else ()
    for key in dict.fromkeys(events):
        family = key.partition(":")[0]
        if events.count(key) > 1:
            text = f"`{key}` appears twice, so its handler runs twice for it."
            yield warning(subject.event_position(key), text, "Leave one of them out.")
        elif family != key and family in events:
            text = f"`{family}` has `{key}` in it, and so its handler runs twice for that event."
            yield warning(subject.event_position(key), text, "Leave one of them out.")


RULE = Rule("events-twice", __doc__, check)
