"""A hook subscribes to an event twice, or to an event and to its whole type.

Hosts call every matching registration, so the handler runs twice for that event.

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
            text = f"`{key}` is listed twice, so the handler runs twice for it."
            yield warning(subject.event_position(key), text, "Remove one of them.")
        elif family != key and family in events:
            text = f"`{family}` includes `{key}`, so the handler runs twice for that event."
            yield warning(subject.event_position(key), text, "Remove one of them.")


RULE = Rule("events-twice", __doc__, check)
