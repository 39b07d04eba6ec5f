"""A handler adds an item to a list in the context without a member that the host needs.

The host reads the list back, and skips an item without that member.

Host: openclaw@2026.9

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {"openclaw": {"events": ["agent:bootstrap"]}}
        ---
    handler.ts
        export default async (event) => {
          event.context.bootstrapFiles.push({ filePath: "NOTES.md", content: "Tidied up." });
        };

Good:
    HOOK.md
        ---
        name: tidy
        metadata: {"openclaw": {"events": ["agent:bootstrap"]}}
        ---
    handler.ts
        export default async (event) => {
          event.context.bootstrapFiles.push({ name: "NOTES.md", path: "NOTES.md", content: "Tidied up." });
        };
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, warning
from hookscope.model.text import nearest_word, one_line


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    needed = {
        field: members
        for event in subject.received_events()
        for field, members in event.required_item_members.items()
    }
    for item in subject.source_facts.items:
        written = item.kind.split(",") if item.kind else []
        for member, outcome in needed.get(item.name, {}).items():
            if member in written:
                continue
            others = [name for name in written if name not in needed[item.name]]
            near = nearest_word(member, others) or next(
                (name for name in others if name.lower().endswith(member.lower())), None
            )
            text = f"The item in context.{one_line(item.name, 60)} has no `{member}`: {outcome}."
            next_step = f"Rename `{one_line(near, 60)}` to `{member}`." if near else f"Add `{member}`."
            yield warning(subject.handler_position(item), text, next_step)


RULE = Rule("item-member", __doc__, check, reads_source=True, only_folder_hooks=True, depends_on_host=True)
