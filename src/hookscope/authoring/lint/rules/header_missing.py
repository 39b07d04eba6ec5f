"""A file is called HOOK.md and has no front matter.

Hosts pass it over without a word. With a handler beside it, a hook was meant; without one it is a text of
that name, which is not a mistake.

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
            f"HOOK.md begins with a byte order mark: {subject.host.product} sees no front matter.",
            "Save it as UTF-8 without a mark.",
        )
    if subject.manifest is None or header.exists or header.empty or header.unreadable or subject.events:
        return
    if subject.hook is not None and subject.hook.kind != "folder":  # its manifest is another file
        return
    if subject.handler is None:
        yield hint(
            subject.header_position(), "HOOK.md without front matter: not a hook.", "Give it another name."
        )
    elif PLUGIN.search(subject.text):
        text = f"{subject.handler.name} registers a plugin's handlers: its folder is a plugin, and no hook."
        next_step = "Let it lie in a folder of plugins, and give its HOOK.md another name."
        yield hint(subject.header_position(), text, next_step)
    else:
        so = "its folder is not a hook" if subject.hook is None else "the hook has no events"
        yield error(
            subject.header_position(),
            f"HOOK.md has no front matter, and so {so}.",
            "Its first line must be `---`, then name and metadata, then `---` again.",
        )


RULE = Rule("header-missing", __doc__, check, depends_on_host=True)
