"""The metadata is under a name that the host does not read.

Each host reads the fields under its own name below `metadata`. It ignores fields under another name, or
directly under `metadata`, so the hook has no events.

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {moltbot: {events: ["command:new"]}}
        ---
    handler.py
        def handler(event): ...

Good:
    HOOK.md as usual
    handler.py
        def handler(event): ...
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, error

CURLY = frozenset("“”„«»‘’‚")  # noqa: RUF001  (web pages turn straight quotes into these)


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    block = subject.header.metadata
    if not block or subject.metadata or subject.kind != "folder":
        return
    expected = f"metadata.{subject.namespace}"
    others = [name for name, value in block.items() if isinstance(value, dict) and "events" in value]
    if others:
        names = ", ".join(f"`metadata.{name}`" for name in others)
        fix = None
        if len(others) == 1:
            value = block[others[0]]
            meaning = f"metadata.{others[0]} → {expected}"
            fix = (subject.edit(("metadata", subject.namespace), value, meaning),)
        text = f"The metadata is under {names}, but {subject.host.product} reads `{expected}`."
        too = f"; {subject.host.program} already reads it" if others[0] in subject.host.program_reads else ""
        next_step = f"Write it under `{expected}` too{too}."
        yield error(subject.header_position("metadata", others[0]), text, next_step, fix)
    elif "events" in block:
        text = f"`events` is directly under `metadata`, but {subject.host.product} reads `{expected}.events`."
        fix = (subject.edit(("metadata", subject.namespace), dict(block), f"metadata → {expected}"),)
        yield error(subject.header_position("metadata", "events"), text, f"Move it to `{expected}`.", fix)
    elif subject.namespace not in block:
        text = f"{subject.host.product} reads `{expected}`, which is missing: this hook has no events."
        next_step = f'Add `{subject.namespace}: {{events: ["…"]}}`.'
        curly = next((name for name in block if CURLY & set(str(name))), None)
        if curly is not None:
            text = f"The curly quotes around `{curly}` are part of the name, so there is no `{expected}`."
            next_step = 'Replace them with straight quotes (`"`).'
        yield error(subject.header_position("metadata"), text, next_step)


RULE = Rule("metadata-namespace", __doc__, check, depends_on_host=True)
