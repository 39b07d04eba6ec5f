"""A handler cannot be parsed in the language of its file name.

The handler fails to load. For TypeScript and JavaScript this is only a warning, because Node may support
syntax that Hookscope's parser does not know.

Bad:
    HOOK.md as usual
    handler.py
        def handler(event:

Good:
    HOOK.md as usual
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
        yield error(
            subject.handler_position(facts.error), text, "Until you correct it, the handler does not load."
        )
    elif facts.doubt is not None:
        what = "TypeScript" if LANGUAGE_OF.get(handler.suffix) == "typescript" else "JavaScript"
        next_step = f"`hookscope load {quote(subject.name)}` shows whether Node can load it."
        yield warning(
            subject.handler_position(facts.doubt), f"{handler.name} cannot be parsed as {what}.", next_step
        )


RULE = Rule("handler-syntax", __doc__, check, reads_source=True)
