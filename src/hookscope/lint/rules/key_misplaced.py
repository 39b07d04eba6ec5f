"""A key of the metadata stands at the top of the front matter.

At the top a host reads name, description, homepage and metadata. `events` or `requires` there does nothing.

Bad:
    HOOK.md
        ---
        name: tidy
        events: ["command:new"]
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

from hookscope.lint.keys import MISPLACED, OWN
from hookscope.lint.model import Rule, Said, Severity
from hookscope.lint.subject import Subject


def misplaced(subject: Subject) -> tuple[str, ...]:
    """The keys at the top that mean nothing there, and do not stand in the metadata too."""
    if subject.header.error is not None:
        return ()
    return tuple(name for name in subject.header.value if name in MISPLACED and name not in subject.own)


def check(subject: Subject) -> Iterator[Said]:
    for name in misplaced(subject) if subject.kind == "folder" else ():
        wanted = f"metadata.{subject.base[1]}"
        value = subject.header.value[name]
        place = subject.in_header(name)
        if name in OWN:
            needed = name in ("events", "requires")
            fix = (subject.edit((*subject.base, name), value, f"{name} → {wanted}.{name}"),)
            text = f"`{name}` stands at the top of the front matter, where nothing reads it."
            severity = Severity.ERROR if needed else Severity.WARNING
            yield Said(severity, place, text, f"Move it to `{wanted}.{name}`.", fix)
        else:
            text = f"`{name}` is no key of a HOOK.md: nothing reads it."
            yield Said(Severity.WARNING, place, text, MISPLACED[name])


RULE = Rule("key-misplaced", __doc__, check)
