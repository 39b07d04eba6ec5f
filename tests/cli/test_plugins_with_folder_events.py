"""Plugins of openclaw@2026.9 that register handlers for the events of hook folders, and those that it fails.

What is expected here was recorded from the program itself (2026.9.6).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Program

Plugin = Callable[..., Path]
SHIPPED = ("--dialect", "openclaw@2026.9")
ALPHA = """
  api.registerHook(["command", " command:new "], (event) => {
    event.messages.push(`alpha ${JSON.stringify(event.context.pluginConfig)}`);
    event.messages = [];
    event.type = "changed";
    event.context.by = "alpha";
    api.registerHook("command:new", (event) => event.messages.push("late"), { name: "late" });
  }, { name: "n1" });
  api.registerHook("command:new", (event) => event.messages.push("again"), { name: "n1" });
  api.registerHook("before_tool_call", () => {}, { name: "typed" });
  api.registerHook("command:new", () => { throw new Error("boom"); }, { name: "throws", priority: 100 });
  api.registerHook("command:new", (event) => event.messages.push("listed"), { name: "r", register: false });
  api.on("command:new", (event) => event.messages.push("on"));
"""
BETA = """
  api.registerHook("command", (event) => event.messages.push("beta"), { name: "b1" });
  api.registerHook("command:new", (event) => event.messages.push("dup"), { name: "n1" });
"""


@pytest.fixture
def plugin(home: Path) -> Plugin:
    """plugin("alpha", "api.on(…)") → the entry file of a plugin in the host's own folder."""

    def made(name: str, body: str, register: str = "register") -> Path:
        folder = home / ".openclaw" / "extensions" / name
        folder.mkdir(parents=True)
        (folder / "openclaw.plugin.json").write_text(json.dumps({"id": name, "configSchema": {}}))
        entry = folder / "index.js"
        entry.write_text(f"module.exports = {{ id: '{name}', {register}(api) {{{body}}} }};")
        return entry

    return made


