"""How a module of an agent describes it, read from its text. Nothing is imported or run."""

from __future__ import annotations

import ast

from .listening import SCRIPTS, Language
from .places import FormatError
from .python_source import parse_python
from .script_objects import default_export, members_of, object_at, text_at
from .script_tokens import LONGEST, read_script


def agent_description(source: bytes, language: Language) -> str | None:
    """The `description` of `defineAgent({…})`, of the plain object, or of `define_agent(…)`, where it is a
    plain text; None where the text does not say it, or cannot be read. Never raises."""
    if len(source) > LONGEST:
        return None
    if language == "python":
        return _in_python(source)
    return _in_script(source) if language in SCRIPTS else None


def _in_script(source: bytes) -> str | None:
    script = read_script(source)
    start = default_export(script) if script is not None else None
    if script is None or start is None:
        return None
    found = object_at(script, start, "defineAgent")
    members = members_of(script, found) if found is not None else None
    said = next((one for one in reversed(members or ()) if one.name == "description"), None)
    return text_at(script, said.start, said.end) if said is not None else None


def _in_python(source: bytes) -> str | None:
    try:
        tree = parse_python(source)
    except FormatError:
        return None
    calls = (node.value for node in tree.body if isinstance(node, ast.Assign))
    for call in calls:
        if isinstance(call, ast.Call):
            for keyword in call.keywords:
                value = keyword.value
                if keyword.arg == "description" and isinstance(value, ast.Constant):
                    return value.value if isinstance(value.value, str) else None
    return None
