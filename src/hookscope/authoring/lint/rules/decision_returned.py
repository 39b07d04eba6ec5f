"""The handler of a HOOK.md hook returns a value, which its host ignores.

`{block: true}` and `{decision: "allow"}` belong to plugin hooks that run before tools, and to other programs'
hooks. Hosts discard every return value of a HOOK.md hook, even messages.

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["message:received"]}}
        ---
    handler.py
        def handler(event):
            return {"block": True, "reason": "not now"}

Good:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["message:received"]}}
        ---
    handler.py
        def handler(event):
            print("not now")
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, hint, warning
from hookscope.model.text import one_line

MESSAGES = frozenset({"content", "message", "messages", "reply", "response", "text"})


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    answers = subject.source_facts.answers
    decision = next((answer for answer in answers if not answer.kind), None)
    message = next((answer for answer in answers if answer.name in MESSAGES), None)
    found = decision or message or next(iter(answers), None)
    if found is None:
        return
    plugins = any(event.kind == "plugin" for event in subject.host.catalogue.events)
    if message is not None:
        next_step = "Push strings to `event.messages` to show them."
    elif decision is not None and plugins:
        next_step = "A plugin hook such as before_tool_call can stop the action."
    else:
        next_step = "Remove the return value."
    text = (
        f"The handler returns `{one_line(found.name, 60)}`, but hosts ignore return values of HOOK.md hooks."
    )
    level = hint if found.kind and found is not message else warning
    yield level(subject.handler_position(found), text, next_step)


RULE = Rule("decision-returned", __doc__, check, reads_source=True, only_folder_hooks=True)
