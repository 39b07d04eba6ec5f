"""A HOOK.md has front matter but no metadata.

A hook's events are under `metadata`, below the name of its host. Without metadata the hook is found but never
called.

Bad:
    HOOK.md
        ---
        name: tidy
        description: Tidies up
        ---
    handler.py
        def handler(event): ...

Good:
    HOOK.md
        ---
        name: tidy
        description: Tidies up
        metadata: {openclaw: {events: ["command:new"]}}
        ---
    handler.py
        def handler(event): ...
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, error
from hookscope.authoring.lint.rules.key_misplaced import misplaced_keys


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    header = subject.header
    if not header.exists or header.error is not None or subject.kind != "folder":
        return
    if not header.value.get("metadata") and not misplaced_keys(subject):
        yield error(
            subject.header_position(),
            "The front matter has no `metadata` and thus no events, so this hook never runs.",
            f'Add `metadata: {{{subject.namespace}: {{events: ["…"]}}}}`.',
        )


RULE = Rule("metadata-missing", __doc__, check)
