"""A handler imports its host's package under a wrong name.

The import fails, so the hook does not load. An `import type` is harmless: it is removed before the file runs.

Bad:
    HOOK.md as usual
    handler.ts
        import { defineHook } from "@anthropic-ai/openclaw/hooks";
        export default defineHook(async (event) => {});

Good:
    HOOK.md as usual
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
    for occurrence in (
        subject.source_facts.imports if subject.handler and subject.handler.suffix != ".py" else ()
    ):
        if occurrence.kind != "type" and is_misnamed(occurrence.name, packages):
            text = f"`{one_line(occurrence.name, 80)}` is not a package of {subject.host.product}."
            next_step = f"Use {' or '.join(packages)}, and import only types where you can."
            yield error(subject.handler_position(occurrence), text, next_step)


RULE = Rule("sdk-name", __doc__, check, reads_source=True)
