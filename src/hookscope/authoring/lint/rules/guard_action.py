"""A guard tests an action that the hook does not subscribe to, or that the host never sends.

A guard is an `if` on the event. No event with that action reaches the hook, so the guarded code never runs.

Bad:
    HOOK.md as usual
    handler.py
        def handler(event):
            if event.action in ("new", "reset"):
                print(event.action)

Good:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new", "command:reset"]}}
        ---
    handler.py
        def handler(event):
            if event.action in ("new", "reset"):
                print(event.action)
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, warning
from hookscope.authoring.lint.rule_helpers import is_whole_key
from hookscope.model.text import one_line


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    events = subject.events
    families = [key for key in events if ":" not in key]
    if families:
        yield from _never_sent(subject, families)
        return
    actions = {key.partition(":")[2] for key in events}
    for occurrence in subject.source_facts.guards if actions else ():
        if (
            occurrence.kind == "action"
            and occurrence.name
            and occurrence.name not in actions
            and not is_whole_key(occurrence, subject)
        ):
            text = f"The hook subscribes to no event with the action `{one_line(occurrence.name, 60)}`."
            next_step = f"Its events are {', '.join(events[:5])}. Add the missing event, or remove the guard."
            yield warning(subject.handler_position(occurrence), text, next_step)


def _never_sent(subject: LintSubject, families: list[str]) -> Iterator[RuleMessage]:
    """Yield a message for each guard on an action that no event of these types has."""
    catalogue = subject.host.catalogue
    if any(catalogue.sends(f"{family}:{ANY}") for family in families):
        return  # users define the actions of these types
    received = [event.key for event in subject.received_events()]
    actions = {key.partition(":")[2] for key in (*received, *subject.events)}
    for occurrence in subject.source_facts.guards if received else ():
        if (
            occurrence.kind == "action"
            and occurrence.name not in actions
            and not is_whole_key(occurrence, subject)
        ):
            types = " or ".join(f"`{one_line(family, 60)}`" for family in families[:3])
            action, product = one_line(occurrence.name, 60), subject.host.product
            text = f"{product} sends no {types} event with the action `{action}`."
            next_step = f"It sends {', '.join(received[:5])}."
            yield warning(subject.handler_position(occurrence), text, next_step)


ANY = "any-action"  # a made-up action; the host sends it only if users define the actions of its type
RULE = Rule("guard-action", __doc__, check, reads_source=True, only_folder_hooks=True, depends_on_host=True)
