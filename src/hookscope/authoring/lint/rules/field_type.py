"""A field of the metadata has a value of the wrong type.

`events: command:new` is a string where a list belongs. A host that checks types skips the hook. One that does
not ignores the string, or reads each letter as an item.

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: "command:new"}}
        ---
    handler.py
        def handler(event): ...

Good:
    HOOK.md as usual
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
            fix = (subject.edit(fault.path, [value], f"{name}: text → list"),)
        next_step = "Write it as a list: `[…]`." if fix else ""
        yield error(_place(subject, fault), f"{fault.text}.", next_step, fix)


def _place(subject: LintSubject, fault: MetadataFault) -> FilePosition:
    """Return the position in the header; for a handler listed in the settings, the settings file."""
    hook = subject.hook
    if hook is not None and hook.kind == "legacy":
        return FilePosition(hook.folder.path)
    return subject.header_position(*fault.path)


def _text_as_events(subject: LintSubject) -> Iterator[RuleMessage]:
    """Yield an error for a string in place of the events: hosts without type checks ignore it silently."""
    written, path = subject.metadata.get("events"), (*subject.metadata_path, "events")
    if subject.hook is not None and not subject.events and isinstance(written, str) and written:
        text = f"`events` must be a list of strings but is a string: {subject.host.product} ignores it."
        fix = (subject.edit(path, [written], "events: text → list"),)
        yield error(subject.header_position(*path), text, "Write it as a list: `[…]`.", fix)


def _value_at(value: Any, path: KeyPath) -> object:
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value


RULE = Rule("field-type", __doc__, check, depends_on_host=True)
