"""A handler changes a context field, but the host ignores the change.

The host does not wait for the handlers of some events: it continues with its own copy of the context.

Host: openclaw@2026.9

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {"openclaw": {"events": ["message:preprocessed"]}}
        ---
    handler.ts
        export default async (event) => { event.context.bodyForAgent = "[private]"; };

Good:
    HOOK.md
        ---
        name: tidy
        metadata: {"openclaw": {"events": ["message:preprocessed"]}}
        ---
    handler.ts
        export default async (event) => { console.log(event.context.bodyForAgent); };
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, hint, warning
from hookscope.model.text import one_line


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    events = list(subject.received_events())
    unread = [event for event in events if not event.awaited]
    is_certain = len(unread) == len(events)
    named: set[str] = set()
    for change in subject.source_facts.changes:
        keys = [event.key for event in unread if change.name in event.fields]
        is_skipped = change.kind == "default" or (not is_certain and subject.source_facts.guards)
        if not keys or change.name in named or is_skipped:
            continue
        named.add(change.name)
        of_events = " and ".join(keys) if len(keys) < 4 else "these events"
        text = (
            f"The change to context.{one_line(change.name, 60)} is ignored: {subject.host.product} does not "
            f"wait for handlers of {of_events}, or read changes back."
        )
        plugins = any(event.kind == "plugin" for event in subject.host.catalogue.events)
        next_step = "Plugin hooks can change messages: see `hookscope events`." if plugins else ""
        level = warning if is_certain else hint
        yield level(subject.handler_position(change), text, next_step)


RULE = Rule("change-ignored", __doc__, check, reads_source=True, only_folder_hooks=True, depends_on_host=True)
