"""The metadata is a quoted string.

It looks like JSON, but a host that reads YAML sees a string, which has no events.

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: '{"openclaw": {"events": ["command:new"]}}'
        ---
    handler.py
        def handler(event): ...

Good:
    HOOK.md
        ---
        name: tidy
        metadata: {"openclaw": {"events": ["command:new"]}}
        ---
    handler.py
        def handler(event): ...
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, error


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    if not subject.header.quoted or subject.events:
        return
    value = dict(subject.header.metadata)
    fix = (subject.edit(("metadata",), value, "metadata: quotes removed"),) if value else None
    too = f"; {subject.host.program} already reads it" if value and subject.host.program_reads else ""
    yield error(
        subject.header_position("metadata"),
        "`metadata` is a quoted string, so it has no events.",
        f"Remove the quotes: JSON is valid YAML{too}.",
        fix,
    )


RULE = Rule("metadata-quoted", __doc__, check, depends_on_host=True)
