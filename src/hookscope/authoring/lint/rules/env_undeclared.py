"""A handler reads an environment variable that `requires.env` does not list.

If the variable is not set, the hook still counts as ready, and its handler fails or does nothing. A variable
that the handler can do without (`… or "x"`, `if …`) is not a requirement.

Bad:
    HOOK.md as usual
    handler.py
        import os

        def handler(event):
            key = os.environ["TIDY_KEY"]

Good:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"], requires: {env: [TIDY_KEY]}}}
        ---
    handler.py
        import os

        def handler(event):
            key = os.environ["TIDY_KEY"]
            name = os.environ.get("TIDY_NAME") or "nobody"
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, warning
from hookscope.authoring.lint.rule_helpers import declare_requirement
from hookscope.model.text import one_line

# Set on every machine or for every user: not a requirement. Hookscope sets `HOOKSCOPE_…` for every handler.
COMMON = """
APPDATA CI COLUMNS COMSPEC DEBUG DISPLAY EDITOR HOME HOSTNAME LANG LC_ALL LINES LOCALAPPDATA LOGNAME NODE_ENV
NO_COLOR OLDPWD PATH PROGRAMFILES PWD SHELL SHLVL SYSTEMROOT TEMP TERM TMP TMPDIR TZ USER USERNAME USERPROFILE
VIRTUAL_ENV WINDIR XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR XDG_STATE_HOME
"""
ALWAYS = frozenset(COMMON.split())
OURS = "HOOKSCOPE_"


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    if subject.hook is None:
        return
    known = {*ALWAYS, *subject.host.variables, *subject.hook.meta.requires.env}
    for occurrence in subject.source_facts.env:
        if occurrence.kind == "optional" or occurrence.name in known or occurrence.name.startswith(OURS):
            continue
        known.add(occurrence.name)
        name = one_line(occurrence.name, 60)
        text = f"The handler reads the variable {name}, which `requires.env` does not list."
        next_step = f"Add {name} there, or make the handler work without it."
        yield warning(
            subject.handler_position(occurrence),
            text,
            next_step,
            declare_requirement(subject, "env", occurrence.name),
        )


RULE = Rule("env-undeclared", __doc__, check, reads_source=True, only_folder_hooks=True)
