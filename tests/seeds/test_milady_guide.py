"""The examples of guide 001, written as folders with Python handlers."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hookscope import (
    State,
    check_eligibility,
    create_hook_event,
    discover_hooks,
    load_hooks,
    register_hook,
    registered_keys,
    trigger_hook,
)
from hookscope.engine.discovery import discover
from hookscope.hosts.dialects import DIALECTS
from hookscope.hosts.settings.host_opener import open_host
from hookscope.hosts.settings.settings_reader import given_settings
from hookscope.model.host import Overrides, Trust
from hookscope.model.machine import real_machine

MakeHook = Callable[..., Path]

GREETING = """
    def handler(event):
        print(f"New session started: {event.session_key}")
        event.messages.append("Welcome to this session!")
"""
FULL_HEADER = """---
name: my-hook
description: Does something useful on session start
homepage: https://example.com/docs
metadata:
  milady:
    always: false
    hookKey: my-hook
    emoji: "\u00f0\u0178\u201d\u00a7"
    events:
      - session:new
      - agent:startup
    export: default
    os:
      - darwin
      - linux
    requires:
      bins:
        - git
        - node
      anyBins:
        - bun
        - npm
      env:
        - GITHUB_TOKEN
      config:
        - hooks.entries.my-hook.apiKey
    install:
      - id: git
        kind: bundled
        bins:
          - git
