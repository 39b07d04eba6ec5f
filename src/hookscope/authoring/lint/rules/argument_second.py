"""The handler of a HOOK.md hook needs a second argument, but hosts pass only the event.

Only plugin handlers get a second argument. A HOOK.md hook finds such data in the event (`event.sessionKey`)
or in its context (`event.context`).

Bad:
    HOOK.md as usual
    handler.ts
        export default async function tidy(event, ctx) {
          console.log(ctx.sessionKey);
        }

Good:
    HOOK.md as usual
    handler.ts
        export default async function tidy(event) {
          console.log(event.sessionKey);
        }
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, warning
from hookscope.model.text import one_line


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    parameters = subject.source_facts.parameters
    for parameter in parameters[:1]:
        name = one_line(parameter.name, 60)
        text = f"The handler receives no `{name}`: the host passes one argument, the event."
        yield warning(subject.handler_position(parameter), text, "Use `event.context` instead.")


RULE = Rule("argument-second", __doc__, check, reads_source=True, only_folder_hooks=True)
