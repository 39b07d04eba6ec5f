"""A HOOK.md hook returns a decision, which nobody asks for.

`{block: true}` and `{decision: "allow"}` are answers of plugin hooks that stand before tools, and of other
programs' hooks. What a HOOK.md hook returns is dropped.

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

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, warning


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    answers = subject.facts.answers if subject.facts is not None and subject.kind == "folder" else ()
    for occurrence in answers[:1]:
        text = f"The handler returns `{occurrence.name}`, and nobody looks at what a HOOK.md hook returns."
        plugins = any(event.kind == "plugin" for event in subject.host.catalogue.events)
        next_step = (
            "A plugin's hook, such as before_tool_call, can stop things." if plugins else "Leave it out."
        )
        yield warning(subject.handler_position(occurrence), text, next_step)


RULE = Rule("decision-returned", __doc__, check, reads_source=True)
