"""A folder has a handler but no HOOK.md, or a folder among the plugins is not a valid plugin.

File names must match exactly: `hook.md` does not count.

Bad:
    hook.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"]}}
        ---
    handler.py
        def handler(event): ...

Good:
    HOOK.md as usual
    handler.py
        def handler(event): ...
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, error
from hookscope.model.hook import FilePosition

MANIFEST = "HOOK.md"


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    if subject.manifest is not None or subject.hook is not None:
        return
    rejected = subject.rejected
    if rejected is not None and rejected.kind == "plugin":
        yield error(rejected.place or FilePosition(rejected.path), f"Not a plugin: {rejected.reason}.")
        return
    misspelt = next((name for name in sorted(subject.names) if name.lower() == MANIFEST.lower()), None)
    if misspelt is not None:
        where = FilePosition(subject.folder / misspelt)
        yield error(where, f"The file must be called {MANIFEST}, not {misspelt}.", "Rename it.")
    elif subject.handler is not None:
        text = f"{subject.handler.name} is in a folder without a {MANIFEST}, so the folder is not a hook."
        yield error(FilePosition(subject.handler), text, f"Write a {MANIFEST}, or move the file elsewhere.")


RULE = Rule("manifest-missing", __doc__, check)
