"""`true` is no 1: it is no limit, no priority and no number of a plugin's settings."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.hosts.plugins.conftest import SHIPPED, Home

from hookscope import PluginApi
from hookscope.engine.discovery import discover


@pytest.mark.parametrize("value", [True, False])
def test_a_boolean_is_no_limit_that_the_user_sets(place: Home, value: bool) -> None:
    place.plugin("extensions", "guard", entry="index.ts", id="guard")
    hooks = {"timeoutMs": value, "timeouts": {"agent_end": value, "before_tool_call": 3000}}
    place.settings(plugins={"entries": {"guard": {"hooks": hooks}}})
    limits = {row.hook.name: row.hook.meta.limits for row in discover(place.host(SHIPPED)).hooks}
    assert limits["guard"] == {"before_tool_call": 3.0}


@pytest.mark.parametrize(
    ("wanted", "value", "fits"),
    [
        ("number", True, False),
        ("number", 1, True),
        ("integer", False, False),
        ("integer", 1.0, True),
        ("integer", 1.5, False),
        ("boolean", True, True),
        ("boolean", 1, False),
        (["number", "string"], True, False),
        (["number", "boolean"], True, True),
    ],
)
def test_a_setting_is_of_the_type_that_the_schema_of_its_plugin_names(
    place: Home, wanted: object, value: object, fits: bool
) -> None:
    schema = {"type": "object", "properties": {"x": {"type": wanted}}}
    folder = place.plugin("extensions", "typed", entry="index.js", id="typed", configSchema=schema)
    assert json.loads((folder / "openclaw.plugin.json").read_text())["configSchema"] == schema
    place.settings(plugins={"entries": {"typed": {"enabled": True, "config": {"x": value}}}})
    (row,) = (row for row in discover(place.host(SHIPPED)).hooks if row.hook.name == "typed")
    passed = {gate.name: gate.passed for gate in row.verdict.gates}
    assert passed["schema"] is fits


@pytest.mark.parametrize("options", [{"priority": True}, {"priority": False}, {"timeout_ms": True}])
def test_a_plugin_cannot_register_with_a_boolean_in_place_of_a_number(options: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError), match=r"is (True|False), not a number"):
        PluginApi("odd").on("before_tool_call", lambda event, ctx: None, **options)
