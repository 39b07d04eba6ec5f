"""A HOOK.md or a handler is empty.

An empty HOOK.md defines no hook, and an empty handler has no function to call.

Bad:
    HOOK.md
    handler.py
        def handler(event): ...

Good:
    HOOK.md as usual
    handler.py
        def handler(event): ...
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, error


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    if subject.manifest is not None and subject.header.empty:
        yield error(
            subject.header_position(), "HOOK.md is empty.", "Write its front matter: name and metadata."
        )
    if subject.handler is not None and not subject.unread_reason and not subject.text.strip():
        yield error(subject.handler_position(), f"{subject.handler.name} is empty.", "Write a handler.")


RULE = Rule("file-empty", __doc__, check)
