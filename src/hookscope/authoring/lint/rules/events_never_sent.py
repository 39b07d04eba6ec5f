"""A hook subscribes to an event that its host documents but never sends.

The event's name is correct, but the event never arrives. A guide may document events that its program does
not send, and omit events that it sends. Hookscope follows what the program was seen to send.

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
    never = ", so this hook never runs" if severity is Severity.ERROR else ""
    for dead in dead_events(subject):
        if dead.known:
            text = f"{subject.host.product} documents `{dead.key}` but never sends it{never}."
            next_step = dead.advice or "`hookscope events` shows which events are sent, and when."
            yield RuleMessage(severity, subject.event_position(dead.key), text, next_step)


RULE = Rule("events-never-sent", __doc__, check, depends_on_host=True)
