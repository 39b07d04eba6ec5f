"""A HOOK.md has no handler beside it.

Hosts look for certain names and pass the folder over where there is none of them.

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"]}}
        ---

Good:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"]}}
        ---
    handler.py
        def handler(event): ...
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, error
from hookscope.authoring.lint.rules.handler_extension import misnamed_handlers


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    no_hook = subject.hook is None and subject.header.exists
    if no_hook and subject.handler is None and not misnamed_handlers(subject):
        names = ", ".join((*subject.host.handlers, *subject.host.hookscope_handlers))
        text = "HOOK.md has no handler beside it, and so its folder is no hook."
        yield error(subject.header_position(), text, f"Add one of {names}.")
    elif no_hook and subject.handler is not None and subject.unread_reason:
        text = f"{subject.handler.name} is no file that can be read, and so its folder is no hook."
        yield error(subject.handler_position(), text, "Put a plain file in its place.")


RULE = Rule("handler-missing", __doc__, check, depends_on_host=True)
