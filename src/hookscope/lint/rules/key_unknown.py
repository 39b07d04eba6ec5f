"""A key below the host's metadata is none that anything reads.

A slip in `events` or `requires` makes a hook that never runs, or one that runs where it should not; other
keys, such as `priority`, only look as if they did something.

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"], priority: 10}}
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

from collections.abc import Iterator, Set

from hookscope.core.meant import meant
from hookscope.core.text import one_line
from hookscope.lint.keys import OWN, REQUIRES
from hookscope.lint.model import Rule, Said
from hookscope.lint.subject import Subject, hint, warning


def check(subject: Subject) -> Iterator[Said]:
    yield from _of(subject, (), subject.own, OWN)
    requires = subject.own.get("requires")
    if isinstance(requires, dict):
        yield from _of(subject, ("requires",), requires, REQUIRES)


def _of(subject: Subject, path: tuple[str, ...], given: object, known: Set[str]) -> Iterator[Said]:
    for name in given if isinstance(given, dict) else ():
        if name in known:
            continue
        place = subject.in_header(*subject.base, *path, name)
        near = meant(name, known)
        text = f"Nothing reads the key `{one_line(str(name), 60)}` of the metadata."
        if near is not None:
            yield warning(place, text, f"Did you mean `{near}`?")
        else:
            yield hint(place, text, "Leave it out.")


RULE = Rule("key-unknown", __doc__, check)
