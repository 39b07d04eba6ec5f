"""`os` contains a platform name that hosts do not use.

Hosts require an exact match with Node's names: linux, darwin, win32. A hook for `macos` runs nowhere.

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"], os: [macos]}}
        ---
    handler.py
        def handler(event): ...

Good:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"], os: [darwin]}}
        ---
    handler.py
        def handler(event): ...
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, error
from hookscope.hosts.gates.os import PLATFORM_SYNONYMS
from hookscope.model.text import one_line

PLATFORMS = frozenset(
    {"aix", "android", "cygwin", "darwin", "freebsd", "linux", "netbsd", "openbsd", "sunos", "win32"}
)


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    written = subject.metadata.get("os")
    names: list[object] = written if isinstance(written, list) else []
    for index, name in enumerate(names):
        if not isinstance(name, str) or name in PLATFORMS:
            continue
        closest = PLATFORM_SYNONYMS.get(name.lower()) or (name.lower() if name.lower() in PLATFORMS else None)
        path = (*subject.metadata_path, "os", index)
        fix = (
            (subject.edit(path, closest, f"{name} → {closest}"),)
            if closest and closest not in names
            else None
        )
        next_step = f"Write `{closest}`." if closest else "Use linux, darwin or win32."
        text = f"`{one_line(name, 40)}` is not a platform name: no machine matches it."
        yield error(subject.header_position(*path), text, next_step, fix)


RULE = Rule("os-unknown", __doc__, check)
