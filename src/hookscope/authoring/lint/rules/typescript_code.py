"""A handler contains TypeScript code other than types, but its host only removes types.

JavaScript does not have `enum`, `namespace`, parameter properties, decorators or `import x = …`, so the file
does not load.

Host: openclaw@2026.9

Bad:
    HOOK.md as usual
    handler.ts
        enum Level { low, high }
        export default async () => { console.log(Level.low); };

Good:
    HOOK.md as usual
    handler.ts
        const Level = { low: 0, high: 1 } as const;
        export default async () => { console.log(Level.low); };
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, error


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    if not subject.host.loads_like_node:
        return
    reported: set[str] = set()
    for occurrence in subject.source_facts.code:
        if occurrence.name not in reported:
            reported.add(occurrence.name)
            product = subject.host.product
            text = (
                f"`{occurrence.name}` is more than a type, but {product} only removes types: "
                f"the handler does not load."
            )
            yield error(
                subject.handler_position(occurrence),
                text,
                "Write it in plain JavaScript, or compile the handler.",
            )


RULE = Rule(
    "typescript-code", __doc__, check, reads_source=True, only_folder_hooks=True, depends_on_host=True
)
