"""A handler starts a program that `requires.bins` does not list.

If the program is not on PATH, the hook still counts as ready, and its handler fails. Programs of every shell
(`ls`, `cat`) and the program that runs the handler need no declaration.

Bad:
    HOOK.md as usual
    handler.py
        import subprocess

        def handler(event):
            subprocess.run(["jq", ".", "notes.json"], check=True)

Good:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"], requires: {bins: [jq]}}}
        ---
    handler.py
        import subprocess

        def handler(event):
            subprocess.run(["jq", ".", "notes.json"], check=True)
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, warning
from hookscope.authoring.lint.rule_helpers import declare_requirement

RUNS_HANDLERS = {"typescript": "node", "javascript": "node"}


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    if subject.hook is None:
        return
    requires = subject.hook.meta.requires
    known = {*requires.bins, *requires.any_bins, RUNS_HANDLERS.get(subject.hook.language, "")}
    for occurrence in subject.source_facts.programs:
        if occurrence.name in known:
            continue
        known.add(occurrence.name)
        text = f"The handler starts the program {occurrence.name}, which `requires.bins` does not list."
        next_step = f"Add {occurrence.name} to `requires.bins`."
        yield warning(
            subject.handler_position(occurrence),
            text,
            next_step,
            declare_requirement(subject, "bins", occurrence.name),
        )


RULE = Rule("bins-undeclared", __doc__, check, reads_source=True, only_folder_hooks=True)
