"""A handler pushes a message that is not a string.

Hosts join messages as strings: for an object, the user sees `[object Object]`.

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"]}}
        ---
    handler.py
        def handler(event):
            event.messages.append({"role": "system", "content": "Tidied up."})

Good:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"]}}
        ---
    handler.py
        def handler(event):
            event.messages.append("Tidied up.")
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, warning


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    if subject.facts is None or subject.kind != "folder":
        return
    for push in subject.facts.pushes:
        if push.kind:
            text = f"The handler pushes {push.kind} as a message, but the host joins messages as strings."
            yield warning(subject.handler_position(push), text, "Push a string.")


RULE = Rule("message-not-text", __doc__, check, reads_source=True)
