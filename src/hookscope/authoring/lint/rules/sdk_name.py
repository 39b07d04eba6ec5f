"""A handler imports its host's package under a wrong name.

The import fails, so the hook does not load. An `import type` is harmless: it is removed before the file runs.

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"]}}
        ---
    handler.ts
        import { defineHook } from "@anthropic-ai/openclaw/hooks";
        export default defineHook(async (event) => {});

Good:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"]}}
        ---
    handler.ts
        import type { HookHandler } from "openclaw/hooks";
        const handler: HookHandler = async (event) => {};
        export default handler;
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, error
from hookscope.authoring.lint.rule_helpers import is_misnamed
from hookscope.model.text import one_line


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    packages = subject.host.packages
    for occurrence in subject.facts.imports if subject.facts is not None and _is_script(subject) else ():
        if occurrence.kind != "type" and is_misnamed(occurrence.name, packages):
            text = f"`{one_line(occurrence.name, 80)}` is not a package of {subject.host.product}."
            next_step = f"Use {' or '.join(packages)}, and import only types where you can."
            yield error(subject.handler_position(occurrence), text, next_step)


def _is_script(subject: LintSubject) -> bool:
    return subject.handler is not None and subject.handler.suffix != ".py"


RULE = Rule("sdk-name", __doc__, check, reads_source=True)
