"""`hookscope schema [NAME]`: JSON Schemas of the files that people write, and of `--json` documents."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import yaml

from hookscope.cli.lazy_group import ExampledCommand

DIALECT = "https://json-schema.org/draft/2020-12/schema"
WORDS: Mapping[str, dict[str, Any]] = {
    "any": {},
    "flag": {"type": "boolean"},
    "null": {"type": "null"},
    "number": {"type": "number"},
    "text": {"type": "string"},
}


def _data(name: str) -> Mapping[str, Any]:
    """Return one of the YAML files beside the commands."""
    document: Mapping[str, Any] = yaml.safe_load((Path(__file__).parents[1] / name).read_text("utf-8"))
    return document


SHAPES = _data("json_shapes.yaml")
FILES = {name: one for name, one in _data("file_schemas.yaml").items() if name != "parts"}


def _shape_schema(shape: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a shape, see json_shapes.yaml. Adds the shapes that it names to `definitions`."""
    if isinstance(shape, list):
        return {"type": "array", "items": _shape_schema(shape[0], definitions)}
    if isinstance(shape, dict):
        members = {name: _shape_schema(value, definitions) for name, value in shape.items()}
        others = members.pop("*", True)  # later versions may add members
        return {
            "type": "object",
            "properties": {name.strip("()"): value for name, value in members.items()},
            "required": [name for name in members if not name.startswith("(")],
            "additionalProperties": others,
        }
    words = shape.split("|")
    for word in words:
        if word not in WORDS and word not in definitions:
            definitions[word] = {}  # a shape can contain itself
            definitions[word] = _shape_schema(SHAPES["shapes"][word], definitions)
    either = [WORDS.get(word, {"$ref": f"#/$defs/{word}"}) for word in words]
    return either[0] if len(either) == 1 else {"anyOf": either}


def _printing(name: str) -> str:
    known = {"error": "hookscope COMMAND --json", "fire-lines": "hookscope fire KEY --json-lines"}
    return known.get(name) or f"hookscope {name.replace('tap-', 'tap ')} --json"


def schema_of(name: str) -> dict[str, Any]:
    """Return the schema of a file, or of a document with the ending `-json`."""
    if name in FILES:
        return {"$schema": DIALECT, **FILES[name]["schema"]}
    printed, definitions = name.removesuffix("-json"), dict[str, Any]()
    schema = _shape_schema(SHAPES["documents"][printed], definitions)
    return {
        "$schema": DIALECT,
        "title": f"What `{_printing(printed)}` prints",
        **schema,
        "$defs": definitions,
    }


SUBJECTS = {
    **{name: str(one["file"]) for name, one in FILES.items()},
    **{f"{name}-json": _printing(name) for name in SHAPES["documents"]},
}


@click.command("schema", cls=ExampledCommand)
@click.argument("name", required=False, metavar="[NAME]", type=click.Choice(tuple(SUBJECTS)))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
def schema_command(name: str | None, as_json: bool) -> int:
    """Print the JSON Schema of a file that you write, or of what a command prints with `--json`.

    Without NAME, list the schemas. An editor with yaml-language-server checks a file that begins with
    `# yaml-language-server: $schema=event.schema.json`.
    """
    if name is not None:
        click.echo(json.dumps(schema_of(name), indent=2))
        return 0
    lines = [f"{known:<20}{subject}" for known, subject in SUBJECTS.items()]
    click.echo(json.dumps({"schemas": SUBJECTS}, indent=2) if as_json else "\n".join(lines))
    return 0
