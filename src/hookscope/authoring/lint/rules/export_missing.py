"""A handler file does not export the function that the host calls.

The file loads, but there is nothing to call. `export` in the metadata names the function. Without it, the
host calls the default export, or `handler` in a Python file. An object, a string or a class does not count.
A plugin may also export an object that has `register`.

Bad:
    HOOK.md as usual
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
from pathlib import Path

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, error
from hookscope.engine.examination import uncallable_export
from hookscope.formats.positions import FormatError
from hookscope.formats.python_source import read_exports
from hookscope.hosts.gates.export import WRONG_ARGUMENTS, export_gate
from hookscope.model.hook import Edit, FilePosition, Hook

LISTED = 5  # functions named in one sentence


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    hook, handler = subject.hook, subject.handler
    if hook is None or handler is None or not subject.text.strip():
        return
    messages = list(_of_exports(subject, hook, handler)) if hook.kind == "folder" else []
    yield from messages or _of_default(hook, handler, subject.text)


def _of_default(hook: Hook, handler: Path, text: str) -> Iterator[RuleMessage]:
    """Yield an error if a script exports something that cannot be called. Needs no parsed facts."""
    wrong = uncallable_export(hook, text.encode("utf-8", "replace")) if handler.suffix != ".py" else None
    if wrong is not None:
        yield error(FilePosition(handler, wrong.line), f"{handler.name} {wrong.text}.", wrong.advice)


def _of_exports(subject: LintSubject, hook: Hook, handler: Path) -> Iterator[RuleMessage]:
    facts = subject.facts
    if facts is None or facts.error is not None:
        return
    if handler.suffix == ".py":
        yield from _of_python(subject, handler, hook.meta.export)
    elif facts.exports is not None and hook.meta.export not in facts.exports:
        functions = [name for name, is_function in facts.exports.items() if is_function]
        yield _of_script(
            subject, handler.name, hook.meta.export, functions, common=facts.module == "commonjs"
        )


def _of_python(subject: LintSubject, handler: Path, export: str) -> Iterator[RuleMessage]:
    """Yield an error where the `export` gate fails."""
    try:
        exports = read_exports(subject.text.encode("utf-8", "replace"))
    except FormatError:  # reported by handler-syntax
        return
    gate = export_gate(exports, export, handler)
    if gate.passed is False:
        if gate.found == WRONG_ARGUMENTS:
            (name,) = gate.missing
            next_step = f"Write `def {name}(event)`; the event's details are in `event.context`."
            yield error(subject.handler_position(), f"{gate.reason}.", next_step)
            return
        functions = [one.name for one in exports.values() if "function" in one.kind]
        write = f"Write `def {gate.needed[0]}(event)`"
        text = gate.reason + "." * (not gate.reason.endswith("?"))
        yield error(subject.handler_position(), text, *_next(subject, functions, write))


def _of_script(
    subject: LintSubject, file: str, export: str, functions: list[str], *, common: bool
) -> RuleMessage:
    is_default = export == "default"
    what = "no default export" if is_default else f"no export `{export}`"
    exported = ", ".join(f"`{name}`" for name in functions[:LISTED]) or "no function"
    word = "export default" if is_default else "export"
    write = f"Write `{word}` before the function to call"
    if common and is_default:
        what = "no function in `module.exports`"
        write = f"Write `module.exports = {functions[0] if functions else 'handler'};`"
    text = f"{file} has {what}; it exports {exported}."
    return error(subject.handler_position(), text, *_next(subject, functions, write))


def _next(subject: LintSubject, functions: list[str], write: str) -> tuple[str, tuple[Edit, ...] | None]:
    """Return the advice, and an edit of the metadata if only one function can be meant."""
    if not functions:
        return f"{write}.", None
    if len(functions) > 1 or not subject.metadata or subject.header.quoted:
        return f"{write}, or name the function in the metadata as `export`.", None
    (name,) = functions
    edit = subject.edit((*subject.metadata_path, "export"), name, f"export: {name}")
    return f"{write}, or put `export: {name}` into the metadata.", (edit,)


RULE = Rule("export-missing", __doc__, check, reads_source=True)