---
"""


def names(*paths: str) -> str:
    return f"{{milady: {{events: [{', '.join(paths)}]}}}}"


async def test_the_custom_hook_of_the_guide_greets_a_new_session(
    home: Path, make_hook: MakeHook, capsys: pytest.CaptureFixture[str]
) -> None:
    make_hook(
        home / ".milady/hooks", "my-hook", "{milady: {events: [session:new], requires: {env: []}}}", GREETING
    )
    report = await load_hooks(dialect="milady", host_config={})
    assert report.registered == 1
    event = create_hook_event("session", "new", "session-key-123", {"userId": "abc"})
    await trigger_hook(event)
    assert event.messages == ["Welcome to this session!"]
    assert capsys.readouterr().out == "New session started: session-key-123\n"


def test_every_field_of_the_full_header_is_read(home: Path) -> None:
    folder = home / ".milady/hooks/my-hook"
    folder.mkdir(parents=True)
    (folder / "HOOK.md").write_text(FULL_HEADER)
    (folder / "handler.py").write_text(GREETING.replace("\n    ", "\n"))
    (hook,) = discover_hooks(dialect="milady", host_config={})
    meta = hook.meta
    assert (hook.name, hook.key, meta.homepage) == ("my-hook", "my-hook", "https://example.com/docs")
    assert meta.events == ("session:new", "agent:startup")
    assert meta.emoji == "🔧"
    assert (meta.requires.bins, meta.requires.any_bins) == (("git", "node"), ("bun", "npm"))
    assert meta.requires.config == ("hooks.entries.my-hook.apiKey",)
    assert meta.install == ({"id": "git", "kind": "bundled", "bins": ["git"]},)
    assert not meta.faults


def test_the_guides_own_settings_path_satisfies_its_config_check(home: Path) -> None:
    folder = home / ".milady/hooks/my-hook"
    folder.mkdir(parents=True)
    (folder / "HOOK.md").write_text(FULL_HEADER)
    (folder / "handler.py").write_text("def handler(event): pass\n")
    (hook,) = discover_hooks(dialect="milady", host_config={})
    absent = check_eligibility(hook, {}, dialect="milady", platform="linux", env={})
    assert "Config missing: hooks.entries.my-hook.apiKey" in absent.reasons()
    config = {"hooks": {"entries": {"my-hook": {"apiKey": "k", "env": {"GITHUB_TOKEN": "t"}}}}}
    present = check_eligibility(hook, config, dialect="milady", platform="linux", env={})
    assert {gate.name for gate in present.failed() if gate.name in ("env", "config")} == set()


def test_always_does_not_skip_the_platform(home: Path, make_hook: MakeHook) -> None:
    header = "{milady: {events: [agent], always: true, os: [win32], requires: {bins: [no-such-program]}}}"
    make_hook(home / ".milady/hooks", "stubborn", header)
    (hook,) = discover_hooks(dialect="milady", host_config={})
    verdict = check_eligibility(hook, {}, dialect="milady", platform="linux", env={})
    assert [(gate.name, gate.passed) for gate in verdict.gates if gate.name in ("os", "bins")] == [
        ("os", False),
        ("bins", None),
    ]
    assert check_eligibility(hook, {}, dialect="milady", platform="win32", env={}).eligible


def test_disabled_and_ineligible_are_two_things(home: Path, make_hook: MakeHook) -> None:
    make_hook(home / ".milady/hooks", "my-hook", names("agent"))
    (hook,) = discover_hooks(dialect="milady", host_config={})
    config = {"hooks": {"entries": {"my-hook": {"enabled": False}}}}
    verdict = check_eligibility(hook, config, dialect="milady")
    assert verdict.eligible
    assert not verdict.enabled
    assert verdict.state is State.OFF


@pytest.mark.parametrize("path", [("hooks",), ("hooks", "internal")])
async def test_settings_stand_under_hooks_or_hooks_internal(
    path: tuple[str, ...], home: Path, make_hook: MakeHook
) -> None:
    make_hook(home / ".milady/hooks", "my-hook", names("agent"))
    config: dict[str, object] = {"entries": {"my-hook": {"enabled": False}}}
    for part in reversed(path):
        config = {part: config}
    report = await load_hooks(dialect="milady", host_config=config)
    assert report.skipped == ("my-hook: disabled in config",)


async def test_specific_handlers_run_before_general_ones_each_in_order_of_registration(
    home: Path, make_hook: MakeHook
) -> None:
    for name, key in (("a", "command"), ("b", "command:new"), ("c", "command"), ("d", "command:new")):
        make_hook(
            home / ".milady/hooks", name, names(key), f"def handler(event): event.messages.append({name!r})"
        )
    await load_hooks(dialect="milady", host_config={})
    event = create_hook_event("command", "new")
    await trigger_hook(event)
    assert event.messages == ["b", "d", "a", "c"]


async def test_switched_off_it_returns_before_clearing() -> None:
    await load_hooks(dialect="milady", host_config={})
    register_hook("command", lambda event: None)
    report = await load_hooks(dialect="milady", host_config={"hooks": {"internal": {"enabled": False}}})
    assert report.registered == 0
    assert registered_keys() == ("command",)


@pytest.mark.parametrize(
    "file", ["handler.ts", "handler", "index.ts", "index"], ids=lambda file: f"candidate {file}"
)
def test_the_hosts_own_handler_names_come_before_python_ones(
    file: str, home: Path, make_hook: MakeHook
) -> None:
    folder = make_hook(home / ".milady/hooks", "my-hook", names("agent"))
    (folder / file).write_text("export default () => {}\n")
    (hook,) = discover_hooks(dialect="milady", host_config={})
    assert hook.handler == folder / file


def test_an_extra_folder_must_lie_below_the_state_folder(home: Path, tmp_path: Path) -> None:
    config = {
        "hooks": {"load": {"extraDirs": ["~/.milady/more", str(tmp_path / "outside"), "~/.milady-evil"]}}
    }
    host = open_host(
        DIALECTS["milady"], real_machine(), settings=given_settings(config, home / "milady.json")
    )
    assert [folder.path for folder in host.folders if folder.source == "extra"] == [home / ".milady/more"]
    assert len(host.problems) == 2
    assert all("must be under ~/.milady/" in problem.text for problem in host.problems)


def test_a_handler_that_leads_out_of_the_hooks_folders_is_blocked(
    home: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    folder = make_hook(home / ".milady/hooks", "my-hook", names("agent"))
    (tmp_path / "elsewhere.py").write_text("def handler(event): pass\n")
    (folder / "handler.py").unlink()
    (folder / "handler.py").symlink_to(tmp_path / "elsewhere.py")
    host = open_host(DIALECTS["milady"], real_machine(), Overrides(), trust=Trust(everything=True))
    (row,) = discover(host).hooks
    assert row.state is State.BROKEN
    assert "outside the allowed hooks folders" in row.verdict.why()


async def test_the_loaders_log_is_the_hosts(home: Path, make_hook: MakeHook) -> None:
    make_hook(home / ".milady/hooks", "greet", names("agent:startup", "session"))
    make_hook(home / ".milady/hooks", "mute", "{milady: {}}")
    make_hook(home / ".milady/hooks", "torn", names("agent"), "raise RuntimeError('torn')")
    empty = home / ".milady/hooks/empty"
    empty.mkdir()
    (empty / "HOOK.md").write_text("---\nname: empty\n---\n")
    report = await load_hooks(dialect="milady", host_config={})
    assert [line.text for line in report.log] == [
        f"[hooks] Hook at {empty} has HOOK.md but no handler",
        "[hooks] Discovered 3 hooks",
        "[hooks] 🔗 Registered: greet -> agent:startup, session",
        '[hooks] Hook "mute" has no events configured',
        f"[hooks] Failed to load handler {home}/.milady/hooks/torn/handler.py: torn",
        "[hooks] Load complete: 1/3 registered, 1 skipped, 1 failed",
    ]
    assert (report.skipped, report.failed) == (("mute: no events",), ("torn",))
