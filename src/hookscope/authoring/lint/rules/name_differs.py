"""A hook's name differs from the name of its folder.

Hosts list the hook by its name, so a search on disk for that name does not find the folder. Differences in
case, `-` and `_` are ignored.

Folder: tidy-up

Bad:
    HOOK.md
        ---
        name: cleaner
        metadata: {openclaw: {events: ["command:new"]}}
        ---
    handler.py
        def handler(event): ...

Good:
    HOOK.md
        ---
        name: tidy-up
        metadata: {openclaw: {events: ["command:new"]}}
        ---
    handler.py
        def handler(event): ...
"""

import re
from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, hint
from hookscope.model.text import one_line


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    hook = subject.hook
    if hook is None or hook.kind != "folder" or "name" not in subject.header.value:
        return
    if _plain(hook.name) != _plain(subject.folder.name):
        text = f"The hook is called `{one_line(hook.name, 60)}`, but its folder `{subject.folder.name}`."
        yield hint(subject.header_position("name"), text, "Give both the same name.")


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", "-", name.strip().lower())


RULE = Rule("name-differs", __doc__, check)
