"""A HOOK.md has no handler beside it, or a plugin's entry file does not exist.

Hosts look for certain file names, and skip a folder that has none of them. A plugin without its entry file
does not load; often it has not been built yet.

Bad:
    HOOK.md as usual

Good:
    HOOK.md as usual
    handler.py
        def handler(event): ...
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import NO_SUCH_FILE, LintSubject, Rule, RuleMessage, error
from hookscope.authoring.lint.rules.handler_extension import misnamed_handlers
from hookscope.model.hook import FilePosition, Hook


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    no_hook = subject.hook is None and subject.header.exists
    if no_hook and subject.handler is None and not misnamed_handlers(subject):
        names = ", ".join((*subject.host.handlers, *subject.host.hookscope_handlers))
        text = "There is no handler beside HOOK.md, so its folder is not a hook."
        yield error(subject.header_position(), text, f"Add one of {names}.")
    elif no_hook and subject.handler is not None and subject.unread_reason:
        text = f"{subject.handler.name} cannot be read, so its folder is not a hook."
        yield error(subject.handler_position(), text, "Replace it with a regular, readable file.")
    elif subject.hook is not None and subject.kind == "plugin" and subject.unread_reason == NO_SUCH_FILE:
        yield _of_entry(subject, subject.hook)


def _of_entry(subject: LintSubject, hook: Hook) -> RuleMessage:
    """Return the error of a plugin without its entry file, with the command that builds it."""
    root, handler, package = hook.path or subject.folder, subject.handler, subject.package
    name = handler.relative_to(root) if handler and handler.is_relative_to(root) else handler
    place = package.file if package is not None else hook.manifest or root
    advice = f"Create {name}, or name an existing file in the plugin's manifest."
    if package is not None and package.has_build:
        advice = f"Run `npm install` and `npm run build` in {package.file.parent} to create it."
    return error(FilePosition(place), f"{name} does not exist, so the plugin does not load.", advice)


RULE = Rule("handler-missing", __doc__, check, depends_on_host=True)
