"""The metadata is one text in quotes.

It looks like JSON and is none to a host that reads YAML: a text has no events.

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
    fix = (subject.edit(("metadata",), value, "metadata: out of its quotes"),) if value else None
    too = f"; {subject.host.program} reads it as it is" if value and subject.host.program_reads else ""
    yield error(
        subject.header_position("metadata"),
        "`metadata` is one text in quotes, and so it has no events.",
        f"Take the quotes away: JSON is YAML too{too}.",
        fix,
    )


RULE = Rule("metadata-quoted", __doc__, check, depends_on_host=True)
