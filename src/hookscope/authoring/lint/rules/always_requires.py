"""`always: true` disables the checks of `requires`.

With `always: true` the host skips these checks, so the hook also runs where its requirements are not met.

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"], always: true, requires: {bins: [jq]}}}
        ---
    handler.py
        def handler(event): ...

Good:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"], requires: {bins: [jq]}}}
        ---
    handler.py
        def handler(event): ...
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, warning
from hookscope.authoring.lint.rule_helpers import REQUIRES_KEYS


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    requires = subject.metadata.get("requires")
    if (
        subject.metadata.get("always") is True
        and isinstance(requires, dict)
        and any(map(requires.get, REQUIRES_KEYS))
    ):
        path = (*subject.metadata_path, "always")
        fix = (subject.edit(path, False, "always: true → false"),)
        text = "`always: true` skips these checks, so `requires` has no effect."
        yield warning(subject.header_position(*path), text, "Remove one of the two.", fix)


RULE = Rule("always-requires", __doc__, check)
