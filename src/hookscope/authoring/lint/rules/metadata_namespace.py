"""The metadata stands under another name than the one that its host reads.

Each host reads its own name below `metadata`. What stands under another, or straight under `metadata`, does
not count, and the hook has no events.

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {moltbot: {events: ["command:new"]}}
        ---
    handler.py
        def handler(event): ...

Good:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"]}}
        ---
    handler.py
        def handler(event): ...
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, error

CURLY = frozenset("“”„«»‘’‚")  # noqa: RUF001  (what web pages make of straight ones)


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    block = subject.header.metadata
    if not block or subject.own or subject.kind != "folder":
        return
    wanted = f"metadata.{subject.namespace}"
    others = [name for name, value in block.items() if isinstance(value, dict) and "events" in value]
    if others:
        names = ", ".join(f"`metadata.{name}`" for name in others)
        fix = None
        if len(others) == 1:
            value = block[others[0]]
            meaning = f"metadata.{others[0]} → {wanted}"
            fix = (subject.edit(("metadata", subject.namespace), value, meaning),)
        text = f"The metadata stands under {names}; {subject.host.product} reads `{wanted}`."
        too = f"; {subject.host.program} reads it as it is" if others[0] in subject.host.program_reads else ""
        then = f"Write it under `{wanted}` too{too}."
        yield error(subject.in_header("metadata", others[0]), text, then, fix)
    elif "events" in block:
        text = f"`events` stands straight under `metadata`; {subject.host.product} reads `{wanted}.events`."
        fix = (subject.edit(("metadata", subject.namespace), dict(block), f"metadata → {wanted}"),)
        yield error(subject.in_header("metadata", "events"), text, f"Move it to `{wanted}`.", fix)
    elif subject.namespace not in block:
        text = f"There is no `{wanted}`, which {subject.host.product} reads: this hook has no events."
        then = f'Add `{subject.namespace}: {{events: ["…"]}}`.'
        curly = next((name for name in block if CURLY & set(str(name))), None)
        if curly is not None:
            text = f"The quotes around `{curly}` are curly, and so part of the name; there is no `{wanted}`."
            then = 'Write straight quotes, `"`, in their place.'
        yield error(subject.in_header("metadata"), text, then)


RULE = Rule("metadata-namespace", __doc__, check, by_host=True)
