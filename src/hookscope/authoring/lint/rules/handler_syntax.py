"""A handler cannot be read as what its name says.

Its host, or Hookscope, fails when it loads it. Of TypeScript and JavaScript that is a warning: Node may know
of words that the grammar used here does not know.

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"]}}
        ---
    handler.py
        def handler(event:

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
from shlex import quote

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, error, warning
from hookscope.model.hook import LANGUAGE_OF
from hookscope.model.text import one_line


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    facts, handler = subject.facts, subject.handler
    if facts is None or handler is None:
        return
    if facts.error is not None:
        text = f"{handler.name} has a syntax error: {one_line(facts.error.name)}."
        yield error(subject.handler_position(facts.error), text, "It does not load until this is corrected.")
    elif facts.doubt is not None:
        what = "TypeScript" if LANGUAGE_OF.get(handler.suffix) == "typescript" else "JavaScript"
        next_step = f"`hookscope load {quote(subject.name)}` shows how Node reads it."
        yield warning(
            subject.handler_position(facts.doubt), f"{handler.name} does not read as {what} here.", next_step
        )


RULE = Rule("handler-syntax", __doc__, check, reads_source=True)
