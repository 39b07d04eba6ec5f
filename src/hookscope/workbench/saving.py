"""An event that was fired, as a saved event: a small file that reads as the same event."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hookscope.changes import Change
from hookscope.core.alike import alike
from hookscope.core.runs import Event
from hookscope.formats import FormatError, read_yaml
from hookscope.journal.redaction import NOTHING_KNOWN, Redaction
from hookscope.workbench.compose import WORKSPACE_FIELD
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.saved import EVENTS, is_saved_event
from hookscope.workbench.user_files import Write, write
from hookscope.workbench.variables import CFG, WORKSPACE, escaped

BREAKS = re.compile("[\x7f-\x9f\u2028\u2029\ufeff]")  # fine in JSON, not in YAML
PLAIN = re.compile(r"[A-Za-z_][\w.:/-]*")  # needs no quotes in a file of ours, where keys are always text
NOT_TEXT = "Take out what is no text: half of a surrogate pair, NaN or Infinity."
WORDS = {"true", "false", "null"}
MASK = re.compile(r"\$\{SECRET:(\w+)\}")


def place_of(name: str, workspace: Path, cwd: Path) -> Path:
    """Where an event of that name is saved: a file as it is named, else one of the workspace.

    Raises Refusal for a name that leads out of the folder of saved events.
    """
    if not is_saved_event(name) and ".." in Path(name).parts:
        then = f"Name a file, such as {name}.yaml, or the event alone."
        raise Refusal(f"{name} leads out of {EVENTS}.", then, code=2)
    return cwd / name if is_saved_event(name) else workspace / EVENTS / f"{name}.yaml"


def save_event(
    event: Event,
    template: Event,
    file: Path,
    redaction: Redaction = NOTHING_KNOWN,
    *,
    expect: Mapping[str, Any] | None = None,
    writing: Write = write,
) -> tuple[str, ...]:
    """Write it, and never over another; the variables that stand for its secrets.

    The workspace's folder and the settings in force stand as `${workspace}` and `${cfg}`; other settings
    are left out, and so is all that the template of its key says too, but the context. Raises Refusal where
    there is such a file, or no file can hold the event.

    Args:
        redaction: knows secrets that nothing in the event tells.
        expect: what the file shall say of its run.
        writing: what writes the file.
    """
    here = of_here(event.context, template.context)
    context = {name: value for name, value in event.context.items() if name not in (*here, CFG)}
    ctx = {name: value for name, value in event.ctx.items() if template.ctx.get(name) != value}
    veil = redaction.veil(context, ctx, event.session_key)
    document: dict[str, Any] = {"event": event.key}
    if event.session_key != template.session_key:
        document["session"] = named(veil.value(event.session_key), literal=True)
    saved = named(veil.value(context), literal=True)
    saved = {
        str(name): (saved | here)[str(name)] for name in event.context if name in here or name in context
    }
    for name, value in (("context", saved), ("ctx", named(veil.value(ctx), literal=True))):
        if value:
            document[name] = value
    if expect:
        document["expect"] = expect
    source = "".join(f"{line}\n" for line in rendered(document)).encode("utf-8", "replace")
    if not says(source, document):
        raise Refusal(f"The event cannot be saved in {file}: no text file can hold it.", NOT_TEXT)
    if os.path.exists(file):  # unlike Path.exists it takes a name that no disk can hold
        raise Refusal(f"There is {file} already.", "Save under another name.")
    writing(Change(file, f"save {event.key} as {file.name}", None, source))
    return tuple(variable_name(secret.name) for secret in veil.secrets)


def of_here(context: Mapping[str, Any], template: Mapping[str, Any]) -> dict[str, str]:
    """What a context has of this machine, as a template filled in here does, and how a file says it."""
    words = {WORKSPACE_FIELD: f"${{{WORKSPACE}}}", CFG: f"${{{CFG}}}"}
    return {name: word for name, word in words.items() if name in context and _same(name, context, template)}


def _same(name: str, context: Mapping[str, Any], template: Mapping[str, Any]) -> bool:
    return name in template and alike(context[name], template[name])


def named(value: Any, *, literal: bool = False) -> Any:
    """The value with `${NAME}` where a secret stood: saved events are filled from the environment.

    `literal`: it was filled before, and what looks like a variable in it is text.
    """
    match value:
        case str():
            parts = MASK.split(value)  # text, name, text, name, …, text
            texts = escaped(parts[::2]) if literal else parts[::2]
            variables = [f"${{{variable_name(name)}}}" for name in parts[1::2]]
            return "".join(map("".join, zip(texts, [*variables, ""], strict=True)))
        case Mapping():
            return {str(name): named(item, literal=literal) for name, item in value.items()}
        case list() | tuple():
            return [named(item, literal=literal) for item in value]
        case _:
            return value


def variable_name(name: str) -> str:
    """The name as a variable may be called: it begins with no digit."""
    return f"_{name}" if name[0].isdigit() else name


def rendered(document: Mapping[str, Any]) -> list[str]:
    """The lines of a saved event: a line for each name of a mapping, its value in one."""
    lines: list[str] = []
    for name, value in document.items():
        if isinstance(value, Mapping):
            lines.append(f"{name}:")
            lines += [f"  {_word(key)}: {flow(item)}" for key, item in value.items()]
        else:
            lines.append(f"{name}: {_word(value)}")
    return lines


def _word(text: str) -> str:
    plain = PLAIN.fullmatch(text) and text.lower() not in WORDS and not text.endswith(":")
    return text if plain else flow(text)


def flow(value: Any) -> str:
    """A value in one line: JSON, which is YAML too but for some characters."""
    written = json.dumps(value, ensure_ascii=False)
    return BREAKS.sub(lambda found: f"\\u{ord(found[0]):04x}", written)


def says(source: bytes, document: Mapping[str, Any]) -> bool:
    """Is that what the source says, read as YAML. What cannot be read says nothing."""
    try:
        return alike(read_yaml(source), document)
    except FormatError:
        return False
