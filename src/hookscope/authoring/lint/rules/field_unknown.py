"""A handler reads a context field that none of its events has.

Such a field has no value, and reading it often raises no error. Lint checks this only for events whose
whole context is described in the host's sources.

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["message:received"]}}
        ---
    handler.py
        def handler(event):
            print(event.context.get("contents"))

Good:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["message:received"]}}
        ---
    handler.py
        def handler(event):
            print(event.context.get("content"))
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, hint
from hookscope.model.event_schema import UNCHECKED_FIELDS
from hookscope.model.handler_arguments import camel
from hookscope.model.text import closest_match, one_line


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    events = list(subject.received_events())
    open_events = not events or any(not event.described for event in events)
    catalogue = subject.host.catalogue
    families = [catalogue.by_key.get(key) for key in subject.events]
    if open_events:
        return
    if any(event is None or (event.family and event.open and not event.described) for event in families):
        return  # nothing describes the context of its other events
    known = {name for event in events for name in event.fields}
    for occurrence in subject.source_facts.fields:
        if occurrence.name in known or camel(occurrence.name) in known or occurrence.name in UNCHECKED_FIELDS:
            continue
        known.add(occurrence.name)
        name = one_line(occurrence.name, 60)
        keys = " and ".join(event.key for event in events) if len(events) < 4 else "these events"
        closest = closest_match(
            occurrence.name, sorted({field for event in events for field in event.fields})
        )
        next_step = f"Did you mean {closest}?" if closest else "`hookscope events KEY` shows the fields."
        yield hint(
            subject.handler_position(occurrence), f"The context of {keys} has no field {name}.", next_step
        )


RULE = Rule("field-unknown", __doc__, check, reads_source=True, only_folder_hooks=True, depends_on_host=True)
