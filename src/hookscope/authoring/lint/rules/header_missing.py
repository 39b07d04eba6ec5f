"""A HOOK.md has no front matter.

Hosts skip such a file without a message. With a handler beside it, the folder was meant as a hook: that is an
error. Without a handler, the file may be an ordinary text of that name: that is only a hint.

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

import re
from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, error, hint

REGISTERS = r"^(?:export\s+default\s+(?:async\s+)?function\s+register|(?:async\s+)?def\s+register)\s*\("
PLUGIN = re.compile(REGISTERS, re.MULTILINE)


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    header = subject.header
    marked = header.source.startswith(b"\xef\xbb\xbf")
    if subject.rejected is not None and subject.handler is not None and header.exists and marked:
        yield error(
            subject.header_position(),
            f"HOOK.md begins with a byte order mark, so {subject.host.product} sees no front matter.",
            "Save it as UTF-8 without a byte order mark.",
        )
    if subject.manifest is None or header.exists or header.empty or header.unreadable or subject.events:
        return
    if subject.hook is not None and subject.hook.kind != "folder":  # its manifest is another file
        return
    if subject.handler is None:
        yield hint(
            subject.header_position(), "HOOK.md has no front matter, so it is not a hook.", "Rename it."
        )
    elif PLUGIN.search(subject.text):
        text = f"{subject.handler.name} registers plugin handlers, so its folder is a plugin, not a hook."
        next_step = "Move it to a plugins folder, and rename its HOOK.md."
        yield hint(subject.header_position(), text, next_step)
    else:
        so = "its folder is not a hook" if subject.hook is None else "the hook has no events"
        yield error(
            subject.header_position(),
            f"HOOK.md has no front matter, so {so}.",
            "Begin it with a line `---`, name and metadata, and another line `---`.",
        )


RULE = Rule("header-missing", __doc__, check, depends_on_host=True)
