"""The `export` gate: does the handler file have the function to call? The file is read, never run."""

from functools import lru_cache
from pathlib import Path

from hookscope.formats.python_source import Export
from hookscope.model.hook import FilePosition
from hookscope.model.hook_status import KNOWN_AFTER_LOAD, FixKind, Gate, GateKind, State, register_gate
from hookscope.model.text import nearest_word

WRONG_ARGUMENTS = "other arguments"


@lru_cache(maxsize=256)
def unknown_export_gate(export: str) -> Gate:
    """Return the gate of a file whose exports are known only after a load."""
    return Gate("export", None, needed=(export,), found=KNOWN_AFTER_LOAD)


def export_gate(exports: dict[str, Export], wanted: str, path: Path, *, called: bool = True) -> Gate:
    """Check that the export `wanted` exists and is a function; if `default` is missing, `handler` counts.

    `called`: the host calls the function with the event only, so it must accept exactly one argument.
    """
    names = ("default", "handler") if wanted == "default" else (wanted,)
    found = next((exports[name] for name in names if name in exports), None)
    if found is None:
        if "*" in exports:
            return Gate(
                "export", None, needed=names, found=f"assigned at run time; its type is {KNOWN_AFTER_LOAD}"
            )
        return _missing_export_gate(exports, names[-1], path)
    place = FilePosition(path, found.line)
    match found.kind:
        case "function" | "async function" if called and found.required_arguments is not None:
            count = f"{found.required_arguments} arguments" if found.required_arguments else "no argument"
            reason = f"`{found.name}` in {path.name} needs {count}; the host calls it with one, the event"
            return Gate("export", False, names[-1:], (found.name,), WRONG_ARGUMENTS, reason, place=place)
        case "function" | "async function":
            at = f"{path.name}:{found.line}"
            return Gate(
                "export", True, needed=names[-1:], found=f"{found.name}, {found.kind}, {at}", place=place
            )
        case "class":
            reason = f"`{found.name}` in {path.name} is a class; it must be a function"
            return Gate("export", False, names[-1:], (found.name,), "a class", reason, place=place)
        case _:
            known = f"{found.name}, {KNOWN_AFTER_LOAD}"
            return Gate("export", None, needed=names[-1:], found=known, place=place)


def _missing_export_gate(exports: dict[str, Export], name: str, path: Path) -> Gate:
    functions = [export.name for export in exports.values() if "function" in export.kind]
    near = nearest_word(name, functions)
    like = (f"the file has {near}; {name} is needed",) if near else ()
    if near:
        suggestion = f"; did you mean {near}?"
    elif functions:
        suggestion = f"; it defines {', '.join(functions[:5])}"
    else:
        suggestion = "; it defines no function"
    reason = f"{path.name} has no `{name}`{suggestion}"
    return Gate("export", False, (name,), (name,), "absent", reason, place=FilePosition(path), near=like)


EXPORT = register_gate(
    GateKind(
        "export",
        state=State.BROKEN,
        fix=FixKind.NAME_EXPORT,
        why_no_fix="only the hook's author knows which function is the handler",
        next_step="{hooks.fix} corrects it if possible; {hooks.edit} opens the handler",
    )
)
