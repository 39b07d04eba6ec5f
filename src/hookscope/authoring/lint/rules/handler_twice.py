"""Two files in one folder could be the handler.

The file name decides which one runs; the other is never read. Often one of them is an old build of the other.

Bad:
    HOOK.md as usual
    handler.ts
        export default async () => {};
    handler.js
        module.exports = async () => {};

Good:
    HOOK.md as usual
    handler.ts
        export default async () => {};
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, warning
from hookscope.model.hook import FilePosition


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    hook = subject.hook
    if hook is None or hook.kind != "folder" or subject.handler is None:
        return
    candidates = (*subject.host.handlers, *subject.host.hookscope_handlers)
    others = [name for name in candidates if name in subject.names and name != subject.handler.name]
    if others:
        never = "which never run" if others[1:] else "which never runs"
        text = f"{subject.handler.name} takes precedence over {' and '.join(others)}, {never}."
        yield warning(FilePosition(subject.folder / others[0]), text, "Keep one file, or rename the others.")


RULE = Rule("handler-twice", __doc__, check, depends_on_host=True)
