"""What a module says it listens to, read from its text. Nothing is imported or run.

So lists and plans can show it before anything is loaded; what a module really registers, only a load tells.
None always means that the text does not say it, or is longer than 256 Ki.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from .listening_types import PluginRegistration
from .python_listening import python_registrations, python_stream_events
from .script_listening import script_registrations, script_stream_events
from .script_tokens import LONGEST

Language: TypeAlias = Literal["python", "typescript", "javascript", "unknown"]
SCRIPTS = frozenset({"typescript", "javascript"})


def stream_events(source: bytes, language: Language) -> tuple[str, ...] | None:
    """The keys of a stream hook's `events`, as written, `*` among them; none twice. Never raises.

    Read are `define_hook(events={…})`, `define_hook({…})`, and in TypeScript and JavaScript the default
    export: `defineHook({events: {…}})`, the plain object, a constant that is one, or a function that
    returns one. None for keys that are computed or spread, for variables, and for a text that cannot be read.
    Source: seed 002, "Define a hook"; eve 10.
    """
    if len(source) > LONGEST:
        return None
    if language == "python":
        return python_stream_events(source)
    return script_stream_events(source) if language in SCRIPTS else None


def plugin_registrations(source: bytes, language: Language) -> tuple[PluginRegistration, ...] | None:
    """Every `api.on("NAME", …)` and `api.registerHook({event: "NAME", …})` of a plugin, as written.

    `api` is what its `register` calls its parameter. What the plugin hands its api to in other files is not
    seen. None where a call's name is no plain text, so that the others are not all. Never raises.
    Source: seed 003, "Hook Registration"; rules note 6.
    """
    if len(source) > LONGEST:
        return None
    if language == "python":
        return python_registrations(source)
    return script_registrations(source) if language in SCRIPTS else None
