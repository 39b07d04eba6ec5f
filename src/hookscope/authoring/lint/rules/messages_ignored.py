"""A handler pushes messages that its host does not show.

Hosts show messages to the user for some events only, and drop the others without an error.

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["gateway:startup"]}}
        ---
    handler.py
        def handler(event):
            event.messages.append("Tidied up.")

Good:
    HOOK.md as usual
    handler.py
        def handler(event):
            event.messages.append("Tidied up.")
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, hint, warning


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    if not subject.source_facts.pushes:
        return
    events = list(subject.received_events())
    ignored = [event.key for event in events if not event.delivers]
    place, product = subject.handler_position(subject.source_facts.pushes[0]), subject.host.product
    if not ignored:
        return
    if len(ignored) == len(events):
        keys = " and ".join(ignored) if len(ignored) < 4 else "any of its events"
        text = f"{product} does not show the messages of {keys}."
        yield warning(place, text, "Write to a file or to standard output, or subscribe to another event.")
    elif not subject.source_facts.guards:
        text = f"{product} does not show the messages of {' and '.join(ignored[:3])}."
        yield hint(place, text, "It shows those of the hook's other events.")


RULE = Rule(
    "messages-ignored", __doc__, check, reads_source=True, only_folder_hooks=True, depends_on_host=True
)
