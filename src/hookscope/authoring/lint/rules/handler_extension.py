"""The host does not load handlers with this file name.

Each host looks for its own names: `handler.mjs`, for example, is loaded by one host and ignored by another.

Bad:
    HOOK.md as usual
    handler.mjs
        export default async () => {};

Good:
    HOOK.md as usual
    handler.js
        module.exports = async () => {};
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, error, warning
from hookscope.model.hook import LANGUAGE_OF, FilePosition

STEMS = ("handler", "index", "hook", "main")


def misnamed_handlers(subject: LintSubject) -> list[str]:
    """Return files that look like handlers but whose names neither the host nor Hookscope loads."""
    known = {*subject.host.handlers, *subject.host.hookscope_handlers}
    return sorted(
        name
        for name in subject.names - known
        if name.partition(".")[0].lower() in STEMS
        and (name.endswith((*LANGUAGE_OF, ".tsx", ".jsx")) or "." not in name)
        and not name.endswith(".d.ts")
    )


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    product, names = subject.host.product, ", ".join(subject.host.handlers)
    hook = subject.hook
    if hook is None and subject.handler is None and subject.header.exists:
        for name in misnamed_handlers(subject)[:1]:
            text = f"{product} does not load a handler named {name}."
            yield error(FilePosition(subject.folder / name), text, f"Rename it to one of {names}.")
    elif hook is not None and hook.kind == "folder" and hook.beyond_host and subject.handler is not None:
        text = f"{subject.handler.name} runs in Hookscope only; {product} looks for {names}."
        yield warning(subject.handler_position(), text, f"To run the hook in {product} too, add such a file.")


RULE = Rule("handler-extension", __doc__, check, depends_on_host=True)
