"""A key of the metadata is at the top level of the front matter.

There, hosts read only name, description, homepage and metadata. `events` or `requires` has no effect there.

Bad:
    HOOK.md
        ---
        name: tidy
        events: ["command:new"]
        ---
    handler.py
        def handler(event): ...

Good:
    HOOK.md as usual
    handler.py
        def handler(event): ...
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, Severity
from hookscope.authoring.lint.rule_helpers import METADATA_KEYS, MISPLACED_KEYS


def misplaced_keys(subject: LintSubject) -> tuple[str, ...]:
    """Return the top-level keys that have no effect there and are not also in the metadata."""
    if subject.header.error is not None:
        return ()
    return tuple(
        name for name in subject.header.value if name in MISPLACED_KEYS and name not in subject.metadata
    )


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    for name in misplaced_keys(subject) if subject.kind == "folder" else ():
        metadata_name = f"metadata.{subject.metadata_path[1]}"
        value = subject.header.value[name]
        place = subject.header_position(name)
        if name in METADATA_KEYS:
            needed = name in ("events", "requires")
            fix = (subject.edit((*subject.metadata_path, name), value, f"{name} → {metadata_name}.{name}"),)
            text = f"`{name}` is at the top level of the front matter, where no host reads it."
            severity = Severity.ERROR if needed else Severity.WARNING
            yield RuleMessage(severity, place, text, f"Move it to `{metadata_name}.{name}`.", fix)
        else:
            text = f"`{name}` is not a key of a HOOK.md: no host reads it."
            yield RuleMessage(Severity.WARNING, place, text, MISPLACED_KEYS[name])


RULE = Rule("key-misplaced", __doc__, check)
