"""A handler cannot be read as Python.

Its host, or Hookscope, fails when it loads it.

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"]}}
        ---
    handler.py
        def handler(event:

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

from hookscope.core.text import one_line
from hookscope.lint.model import Rule, Said
from hookscope.lint.subject import Subject, error


def check(subject: Subject) -> Iterator[Said]:
    wrong = subject.facts.error if subject.facts is not None else None
    if wrong is not None and subject.handler is not None:
        text = f"{subject.handler.name} cannot be read: {one_line(wrong.name)}."
        yield error(subject.in_handler(wrong), text, "Until it reads, it does not load.")


RULE = Rule("handler-syntax", __doc__, check, reads_source=True)
