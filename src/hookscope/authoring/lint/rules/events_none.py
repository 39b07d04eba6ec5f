"""A hook subscribes to no event.

Without `events` under its host's metadata a hook is found, and is never called; nor is a module of a stream
whose `events` name none.

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
        yield error(subject.handler_position(), text, "`hookscope events` lists what there is.")
    written = subject.metadata.get("events")
    has_block = isinstance(subject.header.metadata.get(str(subject.metadata_path[1])), dict)
    if has_block and not written and "events" not in subject.header.value:
        path = ".".join(map(str, subject.metadata_path))
        yield error(
            subject.header_position(*subject.metadata_path),
            f"There are no events under `{path}`, so this hook never runs.",
            'Add `events: ["…"]` there; `hookscope events` lists what there is.',
        )


RULE = Rule("events-none", __doc__, check)
