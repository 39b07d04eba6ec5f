"""An entry in a pack's list of hooks does not name a hook.

Each entry of `hooks` below the host's key in package.json must name a folder inside the package that has a
HOOK.md and a handler. `install` stops at the first entry that does not.

Bad:
    package.json
        {"name": "tidy", "openclaw": {"hooks": ["./hooks/a", "./hooks/b"]}}
    hooks/a/HOOK.md
        ---
        name: a
        metadata: {openclaw: {events: ["command:new"]}}
        ---
    hooks/a/handler.py
        def handler(event): ...

Good:
    package.json
        {"name": "tidy", "openclaw": {"hooks": ["./hooks/a"]}}
    hooks/a/HOOK.md
        ---
        name: a
        metadata: {openclaw: {events: ["command:new"]}}
        ---
    hooks/a/handler.py
        def handler(event): ...
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, error

ADVICE = "Name a folder inside the package with a HOOK.md and a handler."


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    for fault in subject.pack_faults:
        yield error(fault.place, fault.reason, ADVICE)


RULE = Rule("pack-entry", __doc__, check, depends_on_host=True)
