"""What stands beside the code: HOOK.md, manifests, package.json, README, the saved event. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hookscope.core.runs import EventKind
from hookscope.formats import FormatError, read_yaml
from hookscope.workbench.compose import WORKSPACE_FIELD
from hookscope.workbench.expect import literally
from hookscope.workbench.making.events import GUARDED, Heard
from hookscope.workbench.making.words import WORSE, both_of
from hookscope.workbench.saving import rendered
from hookscope.workbench.variables import CFG, WORKSPACE, escaped


def hook_md(
    name: str, description: str, metadata: Mapping[str, Sequence[str]], events: Sequence[Heard], file: str
) -> str:
    """A HOOK.md. Its metadata is JSON in one line, which the readers of all hosts read."""
    own = {namespace: {"events": list(keys)} for namespace, keys in metadata.items()}
    when = "\n".join(f"- `{event.key}`: {event.when}" for event in events)
    return f"""\
---
name: {_text(name)}
description: {_text(description)}
metadata: {json.dumps(own)}
---

# {name}

{_text_of(description)}

It is called at

{when}

and `{file}` is what runs.
"""


def _text(text: str) -> str:
    """As it stands where YAML reads it so, else in quotes: readers of single lines see both."""
    try:
        if read_yaml(f"x: {text}\n".encode()) == {"x": text}:
            return text
    except FormatError:
        pass
    return json.dumps(text, ensure_ascii=False)


def _text_of(description: str) -> str:
    return description if description.endswith((".", "!", "?")) else f"{description}."


def describe(events: Sequence[Heard], kind: EventKind) -> str:
    """A description, where nobody gave one."""
    keys = [event.key for event in events]
    if keys == [GUARDED]:
        return "Keeps tools from destructive commands"
    listed = " and ".join(keys) if len(keys) < 3 else f"{', '.join(keys[:-1])} and {keys[-1]}"
    return f"Tells of {'every event' if keys == ['*'] else listed}"


def package(
    name: str, description: str = "", own: Mapping[str, Mapping[str, object]] | None = None, *, esm: bool
) -> str:
    """A package.json. `own`: what it says to hosts, each under its key."""
    said: dict[str, Any] = {"name": name.lower(), "version": "0.1.0"}
    if description:
        said["description"] = description
    if esm:
        said["type"] = "module"
    return json.dumps({**said, **(own or {})}, indent=2, ensure_ascii=False) + "\n"


def module_type() -> str:
    """The package.json that makes a `.js` beside it an ES module."""
    return '{ "type": "module" }\n'


def plugin_manifest(name: str, description: str) -> str:
    """A plugin's manifest: OpenClaw wants a schema of its settings, and this plugin has none."""
    schema = {"type": "object", "additionalProperties": False, "properties": {}}
    said = {"id": name, "description": description, "version": "0.1.0", "configSchema": schema}
    return json.dumps(said, indent=2, ensure_ascii=False) + "\n"


def readme(name: str, description: str, folder: str) -> str:
    """The README of a pack."""
    return f"""\
# {name}

{_text_of(description)}

`package.json` lists the folders of its hooks. In this folder

    hookscope lint hooks        # what is wrong with them
    hookscope list              # how they stand
    hookscope test              # fires the saved events of `.hookscope/events`

`{folder}` is the first one; `hookscope new` in this folder writes more, to be listed in `package.json`.
"""


def saved_event(name: str, event: Heard, kind: EventKind, *, pushed: bool) -> str:
    """A saved event with what its run is expected to be, other hooks or not."""
    document: dict[str, Any] = {"event": event.fires}
    context = escaped(dict(event.context))
    if WORKSPACE_FIELD in context:
        context[WORKSPACE_FIELD] = f"${{{WORKSPACE}}}"  # no path of this machine: others test it too
    if kind == "folder":
        context[CFG] = f"${{{CFG}}}"
    if event.fires == GUARDED and event.key == GUARDED:
        document["context"] = {**context, "params": {"command": f"{WORSE[0]} /"}}
        document["expect"] = {"blocked": True}
        return "".join(f"{line}\n" for line in rendered(document))
    if context:
        document["context"] = context
    family, action = both_of(event.fires)
    if kind == "folder":
        about = event.value if event.field else event.session
        said = f"{name}: {family}:{action} ({about})"
    else:
        about = f" ({event.value})" if event.field and event.key == event.fires else ""
        said = f"{name}: {event.fires}{about}"
    document["expect"] = {"messages" if pushed else "output": {name: [escaped(literally(said))]}}
    return "".join(f"{line}\n" for line in rendered(document))
