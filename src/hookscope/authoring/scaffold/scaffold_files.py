"""Files of a new hook beside its code: HOOK.md, manifests, package.json, README, saved event. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hookscope.app.event_templates import WORKSPACE_FIELD
from hookscope.app.variables import CFG, WORKSPACE, escaped_value
from hookscope.authoring.scaffold.events import GUARDED_EVENTS, HandledEvent
from hookscope.authoring.scaffold.handler_code import WORSE_HANDLING, type_and_action
from hookscope.authoring.testing.expectations import literal_pattern
from hookscope.authoring.testing.saved_event_files import yaml_lines
from hookscope.formats.positions import FormatError
from hookscope.formats.yaml12 import read_yaml
from hookscope.model.run import EventKind


def hook_md_text(
    name: str,
    description: str,
    metadata: Mapping[str, Sequence[str]],
    events: Sequence[HandledEvent],
    file: str,
) -> str:
    """Return a HOOK.md. Its metadata is JSON on one line, which every host reads."""
    own = {namespace: {"events": list(keys)} for namespace, keys in metadata.items()}
    when = "\n".join(f"- `{event.key}`: {event.when}" for event in events)
    return f"""\
---
name: {_header_text(name)}
description: {_header_text(description)}
metadata: {json.dumps(own)}
---

# {name}

{_document_text(description)}

It is called at

{when}

and `{file}` is what runs.
"""


def _header_text(text: str) -> str:
    """Return the text as is if YAML reads it unchanged, else in quotes: line-based readers accept both."""
    try:
        if read_yaml(f"x: {text}\n".encode()) == {"x": text}:
            return text
    except FormatError:
        pass
    return json.dumps(text, ensure_ascii=False)


def _document_text(description: str) -> str:
    return description if description.endswith((".", "!", "?")) else f"{description}."


def default_description(events: Sequence[HandledEvent], kind: EventKind) -> str:
    """Return a description for a request without one."""
    keys = [event.key for event in events]
    if keys == [GUARDED_EVENTS]:
        return "Keeps tools from destructive commands"
    listed = " and ".join(keys) if len(keys) < 3 else f"{', '.join(keys[:-1])} and {keys[-1]}"
    return f"Tells of {'every event' if keys == ['*'] else listed}"


def package_json(
    name: str, description: str = "", own: Mapping[str, Mapping[str, object]] | None = None, *, esm: bool
) -> str:
    """Return a package.json. `own`: each host's block under its key."""
    document: dict[str, Any] = {"name": name.lower(), "version": "0.1.0"}
    if description:
        document["description"] = description
    if esm:
        document["type"] = "module"
    return json.dumps({**document, **(own or {})}, indent=2, ensure_ascii=False) + "\n"


def module_package_json() -> str:
    """Return the package.json that makes a `.js` beside it an ES module."""
    return '{ "type": "module" }\n'


def plugin_manifest(name: str, description: str) -> str:
    """Return a plugin's manifest. OpenClaw requires a settings schema; this plugin has no settings."""
    schema = {"type": "object", "additionalProperties": False, "properties": {}}
    document = {"id": name, "description": description, "version": "0.1.0", "configSchema": schema}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def readme_text(name: str, description: str, folder: str) -> str:
    """Return the README of a pack."""
    return f"""\
# {name}

{_document_text(description)}

`package.json` lists the folders of its hooks. In this folder

    hookscope lint hooks        # what is wrong with them
    hookscope list              # how they stand
    hookscope test              # fires the saved events of `.hookscope/events`

`{folder}` is the first one; `hookscope new` in this folder writes more, to be listed in `package.json`.
"""


def saved_event_text(name: str, event: HandledEvent, kind: EventKind, *, pushed: bool) -> str:
    """Return a saved event whose expectations hold whatever other hooks exist."""
    document: dict[str, Any] = {"event": event.example_key}
    context = escaped_value(dict(event.context))
    if WORKSPACE_FIELD in context:
        context[WORKSPACE_FIELD] = f"${{{WORKSPACE}}}"  # portable: others run this test too
    if kind == "folder":
        context[CFG] = f"${{{CFG}}}"
    if event.example_key == GUARDED_EVENTS and event.key == GUARDED_EVENTS:
        document["context"] = {**context, "params": {"command": f"{WORSE_HANDLING[0]} /"}}
        document["expect"] = {"blocked": True}
        return "".join(f"{line}\n" for line in yaml_lines(document))
    if context:
        document["context"] = context
    family, action = type_and_action(event.example_key)
    if kind == "folder":
        about = event.value if event.field else event.session
        text = f"{name}: {family}:{action} ({about})"
    else:
        about = f" ({event.value})" if event.field and event.key == event.example_key else ""
        text = f"{name}: {event.example_key}{about}"
    document["expect"] = {"messages" if pushed else "output": {name: [escaped_value(literal_pattern(text))]}}
    return "".join(f"{line}\n" for line in yaml_lines(document))
