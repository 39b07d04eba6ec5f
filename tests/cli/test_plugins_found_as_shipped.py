"""Which plugins the shipped programs find, and which win, as their own lists of plugins show.

Recorded with openclaw 2026.9.6, 2026.7.35, 2026.6.35 and 2026.3.31 (`plugins list --json`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Program

VERSIONS = ("2026.9", "2026.7", "2026.6", "2026.3")
SCHEMA = {"type": "object", "additionalProperties": False, "properties": {}}
GLOBAL, LOCAL, OTHER = ".openclaw/extensions", "work/.openclaw/extensions", "other"


def plugin(home: Path, name: str, place: str = GLOBAL, *, folder: str = "", **manifest: Any) -> Path:
    path = home / place / (folder or name)
    path.mkdir(parents=True)
    manifest = {"id": name, "configSchema": SCHEMA, **manifest}
    (path / "openclaw.plugin.json").write_text(json.dumps(manifest))
    (path / "index.js").write_text("export default (api) => { api.on('before_tool_call', () => {}); };\n")
    return path


def states(hookscope: Program, home: Path, version: str, **settings: Any) -> dict[str, str]:
    """Return the state of each plugin that wins its id, in the order of their calls."""
    (home / ".openclaw").mkdir(exist_ok=True)
    (home / "work").mkdir(exist_ok=True)
    (home / ".openclaw" / "openclaw.json").write_text(json.dumps(settings))
    words = ("--dialect", f"openclaw@{version}", "--workspace", str(home / "work"), "list", "--json")
    rows = hookscope(*words).json["hooks"]
    return {
        row["name"]: row["state"] for row in rows if row["kind"] == "plugin" and row["state"] != "shadowed"
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_configured_plugins_come_first_and_win(hookscope: Program, home: Path, version: str) -> None:
    plugin(home, "a")
    plugin(home, "twice")
    plugin(home, "twice", OTHER)
    plugins = {"load": {"paths": ["~/other"]}}
    assert list(states(hookscope, home, version, plugins=plugins)) == ["twice", "a"]
    row = hookscope("--dialect", f"openclaw@{version}", "info", "twice", "--json").json
    assert row["source"] == "extra"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_faulty_plugin_hides_no_other(hookscope: Program, home: Path, version: str) -> None:
    plugin(home, "p", folder="a-faulty", configSchema=None)
    plugin(home, "p", folder="b-sound")
    plugin(home, "off", folder="p.disabled")
    found = states(hookscope, home, version)
    assert found["p"] == "untrusted"
    assert "off" not in found


@pytest.mark.parametrize("version", VERSIONS)
def test_a_plugin_that_the_host_ships_wins_its_id(hookscope: Program, home: Path, version: str) -> None:
    plugin(home, "telegram")
    plugin(home, "mine")
    assert list(states(hookscope, home, version)) == ["mine"]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_settings_may_name_an_entry_file(hookscope: Program, home: Path, version: str) -> None:
    plugin(home, "p", OTHER)
    bare = home / "bare.js"
    bare.write_text("export default (api) => {};\n")
    paths = {"load": {"paths": ["~/other/p/index.js", str(bare)]}}
    found = states(hookscope, home, version, plugins=paths)
    if version == "2026.9":
        assert found == {"p": "untrusted", "bare": "untrusted"}
    else:  # there every plugin needs a manifest, and the program refuses its settings
        assert found["bare"] == "broken"


@pytest.mark.parametrize(
    ("version", "names"), [("2026.9", ["p/a", "p/b"]), *((old, ["p"]) for old in VERSIONS[1:])]
)
def test_each_entry_of_a_package_is_a_plugin_since_2026_8(
    hookscope: Program, home: Path, version: str, names: list[str]
) -> None:
    folder = plugin(home, "p")
    for name in ("a.js", "b.js"):
        (folder / name).write_text("export default (api) => {};\n")
    package = {"name": "x", "openclaw": {"extensions": ["./a.js", "./b.js"]}}
    (folder / "package.json").write_text(json.dumps(package))
    assert list(states(hookscope, home, version)) == names


ON, OFF = "untrusted", "off"
IDS = {"Deny1": "deny1", "deny2": " deny2 ", "Off1": "off1", "off2": " off2 "}


@pytest.mark.parametrize(("version", "state"), [("2026.9", OFF), ("2026.7", ON), ("2026.6", ON)])
def test_ids_in_the_settings_are_read_as_the_version_does(
    hookscope: Program, home: Path, version: str, state: str
) -> None:
    for name in IDS:
        plugin(home, name)
    off = {IDS[name]: {"enabled": False} for name in ("Off1", "off2")}
    plugins = {"deny": [IDS["Deny1"], IDS["deny2"]], "entries": off}
    found = states(hookscope, home, version, plugins=plugins)
    assert found == {"Deny1": state, "deny2": OFF, "Off1": state, "off2": OFF}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_slot_selects_a_plugin_without_the_allow_list(hookscope: Program, home: Path, version: str) -> None:
    plugin(home, "mem", kind="memory")
    plugin(home, "engine", kind="context-engine")
    plugin(home, "local", LOCAL)
    slots = {"memory": "mem", "contextEngine": "engine"}
    found = states(hookscope, home, version, plugins={"allow": ["x"], "slots": slots})
    engine = OFF if version == "2026.3" else ON
    assert found == {"local": OFF, "engine": engine, "mem": ON}
    found = states(hookscope, home, version, plugins={"slots": {"contextEngine": "local"}})
    assert found["local"] == engine


@pytest.mark.parametrize(("version", "state"), [("2026.9", OFF), ("2026.7", ON), ("2026.3", ON)])
def test_a_plugin_follows_its_disabled_channel_since_2026_8(
    hookscope: Program, home: Path, version: str, state: str
) -> None:
    plugin(home, "chan", channels=["mine"])
    found = states(hookscope, home, version, channels={"mine": {"enabled": False}})
    assert found == {"chan": state}


UNKNOWN = "unknown heartbeat target"
NAMES = (
    ("2026.9", "heartbeat", "nowhere", f"{UNKNOWN}: nowhere"),
    ("2026.3", "heartbeat", " ", "heartbeat target must not be empty"),
    ("2026.7", "heartbeat", "owner", f"{UNKNOWN}: owner"),
    ("2026.9", "heartbeat", "owner", ""),
    ("2026.9", "heartbeat", " Teams", ""),
    ("2026.3", "heartbeat", "teams", f"{UNKNOWN}: teams"),
    ("2026.9", "heartbeat", "Mine", ""),  # a plugin declares this channel
    ("2026.9", "search", "nope", "unknown web_search provider: nope"),
    ("2026.3", "search", "nope", ""),
    ("2026.9", "search", "gemini", ""),
    ("2026.9", "search", "own", ""),  # a plugin declares this provider
    ("2026.9", "search", "kimi", 'not available: kimi (install or enable plugin "moonshot"'),
)


@pytest.mark.parametrize(("version", "kind", "name", "refusal"), NAMES)
def test_heartbeat_targets_and_search_providers_are_judged(
    hookscope: Program, home: Path, version: str, kind: str, name: str, refusal: str
) -> None:
    plugin(home, "p", channels=["mine"], contracts={"webSearchProviders": ["own"]})
    heartbeat = {"agents": {"list": [{"id": "main", "heartbeat": {"target": name}}]}}
    search = {"tools": {"web": {"search": {"provider": name}}}}
    found = states(hookscope, home, version, **(heartbeat if kind == "heartbeat" else search))
    assert found == {"p": "blocked" if refusal else ON}
    assert refusal in hookscope("--dialect", f"openclaw@{version}", "info", "p").out


def test_a_provider_of_a_plugin_that_the_settings_name_is_accepted(hookscope: Program, home: Path) -> None:
    plugin(home, "p")
    search = {"web": {"search": {"provider": "kimi"}}}
    entries: dict[str, Any] = {"moonshot": {}}
    assert states(hookscope, home, "2026.9", tools=search, plugins={"entries": entries}) == {"p": ON}


@pytest.mark.parametrize(
    ("package", "named", "refusal"),
    [
        ({"extensions": []}, True, "package.json openclaw.extensions is empty"),
        ({"extensions": ["../out.js"]}, True, "extension entry escapes package directory: ../out.js"),
        ({"extensions": ["./gone.js"]}, True, "extension entry not found: gone.js"),
        ({"extensions": ["./gone.js"]}, False, ""),
    ],
)
def test_a_faulty_package_that_the_settings_name_makes_the_host_refuse_them(
    hookscope: Program, home: Path, package: dict[str, Any], named: bool, refusal: str
) -> None:
    folder = plugin(home, "p")
    (folder / "package.json").write_text(json.dumps({"openclaw": package}))
    plugin(home, "other")
    states(hookscope, home, "2026.9", plugins={"entries": {"P" if named else "other": {}}})
    shown = hookscope("--dialect", "openclaw@2026.9", "info", "other").out
    assert (f"plugin p: {refusal}" in shown) if refusal else ("refuse" not in shown)
