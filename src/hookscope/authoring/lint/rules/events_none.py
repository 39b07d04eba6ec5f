"""A hook subscribes to no event.

A hook without `events` under its host's metadata is found but never called. The same is true of a stream
module whose `events` list is empty.

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {emoji: "🧹"}}
        ---
    handler.py
        def handler(event): ...

Good:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {emoji: "🧹", events: ["command:new"]}}
        ---
    handler.py
        def handler(event): ...
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, error


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    if subject.kind == "stream" and subject.hook is not None and subject.hook.meta.events == ():
        text = "Its `events` list is empty, so this hook never runs."
        yield error(subject.handler_position(), text, "`hookscope events` lists the events.")
    written = subject.metadata.get("events")
    has_block = isinstance(subject.header.metadata.get(str(subject.metadata_path[1])), dict)
    if has_block and not written and "events" not in subject.header.value:
        path = ".".join(map(str, subject.metadata_path))
        yield error(
            subject.header_position(*subject.metadata_path),
            f"There are no events under `{path}`, so this hook never runs.",
            'Add `events: ["…"]` there; `hookscope events` lists the events.',
        )


RULE = Rule("events-none", __doc__, check)
