"""`hookscope schema [NAME]`: JSON Schemas of the files that people write, for editors."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any

import click

from hookscope.app.project_config import CONFIG_KEYS, LIMIT_NAMES, PROGRAM_KEYS
from hookscope.authoring.testing.expectations import CHECKS, FILES
from hookscope.authoring.testing.saved_events import EVENT_KEYS
from hookscope.authoring.testing.sequences import FILE_STEP_KEYS, SEQUENCE_KEYS, STEP_KEYS
from hookscope.cli.lazy_group import ExampledCommand
from hookscope.console.keymap.active_keys import PRESETS
from hookscope.console.theme.theme_manager import Palette

DIALECT = "https://json-schema.org/draft/2020-12/schema"
TEXT, NUMBER, MAPPING = {"type": "string"}, {"type": "number", "minimum": 0}, {"type": "object"}
TEXTS: dict[str, Any] = {"type": "array", "items": TEXT}
BY_HOOK = {"type": "object", "additionalProperties": TEXTS}
MEMBERS: Mapping[str, Any] = {
    "name": TEXT,
    "tags": TEXTS,
    "notes": TEXT,
    "source": TEXT,
    "event": {"type": "string", "minLength": 1, "description": "The event's key, such as command:new."},
    "session": {"type": "string", "description": "The session key."},
    "at": {"type": "string", "description": "The time of the event, such as ${now-1h}."},
    "context": {"type": ["object", "string"], "description": "The event's own fields."},
    "ctx": {
        "type": ["object", "string"],
        "description": "The second argument of plugin and stream handlers.",
    },
    "with": {"type": "object", "description": "Added to a realistic context."},
    "after": {"type": "string", "pattern": r"^\d{1,6}(\.\d{1,3})? ?(ms|s|m)$"},
    "file": {"type": "string", "description": "A saved event, relative to this file."},
}
EXPECTATIONS: Mapping[str, Any] = {
    "errors": NUMBER,
    "messages": {"anyOf": [TEXTS, {"type": "integer"}, BY_HOOK]},
    "output": BY_HOOK,
    "ran": TEXTS,
    "context": MAPPING,
    "result": MAPPING,
    "blocked": {"type": "boolean"},
    "max_ms": NUMBER,
    FILES: TEXTS,
}


def _object(title: str, names: Sequence[str], required: Sequence[str] = ()) -> dict[str, Any]:
    """Return the schema of a mapping with these members and no others."""
    members = {name: EXPECT if name == "expect" else MEMBERS[name] for name in names}
    return {
        "title": title,
        "type": "object",
        "properties": members,
        "required": list(required),
        "additionalProperties": False,
    }


EXPECT: dict[str, Any] = {
    "type": ["object", "null"],
    "properties": {name: EXPECTATIONS[name] for name in (*CHECKS, FILES)},
    "additionalProperties": False,
}


def _event_schema() -> dict[str, Any]:
    return _object("A saved event of Hookscope", EVENT_KEYS, ["event"])


def _sequence_schema() -> dict[str, Any]:
    steps = [_object("An event", STEP_KEYS, ["event"]), _object("A saved event", FILE_STEP_KEYS, ["file"])]
    names = [name for name in SEQUENCE_KEYS if name != "steps"]
    schema = _object("A sequence of Hookscope", names, ["steps"])
    schema["properties"]["steps"] = {"type": "array", "minItems": 1, "items": {"anyOf": steps}}
    return schema


def _config_schema() -> dict[str, Any]:
    own: dict[str, Any] = {
        "dialect": {"type": "string", "description": "Whose rules apply; `hookscope doctor` names it."},
        "environment": {"type": "string", "description": "The environment that fills saved events."},
        "limits": {
            "type": "object",
            "description": "Seconds, and MiB for memory; 0: no limit.",
            "properties": dict.fromkeys(LIMIT_NAMES, NUMBER),
            "additionalProperties": False,
        },
        "journal": {
            "type": "object",
            "properties": {"size": {"type": "number"}, "runs": {"type": "integer", "minimum": 1}},
            "additionalProperties": False,
        },
        "mask": {"anyOf": [TEXT, TEXTS], "description": "Names whose values are masked."},
        "plugin_hooks": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["event", "module"],
                "properties": {"event": TEXT, "module": TEXT},
            },
        },
        **{name: {"type": "string", "description": "The program for handlers."} for name in PROGRAM_KEYS},
    }
    title = "A project's .hookscope/config.yaml"
    members = {name: own[name] for name in CONFIG_KEYS}
    return {"title": title, "type": ["object", "null"], "properties": members, "additionalProperties": False}


def _keys_schema() -> dict[str, Any]:
    keys = {"anyOf": [TEXT, TEXTS, {"type": "null"}]}
    return {
        "title": "Hookscope's keys.yaml",
        "type": ["object", "null"],
        "properties": {"preset": {"enum": list(PRESETS)}},
        "patternProperties": {r"^[a-z_]+\.[a-z_.]+$": keys},
        "additionalProperties": False,
    }


def _theme_schema() -> dict[str, Any]:
    colour = {"type": "string", "pattern": "^#[0-9a-fA-F]{6}$"}
    members: dict[str, Any] = {one.name: colour for one in fields(Palette)}
    members["dark"] = {"type": "boolean"}
    return {
        "title": "A theme of Hookscope",
        "type": ["object", "null"],
        "properties": members,
        "additionalProperties": False,
    }


SCHEMAS: Mapping[str, tuple[str, Callable[[], dict[str, Any]]]] = {
    "event": (".hookscope/events/NAME.yaml", _event_schema),
    "sequence": (".hookscope/sequences/NAME.yaml", _sequence_schema),
    "config": (".hookscope/config.yaml", _config_schema),
    "keys": ("keys.yaml in the config folder", _keys_schema),
    "theme": ("themes/NAME.yaml in the config folder", _theme_schema),
}


@click.command("schema", cls=ExampledCommand)
@click.argument("name", required=False, type=click.Choice(tuple(SCHEMAS)))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
def command(name: str | None, as_json: bool) -> int:
    """Print the JSON Schema of a file that you write, for editors; without NAME, list the schemas.

    An editor with yaml-language-server checks a file that begins with
    `# yaml-language-server: $schema=event.schema.json`.
    """
    if name is None:
        files = {known: file for known, (file, _) in SCHEMAS.items()}
        lines = [f"{known:<10}{file}" for known, file in files.items()]
        click.echo(json.dumps({"schemas": files}, indent=2) if as_json else "\n".join(lines))
        return 0
    click.echo(json.dumps({"$schema": DIALECT, **SCHEMAS[name][1]()}, indent=2))
    return 0
