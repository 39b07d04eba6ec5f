"""A hook subscribes to an event that its host does not have.

Hosts register any name without a message, so such a hook is listed as ready but never runs. The name may be
a typo, or belong to another host, to a plugin hook or to another program.

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["message:recieved"]}}
        ---
    handler.py
        def handler(event): ...

Good:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["message:received"]}}
        ---
    handler.py
        def handler(event): ...
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, Severity
from hookscope.authoring.lint.rule_helpers import (
    dead_events,
    doubtful_events,
    is_all_dead,
    later_events,
    later_senders,
)
from hookscope.model.event_typos import UnsentEvent
from hookscope.model.hook import Edit
from hookscope.model.text import one_line


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    severity = Severity.ERROR if is_all_dead(subject) else Severity.WARNING
    never = ", so this hook never runs" if severity is Severity.ERROR else ""
    for dead in dead_events(subject):
        if not dead.known and _needs_on(dead.key, subject):
            text = f"`{dead.key}` needs `api.on`: `registerHook` has no effect for it."
            advice = f'Write `api.on("{dead.key}", …)`.'
            yield RuleMessage(severity, subject.event_position(dead.key), text, advice)
        elif not dead.known:
            why = f": {dead.why}" if dead.why else ""
            host = subject.host.dialect if dead.other_dialect else subject.host.product
            text = f"`{one_line(dead.key, 60)}` is not an event of {host}{never}{why}."
            next_step = dead.advice or "`hookscope events` lists the events."
            yield RuleMessage(
                severity, subject.event_position(dead.key), text, next_step, _fix(dead, subject)
            )
    for key in later_events(subject):
        sender = later_senders(subject)[key]
        text = f"`{key}` is not in {subject.host.product}'s guide, but {sender} sends it."
        next_step = f"Use `--dialect {sender}` for the rules and events of that program."
        yield RuleMessage(Severity.HINT, subject.event_position(key), text, next_step)
    for dead in doubtful_events(subject):
        why = f": {dead.why}" if dead.why else ""
        name = one_line(dead.key, 60)
        text = f"{subject.host.product} does not document `{name}` and may never send it{why}."
        next_step = dead.advice or "`hookscope events` lists the events."
        yield RuleMessage(Severity.HINT, subject.event_position(dead.key), text, next_step)


def _needs_on(key: str, subject: LintSubject) -> bool:
    """Return whether a plugin uses `registerHook`, which is for folder events, for a plugin event."""
    known = subject.host.catalogue.by_key.get(key)
    in_folder = subject.hook is not None and key in subject.hook.meta.folder_events
    return in_folder and known is not None and known.kind == "plugin"


def _fix(dead: UnsentEvent, subject: LintSubject) -> tuple[Edit, ...] | None:
    written = subject.metadata.get("events")
    if len(dead.instead) != 1 or dead.instead[0] in subject.events or not isinstance(written, list):
        return None
    path = (*subject.metadata_path, "events", written.index(dead.key)) if dead.key in written else None
    return (subject.edit(path, dead.instead[0], f"{dead.key} → {dead.instead[0]}"),) if path else None


RULE = Rule("events-unknown", __doc__, check, depends_on_host=True)
