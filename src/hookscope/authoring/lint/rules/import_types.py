"""An import of types does not say so, and its host removes nothing but what is marked as types.

The import stays behind when the types are gone, and fails: what it names is not there when the handler runs.

Host: openclaw@2026.9

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"]}}
        ---
    handler.ts
        import { HookHandler } from "openclaw/hooks";
        const handler: HookHandler = async (event) => { console.log(event.action); };
        export default handler;

Good:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"]}}
        ---
    handler.ts
        import type { HookHandler } from "openclaw/hooks";
        const handler: HookHandler = async (event) => { console.log(event.action); };
        export default handler;
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, error, hint
from hookscope.model.text import one_line


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    if subject.facts is None or subject.kind != "folder" or not subject.host.loads_like_node:
        return
    absent = {one.occurrence for one in subject.missing_imports}
    for occurrence in subject.facts.imports:
        if occurrence.kind != "types":
            continue
        text = (
            f"The import of `{one_line(occurrence.name, 80)}` is of types alone and does "
            f"not say so: it stays behind"
        )
        next_step = "Write `import type` in place of `import`."
        if occurrence in absent:
            yield error(subject.handler_position(occurrence), f"{text}, and fails.", next_step)
        else:
            yield hint(
                subject.handler_position(occurrence),
                f"{text}, and fails unless all of them are classes.",
                next_step,
            )


RULE = Rule("import-types", __doc__, check, reads_source=True, depends_on_host=True)
