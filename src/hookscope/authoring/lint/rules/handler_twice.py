"""Two files in one folder could be the handler.

One of them wins by its name, and the other is never looked at: often an old build beside its source.

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"]}}
        ---
    handler.ts
        export default async () => {};
    handler.js
        module.exports = async () => {};

Good:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"]}}
        ---
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
        text = f"{subject.handler.name} wins over {' and '.join(others)}, {never}."
        yield warning(
            FilePosition(subject.folder / others[0]), text, "Keep one, or give the others other names."
        )


RULE = Rule("handler-twice", __doc__, check, depends_on_host=True)