@pytest.fixture
def configured(home: Path, bundled: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings in which all hooks are on, and a folder hook of two keys."""
    monkeypatch.setenv("OPENCLAW_BUNDLED_HOOKS_DIR", str(bundled))
    folder = home / ".openclaw" / "hooks" / "fold"
    folder.mkdir(parents=True)
    metadata = '{"openclaw":{"events":["command:new","command"]}}'
    (folder / "HOOK.md").write_text(f"---\nname: fold\nmetadata: {metadata}\n---\n")
    (folder / "handler.js").write_text("module.exports = (event) => { event.messages.push('fold'); };")
    settings = home / ".openclaw" / "openclaw.json"
    settings.write_text(
        json.dumps(
            {
                "hooks": {"internal": {"enabled": True}},
                "plugins": {"entries": {"alpha": {"config": {"x": 5}}, "py": {"config": {"greet": "hi"}}}},
            }
        )
    )
    return settings


def test_plugin_handlers_run_after_folder_hooks_of_the_same_key(
    hookscope: Program, plugin: Plugin, configured: Path
) -> None:
    plugin("alpha", ALPHA)
    plugin("beta", BETA)
    fired = hookscope(*SHIPPED, "fire", "command:new", "--trust", "--json", "--context", "{}")
    run: dict[str, Any] = fired.json
    called = [(item["hook"], item["status"]) for item in run["results"]]
    assert called == [
        ("fold", "ok"), ("alpha", "ok"), ("beta", "ok"), ("fold", "ok"), ("alpha", "ok"), ("alpha", "error"),
    ]  # fmt: skip
    assert run["messages"] == ["fold", 'alpha {"x":5}', "beta", "fold", 'alpha {"x":5}']
    assert run["context"] == {"by": "alpha"}
    assert [line["text"] for line in run["log"]] == ["[internal-hooks] Hook error [command:new]: boom"]
    assert any("as in its host" in note for item in run["results"] for note in item["notes"])

    log = [line["text"] for line in hookscope(*SHIPPED, "load", "--trust", "--json").json["log"]]
    assert "hook already registered: n1 (alpha)" in log
    assert "beta: hook already registered: n1 (alpha)" in log
    assert any("before_tool_call needs `api.on`" in text for text in log)

    typed = hookscope(*SHIPPED, "fire", "before_tool_call", "--trust", "--json").json
    assert typed["results"] == []
    (left,) = (item for item in typed["not_run"] if item["hook"] == "alpha")
    assert (
        left["near"]
        == "subscribes to before_tool_call with `registerHook` – a plugin receives this event with `on`"
    )


def test_plugin_handlers_are_listed_and_planned_before_a_load(
    hookscope: Program, plugin: Plugin, configured: Path
) -> None:
    entry = plugin("beta", BETA)
    plugin("heard", "api.on('command:new', () => {});")
    rows = {row["name"]: row for row in hookscope(*SHIPPED, "list", "--json").json["hooks"]}
    assert (rows["beta"]["events"], rows["beta"]["state"]) == (["command", "command:new"], "untrusted")
    assert any("receives it with `registerHook`, not with `on`" in note for note in rows["heard"]["notes"])
    for folder in (entry.parents[1], configured.parent / "hooks"):
        hookscope(*SHIPPED, "trust", str(folder))
    plan = hookscope(*SHIPPED, "plan", "command:new", "--json").json
    assert [call["hook"] for group in plan["groups"] for call in group["calls"]] == [
        "fold", "beta", "fold", "beta",
    ]  # fmt: skip
    (left,) = (item for item in plan["not_run"] if item["hook"] == "heard")
    near = "subscribes to command:new with `on` – a plugin receives this event with `registerHook`"
    assert left["near"] == near

    configured.write_text('{"hooks": {"internal": {"enabled": false}}}')
    run = hookscope(*SHIPPED, "fire", "command:new", "--json").json
    reasons = {item["hook"]: item["reason"] for item in run["not_run"]}
    assert run["results"] == []
    assert reasons["beta"] == "all hooks of folder events are switched off in the settings"


def test_the_hosts_list_names_plugins_whose_hooks_it_omits(
    hookscope: Program, plugin: Plugin, configured: Path, tmp_path: Path
) -> None:
    marker = tmp_path / "imported"
    plugin("alpha", f"require('fs').writeFileSync({json.dumps(str(marker))}, ''); {ALPHA}")
    plugin("typed", "api.on('before_tool_call', () => {});")
    for command in ("list", "check"):
        done = hookscope(*SHIPPED, command, "--format", "host", "--json")
        assert "Plugins not included: alpha. See `hookscope load`." in done.err
        assert "typed" not in done.err
        assert done.code == 0
    assert "Plugins not included" not in hookscope(*SHIPPED, "info", "fold", "--format", "host").err
    assert not marker.exists()


def test_a_plugin_that_the_host_rejects_shows_the_hosts_message(
    hookscope: Program, plugin: Plugin, configured: Path
) -> None:
    """Seed 003's form has no name; and nothing waits for a `register`."""
    good = "api.registerHook('command', (event) => event.messages.push('never'), { name: 'g' });"
    plugin("nameless", f"{good} api.registerHook({{ event: 'message-sent', handler: () => {{}} }});")
    plugin("blank", f"{good} api.registerHook('command', () => {{}}, {{ name: '  ' }});")
    plugin("waits", good, register="async register")
    report = hookscope(*SHIPPED, "load", "--trust", "--json").json
    assert sorted(report["failed"]) == ["blank", "nameless", "waits"]
    reasons = {name: failure["message"] for name, failure in report["failures"].items()}
    assert reasons["nameless"] == reasons["blank"] == "hook registration missing name"
    assert reasons["waits"] == "plugin register must be synchronous"
    run = hookscope(*SHIPPED, "fire", "command:new", "--trust", "--json").json
    assert [item["hook"] for item in run["results"]] == ["fold", "fold"]


def test_before_2026_4_an_event_that_is_no_text_fails_the_plugin(
    hookscope: Program, plugin: Plugin, configured: Path
) -> None:
    """There a hook without a name is skipped, but the events are read first, each as a text."""
    good = "api.registerHook('command', (event) => event.messages.push('heard'), { name: 'g' });"
    plugin("one", f"{good} api.registerHook({{ event: 'message-sent', handler: () => {{}} }});")
    plugin("blank", "api.registerHook('command', () => {}, { name: '  ' });")
    report = hookscope("--dialect", "openclaw@2026.3", "load", "--trust", "--json").json
    assert {name: failure["message"] for name, failure in report["failures"].items()} == {
        "one": "event.trim is not a function"
    }


def test_python_plugins_receive_the_same_event_as_folder_hooks(
    hookscope: Program, workspace: Path, configured: Path, home: Path
) -> None:
    folder = home / ".openclaw" / "extensions" / "py"
    folder.mkdir(parents=True)
    (folder / "plugin.py").write_text(
        "def one(event):\n    event.messages.append(event.type + kept.plugin_config.greet)\n"
        "def two(event, ctx):\n    event.messages.append(str(ctx))\n"
        "    kept.register_hook('command', one, name='late')\n"
        "def register(api):\n    global kept\n    kept = api\n"
        "    api.register_hook('command:new', one, name='one')\n"
        "    api.register_hook('command', two, name='two')\n"
    )
    run = hookscope(*SHIPPED, "fire", "command:new", "--trust", "--json").json
    assert run["messages"] == ["fold", "None", "fold", "commandhi"]
    said = [item["stderr"] for item in run["results"] if item["stderr"]]
    assert len(said) == 1
    assert "a handler of command is registered after `register` has returned: it is not called" in said[0]
