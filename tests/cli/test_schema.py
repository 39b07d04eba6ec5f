"""`hookscope schema`: what the manual shows and the program reads fits, and mistakes do not."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
import yaml

from hookscope.app.project_config import CONFIG_KEYS, LIMIT_NAMES
from hookscope.authoring.testing.expectations import CHECKS, FILES
from hookscope.authoring.testing.saved_events import EVENT_KEYS
from hookscope.authoring.testing.sequences import FILE_STEP_KEYS, SEQUENCE_KEYS, STEP_KEYS
from hookscope.cli.commands.schema_command import schema_of
from hookscope.console.keymap.active_keys import PRESETS
from hookscope.console.theme.theme_manager import Palette

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Program
    from tests.conftest import MakeHook

FITS = {
    "event": """
        event: command:new
        session: agent:main:main
        context: {senderId: "${USER}"}
        expect: {errors: 0, messages: ["Saved *"], output: {greet: ["* done"]}, files: [], max_ms: 500}
        """,
    "sequence": """
        steps:
          - {event: session_end}
          - {event: command:new, with: {senderId: ada}, expect: {messages: 1}}
          - {after: 250ms, file: ../events/hello.yaml}
        """,
    "config": "{dialect: openclaw, limits: {run: 5, memory: 512}, journal: {runs: 100}, mask: [CUSTOMER]}",
    "keys": "{preset: vim, fire.fire: [ctrl+x, f5], hooks.group: v, hooks.folders: }",
    "theme": "{background: '#14171b', dark: true}",
}
DOES_NOT_FIT = {
    "event": "{event: command:new, contxt: {}}",
    "sequence": "{steps: [{after: soon, event: command:new}]}",
    "config": "{limits: {runs: 5}}",
    "keys": "{preset: emacs}",
    "theme": "{background: blue}",
}


def validator(hookscope: Program, name: str) -> Any:
    schema = hookscope("schema", name).json
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("name", FITS)
def test_files_of_the_manual_fit_their_schema(hookscope: Program, name: str) -> None:
    checks = validator(hookscope, name)
    assert [error.message for error in checks.iter_errors(yaml.safe_load(FITS[name]))] == []
    assert list(checks.iter_errors(yaml.safe_load(DOES_NOT_FIT[name])))


def test_the_schemas_name_what_the_program_reads() -> None:
    event, sequence, config, keys, theme = (schema_of(name)["properties"] for name in FITS)
    once, saved = sequence["steps"]["items"]["anyOf"]
    compared = (
        (event, EVENT_KEYS),
        (event["expect"]["properties"], (*CHECKS, FILES)),
        (sequence, SEQUENCE_KEYS),
        (once["properties"], STEP_KEYS),
        (saved["properties"], FILE_STEP_KEYS),
        (config, CONFIG_KEYS),
        (config["limits"]["properties"], LIMIT_NAMES),
        (keys["preset"]["enum"], PRESETS),
        (theme, ("dark", *(one.name for one in fields(Palette)))),
    )
    for named, read in compared:
        assert {*named} == {*read}


@pytest.mark.parametrize(
    "words", ["sequence --json", "help --json", "help ci --json", "help worker limits --json"]
)
def test_documents_that_have_no_record_fit_too(hookscope: Program, words: str) -> None:
    checks = validator(hookscope, f"{words.split()[0]}-json")
    assert [error.message for error in checks.iter_errors(hookscope(*words.split()).json)] == []


def test_saved_events_name_the_schema_beside_them(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", '{openclaw: {events: ["command:new"]}}')
    assert hookscope("fire", "command:new", "--trust", "--save", "before").code == 0
    events = workspace / ".hookscope/events"
    (events / "event.schema.json").write_text(hookscope("schema", "event").out)
    assert hookscope("fire", "command:new", "--trust", "--save", "after").code == 0
    assert hookscope("new", "fresh", "--event", "command:new").code == 0
    named = [
        file.read_text().startswith("# yaml-language-server: $schema=event.schema.json\n")
        for file in (events / f"{name}.yaml" for name in ("before", "after", "fresh"))
    ]
    assert named == [False, True, True]
    assert hookscope("test", "--trust", "--json").code == 0


def test_the_schemas_are_listed(hookscope: Program) -> None:
    listed = hookscope("schema", "--json").json["schemas"]
    assert {name for name in listed if not name.endswith("-json")} == {*FITS}
    assert (listed["tap-status-json"], listed["fire-json"]) == (
        "hookscope tap status --json",
        "hookscope fire --json",
    )
    done = hookscope("schema", "evnt")
    assert done.code == 2
    assert "event" in done.err
