"""A handler's file has no function under the name that is called.

The file loads, and then there is nothing to call: `export` of the metadata names the function, and without it
that is the default export, in Python `handler`.

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"]}}
        ---
    handler.py
        def tidies(event): ...

Good:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {export: tidies, events: ["command:new"]}}
        ---
    handler.py
        def tidies(event): ...
"""

from collections.abc import Iterator

from hookscope.core.examine import export_gate
from hookscope.core.hooks import Edit
from hookscope.formats import FormatError, read_exports
from hookscope.lint.model import Rule, Said
from hookscope.lint.subject import Subject, error

LISTED = 5  # functions that a sentence names


def check(subject: Subject) -> Iterator[Said]:
    hook, facts, handler = subject.hook, subject.facts, subject.handler
    if hook is None or hook.kind != "folder" or handler is None or not subject.text.strip():
        return
    if facts is None or facts.error is not None:
        return
    wanted = hook.meta.export
    if handler.suffix != ".py":
        exports = facts.exports
        if exports is None or wanted in exports:
            return
        functions = [name for name, is_function in exports.items() if is_function]
        what = "no default export" if wanted == "default" else f"no export `{wanted}`"
        text = f"{handler.name} has {what}; {_told(functions, 'it exports')}."
        before = "`export default`" if wanted == "default" else "`export`"
        write = f"Write {before} before the function that is called"
        yield error(subject.in_handler(), text, *_next(subject, functions, write))
        return
    try:
        read = read_exports(subject.text.encode("utf-8", "replace"))
    except FormatError:  # handler-syntax says so
        return
    gate = export_gate(read, wanted, handler)
    if gate.passed is False:
        functions = [one.name for one in read.values() if "function" in one.kind]
        text = gate.reason.rstrip("?") + ("?" if gate.reason.endswith("?") else ".")
        yield error(
            subject.in_handler(), text, *_next(subject, functions, f"Write `def {gate.needed[0]}(event)`")
        )


def _told(functions: list[str], before: str) -> str:
    names = ", ".join(f"`{name}`" for name in functions[:LISTED])
    return f"{before} {names}" if names else f"{before} no function"


def _next(subject: Subject, functions: list[str], write: str) -> tuple[str, tuple[Edit, ...] | None]:
    """What to do; and the edit of the metadata, where one function alone can be meant."""
    if not functions:
        return f"{write}.", None
    if len(functions) > 1 or not subject.own or subject.header.quoted:
        return f"{write}, or name the function in `export` of the metadata.", None
    (name,) = functions
    edit = subject.edit((*subject.base, "export"), name, f"export: {name}")
    return f"{write}, or put `export: {name}` into the metadata.", (edit,)


RULE = Rule("export-missing", __doc__, check, reads_source=True)
