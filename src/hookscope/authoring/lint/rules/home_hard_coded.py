"""A handler contains the path of one user's home folder.

`/Users/joe/…` exists on one machine only. Get the home folder from the system, or the workspace from the
event's context.

Bad:
    HOOK.md as usual
    handler.py
        def handler(event):
            open("/Users/joe/notes.txt").read()

Good:
    HOOK.md as usual
    handler.py
        from pathlib import Path

        def handler(event):
            (Path.home() / "notes.txt").read_text()
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, warning
from hookscope.model.text import one_line


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    for occurrence in subject.source_facts.homes:
        text = f"`{one_line(occurrence.name, 60)}` is one user's home folder, on one machine."
        yield warning(
            subject.handler_position(occurrence),
            text,
            "Get the home folder from the system, or use the event's workspace.",
        )


RULE = Rule("home-hard-coded", __doc__, check, reads_source=True)
