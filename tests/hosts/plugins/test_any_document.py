"""Whatever a stranger's manifest, package.json or the settings hold, a look answers with rows."""

import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.hosts.plugins.conftest import GUIDE, SHIPPED, Home

from hookscope.engine.discovery import discover

ENTRY = "export default { register(api) { api.on('agent_end', () => {}); } };"
SCHEMA = {
    "type": ["object"],
    "required": ["a"],
    "additionalProperties": False,
    "properties": {
        "a": {"enum": ["q"], "default": "q"},
        "b": {"items": {"properties": {"c": {"type": "integer", "default": 1}}}},
    },
}
MANIFEST = {"id": "watch", "name": "Watch", "main": "index.ts", "kind": ["memory"], "configSchema": SCHEMA}
PACKAGE = {
    "dependencies": {"yaml": "1"},
    "optionalDependencies": {"spare": "1"},
    "openclaw": {"extensions": ["./index.ts"]},
}
ENTRY_OF_SETTINGS = {
    "enabled": True,
    "config": {"a": "q", "b": [{"c": 1}]},
    "hooks": {"timeoutMs": 100, "timeouts": {"agent_end": 5}, "allowConversationAccess": True},
}
SETTINGS = {
    "enabled": True,
    "allow": ["watch"],
    "deny": ["other"],
    "load": {"paths": ["~/more"]},
    "slots": {"memory": "watch"},
    "entries": {"watch": ENTRY_OF_SETTINGS},
    "hooks": [{"event": "agent_end", "file": "f.py", "export": "default", "priority": 3, "name": "n"}],
}
TEXTS = st.sampled_from(["", " ", "watch", "a\0b", "\x1b[31m", "[b]", "../..", "~", "object", "x" * 300])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=4,
)


@st.composite
def changed(draw: st.DrawFn, document: Any) -> Any:
    """The document with anything in the place of one of its parts."""
    if not isinstance(document, Mapping | list) or not document or draw(st.integers(0, 5)) == 0:
        return draw(ANYTHING)
    names = list(document) if isinstance(document, Mapping) else range(len(document))
    name = draw(st.sampled_from(names))
    part = draw(changed(document[name]))
    if isinstance(document, list):
        return [*document[:name], part, *document[name + 1 :]]
    return {**document, name: part}


@given(changed(MANIFEST), changed(PACKAGE), changed(SETTINGS), st.sampled_from([GUIDE, SHIPPED]))
def test_a_bad_document_is_a_row_and_never_an_error(
    manifest: Any, package: Any, settings: Any, dialect: str
) -> None:
    with TemporaryDirectory() as folder:
        home = Home(Path(folder))
        for place in ("extensions/watch", "plugins/watch", "workspace/.openclaw/extensions/watch"):
            home.write(f"{place}/index.ts", ENTRY)
            home.write(f"{place}/openclaw.plugin.json", json.dumps(manifest))
            home.write(f"{place}/package.json", json.dumps(package))
        home.settings(plugins=settings)
        inventory = discover(home.host(dialect))
    assert inventory.hooks or inventory.rejected or inventory.problems
    for row in inventory.hooks:
        limits = row.hook.meta.limits.values()
        assert all(limit > 0 for limit in limits)
        assert all(gate.reason for gate in row.verdict.failed())
