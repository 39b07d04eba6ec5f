"""`hookscope schema`: what the manual shows and the program reads fits, and mistakes do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
import yaml

if TYPE_CHECKING:
    from tests.cli.conftest import Program

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


def test_the_schemas_are_listed(hookscope: Program) -> None:
    assert set(hookscope("schema", "--json").json["schemas"]) == {*FITS}
    done = hookscope("schema", "evnt")
    assert done.code == 2
    assert "event" in done.err
