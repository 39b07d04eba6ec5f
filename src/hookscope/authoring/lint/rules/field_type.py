"""A field of the metadata has a value of the wrong type.

`events: command:new` is a text where a list belongs. A host that checks types passes the hook over; one
that does not takes the text letter by letter.

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: "command:new"}}
        ---
    handler.py
        def handler(event): ...

Good:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"]}}
        ---
    handler.py
        def handler(event): ...
"""

from collections.abc import Iterator
from typing import Any

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, error
from hookscope.formats.positions import KeyPath
from hookscope.hosts.folders.manifest import REQUIREMENT_FIELDS
from hookscope.model.hook import FilePosition, MetadataFault

LISTS = frozenset({"events", "os", *REQUIREMENT_FIELDS})


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    faults = subject.hook.meta.faults if subject.hook is not None else ()
    yield from _text_as_events(subject) if not faults else ()
    for fault in faults if not subject.header.quoted else ():
        value = _value_at(subject.header.value, fault.path)
        fix = None
        if isinstance(value, str) and fault.path and fault.path[-1] in LISTS:
            name = fault.path[-1]
            fix = (subject.edit(fault.path, [value], f"{name}: a list of one"),)
        next_step = "Write it as a list: `[…]`." if fix else ""
        yield error(_place(subject, fault), f"{fault.text}.", next_step, fix)


def _place(subject: LintSubject, fault: MetadataFault) -> FilePosition:
    """In its header; of a handler that the settings list, in their file."""
    hook = subject.hook
    if hook is not None and hook.kind == "legacy":
        return FilePosition(hook.folder.path)
    return subject.header_position(*fault.path)


def _text_as_events(subject: LintSubject) -> Iterator[RuleMessage]:
    """A host that checks no types ignores a text without a message."""
    written, path = subject.metadata.get("events"), (*subject.metadata_path, "events")
    if subject.hook is not None and not subject.events and isinstance(written, str) and written:
        text = f"`events` must be a list of strings and is a string: {subject.host.product} ignores it."
        fix = (subject.edit(path, [written], "events: a list of one"),)
        yield error(subject.header_position(*path), text, "Write it as a list: `[…]`.", fix)


def _value_at(value: Any, path: KeyPath) -> object:
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value


RULE = Rule("field-type", __doc__, check, depends_on_host=True)
