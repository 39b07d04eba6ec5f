"""`hookscope schema COMMAND-json` describes every member of the recorded documents, and no other."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from tests.contracts.golden import recorded

from hookscope.cli.command_index import COMMANDS
from hookscope.cli.commands.schema_command import schema_of

# The host's own format, a schema, an export, and records that no command printed.
OTHER_RECORDS = {
    "list-host",
    "check-host",
    "schema",
    "export",
    "options",
    "library",
    "journal",
    "saved-events",
}
RECORDS = {name: json.loads(text) for name, text in recorded().items() if name not in OTHER_RECORDS}


def schema_name(words: list[str], document: Any) -> str:
    """The name of the schema of what these words print."""
    if isinstance(document, dict) and "error" in document and "step" not in document:
        return "error-json"
    if "--json-lines" in words:
        return "fire-lines-json"
    command = next(word for word in words if word in COMMANDS)
    return f"tap-{words[words.index('tap') + 1]}-json" if command == "tap" else f"{command}-json"


def without_other_members(schema: Any) -> Any:
    """The schema, in which objects have no member that it does not name."""
    if isinstance(schema, list):
        return [without_other_members(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {"additionalProperties": False} if schema.get("additionalProperties") is True else {}
    return {name: without_other_members(part) for name, part in schema.items()} | closed


def faults(name: str, document: Any) -> list[str]:
    """What of the document its schema does not say."""
    schema = schema_of(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    checks = jsonschema.Draft202012Validator(without_other_members(schema))
    return [f"{error.json_path}: {error.message[:300]}" for error in checks.iter_errors(document)]


@pytest.mark.parametrize("record", RECORDS)
def test_recorded_documents_fit_their_schemas(record: str) -> None:
    words = RECORDS[record]["words"].split()
    documents = RECORDS[record].get("lines") or [RECORDS[record]["json"]]
    assert [fault for one in documents for fault in faults(schema_name(words, one), one)] == []


def test_a_schema_finds_a_missing_and_a_wrong_member() -> None:
    document = RECORDS["list"]["json"]
    hook = document["hooks"][0]
    assert faults("list-json", {**document, "hooks": [{**hook, "state": 1}]})
    assert faults("list-json", {key: value for key, value in document.items() if key != "orphans"})
