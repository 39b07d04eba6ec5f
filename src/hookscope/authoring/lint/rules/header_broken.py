"""The front matter of a HOOK.md cannot be read.

It does not end, is not UTF-8, is not YAML, or is longer than 64 KiB. Its host passes the hook over.

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"}}
        ---
    handler.py
        def handler(event): ...

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
from hookscope.model.hook import FilePosition
from hookscope.model.text import one_line


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    wrong = subject.header.error
    if subject.header.unreadable:
        yield error(
            subject.header_position(), "HOOK.md cannot be read.", "Mend its permissions, or what it links to."
        )
    if wrong is None or subject.manifest is None or subject.events:  # a host may read what YAML refuses
        return
    where = FilePosition(subject.manifest, wrong.span.line, wrong.span.column)
    long = "; no more than 64 KiB of it are read" if not subject.header.complete else ""
    text = f"The front matter cannot be read: {one_line(wrong.problem)}{long}."
    next_step = (
        "The host skips the hook until the header is valid."
        if subject.hook is None
        else "The hook has no events there."
    )
    if subject.header.quoted_line:
        next_step = f"Write it as `{one_line(subject.header.quoted_line, 200)}`."
    if subject.header.conflict_line:
        next_step = (
            f"A merge was left in the middle at line {subject.header.conflict_line}: keep one of its sides."
        )
    yield error(where, text, next_step)


RULE = Rule("header-broken", __doc__, check)
