"""A handler of a HOOK.md hook needs a second argument, and gets none.

Hosts call it with the event alone. What plugins get as their second argument is in the event's context.

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"]}}
        ---
    handler.ts
        export default async function tidy(event, ctx) {
          console.log(ctx.sessionKey);
        }

Good:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"]}}
        ---
    handler.ts
        export default async function tidy(event) {
          console.log(event.sessionKey);
        }
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, warning
from hookscope.model.text import one_line


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    parameters = subject.facts.parameters if subject.facts is not None and subject.kind == "folder" else ()
    for parameter in parameters[:1]:
        name = one_line(parameter.name, 60)
        text = f"The handler receives no `{name}`: it is called with one argument, the event."
        yield warning(subject.handler_position(parameter), text, "`event.context` has the rest.")


RULE = Rule("argument-second", __doc__, check, reads_source=True)
