"""The host's metadata contains a key that nothing reads.

With a typo in `events` or `requires`, the hook never runs, or runs where it should not. Other keys, such as
`priority`, have no effect.

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"], priority: 10}}
        ---
    handler.py
        def handler(event): ...

Good:
    HOOK.md as usual
    handler.py
        def handler(event): ...
"""

from collections.abc import Iterator, Set

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, hint, warning
from hookscope.authoring.lint.rule_helpers import METADATA_KEYS, REQUIRES_KEYS
from hookscope.model.text import closest_match, one_line


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    yield from _of(subject, (), subject.metadata, METADATA_KEYS)
    requires = subject.metadata.get("requires")
    if isinstance(requires, dict):
        yield from _of(subject, ("requires",), requires, REQUIRES_KEYS)


def _of(subject: LintSubject, path: tuple[str, ...], block: object, known: Set[str]) -> Iterator[RuleMessage]:
    for name in block if isinstance(block, dict) else ():
        if name in known:
            continue
        place = subject.header_position(*subject.metadata_path, *path, name)
        closest = closest_match(name, known)
        text = f"Nothing reads the metadata key `{one_line(str(name), 60)}`."
        if closest is not None:
            yield warning(place, text, f"Did you mean `{closest}`?")
        else:
            yield hint(place, text, "Remove it.")


RULE = Rule("key-unknown", __doc__, check)
