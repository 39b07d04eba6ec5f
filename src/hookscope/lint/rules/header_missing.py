"""A file is called HOOK.md and has no front matter.

Hosts pass it over without a word. With a handler beside it, a hook was meant; without one it is a text of
that name, which is no mistake.

Bad:
    HOOK.md
        # Tidy

        Tidies up when a session begins.
    handler.py
        def handler(event): ...

Good:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"]}}
        ---
        # Tidy

        Tidies up when a session begins.
    handler.py
        def handler(event): ...
"""

from collections.abc import Iterator

from hookscope.lint.model import Rule, Said
from hookscope.lint.subject import Subject, error, hint


def check(subject: Subject) -> Iterator[Said]:
    header = subject.header
    if subject.manifest is None or header.exists or header.empty or subject.hook is not None:
        return
    if subject.handler is None:
        yield hint(subject.in_header(), "HOOK.md without front matter: not a hook.", "Give it another name.")
    else:
        yield error(
            subject.in_header(),
            "HOOK.md has no front matter, and so its folder is no hook.",
            "Its first line must be `---`, then name and metadata, then `---` again.",
        )


RULE = Rule("header-missing", __doc__, check)
