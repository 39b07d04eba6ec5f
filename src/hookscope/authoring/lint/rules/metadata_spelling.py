"""The metadata is written in a form that this version of the host does not read.

Guides show YAML. Some programs read single lines only, and need JSON that begins on the line `metadata:`.

Host: milady@2.0.0-alpha.76

Bad:
    HOOK.md
        ---
        name: tidy
        metadata:
          milady:
            events:
              - gateway:startup
        ---
    handler.ts
        export default async () => {};

Good:
    HOOK.md
        ---
        name: tidy
        metadata: {"milady": {"events": ["gateway:startup"]}}
        ---
    handler.ts
        export default async () => {};
"""

import json
from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, error


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    written = subject.metadata.get("events")
    if subject.hook is None or subject.events or not written or subject.header.quoted:
        return
    if subject.hook.meta.faults or not isinstance(written, list):
        return
    short = json.dumps({str(subject.metadata_path[1]): {"events": written}}, ensure_ascii=False)
    example = short if len(short) <= 100 else f'{{"{subject.metadata_path[1]}": {{…}}}}'
    yield error(
        subject.header_position(*subject.metadata_path),
        f"The shipped {subject.host.product} does not read this metadata, so the hook has no events.",
        f"Write it as JSON on one line: `metadata: {example}`.",
    )


RULE = Rule("metadata-spelling", __doc__, check, depends_on_host=True)
