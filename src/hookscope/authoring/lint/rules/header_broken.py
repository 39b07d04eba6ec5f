"""The front matter of a HOOK.md cannot be read.

It has no end, is not valid UTF-8 or YAML, or is longer than 64 KiB. The host skips the hook.

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"}}
        ---
    handler.py
        def handler(event): ...

Good:
    HOOK.md as usual
    handler.py
        def handler(event): ...
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, error
from hookscope.model.hook import FilePosition
from hookscope.model.text import one_line


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    wrong = subject.header.error
    if subject.header.unreadable:
        yield error(
            subject.header_position(), "HOOK.md cannot be read.", "Correct its permissions or its link."
        )
    if wrong is None or subject.manifest is None or subject.events:  # a host may read what YAML refuses
        return
    where = FilePosition(subject.manifest, wrong.span.line, wrong.span.column)
    long = "; only the first 64 KiB of the file are read" if not subject.header.complete else ""
    text = f"The front matter cannot be read: {one_line(wrong.problem)}{long}."
    next_step = (
        "The host skips the hook until the header is valid."
        if subject.hook is None
        else "Until the header is valid, the hook has no events."
    )
    if subject.header.quoted_line:
        next_step = f"Write it as `{one_line(subject.header.quoted_line, 200)}`."
    if subject.header.conflict_line:
        next_step = f"Line {subject.header.conflict_line} begins an unresolved merge conflict: keep one side."
    yield error(where, text, next_step)


RULE = Rule("header-broken", __doc__, check)
