"""A hook subscribes to an event that its host documents and never sends.

The name is right and nothing comes. Guides run ahead of programs, and programs of their guides: what was seen
to be sent decides.

Host: milady@2.0.0-alpha.76

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {"milady": {"events": ["command:new"]}}
        ---
    handler.ts
        export default async () => {};

Good:
    HOOK.md
        ---
        name: tidy
        metadata: {"milady": {"events": ["gateway:startup"]}}
        ---
    handler.ts
        export default async () => {};
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, Severity
from hookscope.authoring.lint.rule_helpers import dead_events, is_all_dead


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    severity = Severity.ERROR if is_all_dead(subject) else Severity.WARNING
    never = ", and so this hook never runs" if severity is Severity.ERROR else ""
    for dead in dead_events(subject):
        if dead.known:
            text = f"{subject.host.product} documents `{dead.key}` and never sends it{never}."
            next_step = dead.advice or "`hookscope events` shows what is sent, and when."
            yield RuleMessage(severity, subject.event_position(dead.key), text, next_step)


RULE = Rule("events-never-sent", __doc__, check, depends_on_host=True)
