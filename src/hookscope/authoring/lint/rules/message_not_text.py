"""A handler pushes a message that is not a string.

Hosts join messages as strings: for an object, the user sees `[object Object]`.

Bad:
    HOOK.md as usual
    handler.py
        def handler(event):
            event.messages.append({"role": "system", "content": "Tidied up."})

Good:
    HOOK.md as usual
    handler.py
        def handler(event):
            event.messages.append("Tidied up.")
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, warning


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    for push in subject.source_facts.pushes:
        if push.kind:
            text = f"The handler pushes {push.kind} as a message, but the host joins messages as strings."
            yield warning(subject.handler_position(push), text, "Push a string.")


RULE = Rule("message-not-text", __doc__, check, reads_source=True, only_folder_hooks=True)
