"""An import of types is not marked with `type`, and the host removes only marked imports.

The unmarked import remains in the code. It fails, because types do not exist at run time.

Host: openclaw@2026.9

Bad:
    HOOK.md as usual
    handler.ts
        import { HookHandler } from "openclaw/hooks";
        const handler: HookHandler = async (event) => { console.log(event.action); };
        export default handler;

Good:
    HOOK.md as usual
    handler.ts
        import type { HookHandler } from "openclaw/hooks";
        const handler: HookHandler = async (event) => { console.log(event.action); };
        export default handler;
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, error, hint
from hookscope.model.text import one_line


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    if not subject.host.loads_like_node:
        return
    absent = {one.occurrence for one in subject.missing_imports}
    for occurrence in subject.source_facts.imports:
        if occurrence.kind != "types":
            continue
        text = (
            f"The import from `{one_line(occurrence.name, 80)}` is used for types only but not marked "
            f"with `type`: it remains"
        )
        next_step = "Write `import type` in place of `import`."
        if occurrence in absent:
            yield error(subject.handler_position(occurrence), f"{text}, and fails.", next_step)
        else:
            yield hint(
                subject.handler_position(occurrence),
                f"{text}, and fails unless all imported names are classes.",
                next_step,
            )


RULE = Rule("import-types", __doc__, check, reads_source=True, only_folder_hooks=True, depends_on_host=True)
