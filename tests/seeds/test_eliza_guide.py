"""The examples of guide 000, written as folders with Python handlers."""

import json
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hookscope import (
    HookEvent,
    check_eligibility,
    create_hook_event,
    discover_hooks,
    has_listeners,
    load_hooks,
    register_hook,
    registered_keys,
    trigger_hook,
)
from hookscope.model.machine import real_machine

MakeHook = Callable[..., Path]
WELCOME = """
    def handler(event):
        if event.action == "new":
            event.messages.append("Welcome! A new session has started.")
"""
FULL_HEADER = """
  eliza:
    events:
      - "session:start"
    requires:
      bins: ["jq"]
      env: ["MY_API_KEY"]
    os: ["darwin", "linux"]
    emoji: "🔔"
"""


def settings(**internal: object) -> dict[str, object]:
    return {"hooks": {"internal": internal}}


async def test_the_minimal_handler_answers_a_new_session(home: Path, make_hook: MakeHook) -> None:
    make_hook(home / ".eliza/hooks", "my-hook", "{eliza: {events: [command]}}", WELCOME)
    report = await load_hooks(dialect="eliza", host_config={})
    assert (report.discovered, report.eligible, report.registered) == (1, 1, 1)
    event = create_hook_event("command", "new", "my-session", {"userId": "abc"})
    run = await trigger_hook(event)
    assert event.messages == ["Welcome! A new session has started."]
    assert run.messages == ("Welcome! A new session has started.",)
    other = create_hook_event("command", "reset", "my-session")
    await trigger_hook(other)
    assert other.messages == []


async def test_handlers_registered_in_code_are_called_specific_ones_first() -> None:
    await load_hooks(dialect="eliza", host_config={})
    calls: list[str] = []

    async def any_command(event: HookEvent) -> None:
        calls.append(f"Command: {event.action} in session {event.session_key}")

    async def starting(event: HookEvent) -> None:
        calls.append("starting")
        event.messages.append("Starting fresh!")

    register_hook("command", any_command)
    register_hook("command:new", starting)
    event = create_hook_event("command", "new", "s1")
    await trigger_hook(event)
    assert calls == ["starting", "Command: new in session s1"]
    assert event.messages == ["Starting fresh!"]
    assert set(registered_keys()) == {"command", "command:new"}
    assert has_listeners("command", "anything")
    assert not has_listeners("session", "start")


def test_the_example_header_is_read_whole(home: Path, make_hook: MakeHook) -> None:
    make_hook(home / ".eliza/hooks", "my-hook", "{}")
    (home / ".eliza/hooks/my-hook/HOOK.md").write_text(
        f"---\nname: my-hook\ndescription: Does something useful\nmetadata:{FULL_HEADER}---\n"
    )
    (hook,) = discover_hooks(dialect="eliza", host_config={})
    assert hook.meta.events == ("session:start",)
    assert hook.meta.requires.bins == ("jq",)
    assert hook.meta.requires.env == ("MY_API_KEY",)
    assert hook.meta.os == ("darwin", "linux")
    assert hook.meta.emoji == "🔔"
    assert hook.meta.export == "default"
    assert hook.key == "my-hook"


def test_each_requirement_is_a_gate_of_its_own(home: Path, make_hook: MakeHook) -> None:
    make_hook(
        home / ".eliza/hooks",
        "needy",
        "{eliza: {events: [session], os: [win32], requires: {bins: [no-such-program], "
        "anyBins: [nope, neither], env: [MISSING_KEY], config: [a.b]}}}",
    )
    (hook,) = discover_hooks(dialect="eliza", host_config={})
    verdict = check_eligibility(hook, {}, dialect="eliza", platform="linux", env={"PATH": "/nowhere"})
    assert not verdict.eligible
    assert verdict.reasons() == (
        "OS: requires win32, current: linux",
        "Binary missing: no-such-program",
        "None of: nope, neither",
        "Env missing: MISSING_KEY",
        "Config missing: a.b",
    )
    met = check_eligibility(
        hook, {"a": {"b": "x"}}, dialect="eliza", platform="win32", env={"PATH": "", "MISSING_KEY": "1"}
    )
    assert {gate.name for gate in met.failed()} == {"bins", "anyBins"}


def test_always_bypasses_every_check(home: Path, make_hook: MakeHook) -> None:
    header = "{eliza: {events: [session], always: true, os: [win32], requires: {bins: [no-such-program]}}}"
    make_hook(home / ".eliza/hooks", "stubborn", header)
    (hook,) = discover_hooks(dialect="eliza", host_config={})
    verdict = check_eligibility(hook, {}, dialect="eliza", platform="linux", env={})
    assert verdict.eligible
    assert [gate.passed for gate in verdict.gates if gate.name in ("os", "bins")] == [None, None]


async def test_an_entry_switches_a_hook_off_by_its_hook_key(home: Path, make_hook: MakeHook) -> None:
    make_hook(home / ".eliza/hooks", "my-hook", "{eliza: {events: [command], hookKey: other}}", WELCOME)
    by_name = await load_hooks(dialect="eliza", host_config=settings(entries={"my-hook": {"enabled": False}}))
    assert by_name.registered == 1
    by_key = await load_hooks(dialect="eliza", host_config=settings(entries={"other": {"enabled": False}}))
    assert by_key.skipped == ("my-hook: disabled in config",)
    assert by_key.eligible == 1


async def test_the_master_switch_empties_the_registry(home: Path, make_hook: MakeHook) -> None:
    make_hook(home / ".eliza/hooks", "my-hook", "{eliza: {events: [command]}}", WELCOME)
    await load_hooks(dialect="eliza", host_config={})
    report = await load_hooks(dialect="eliza", host_config=settings(enabled=False))
    assert (report.discovered, report.registered) == (0, 0)
    assert registered_keys() == ()


async def test_folders_override_each_other_from_extra_to_workspace(
    home: Path, tmp_path: Path, workspace: Path, make_hook: MakeHook
) -> None:
    folders = {
        "extra": home / ".eliza/custom-hooks",
        "bundled": tmp_path / "bundled",
        "managed": home / ".eliza/hooks",
        "workspace": workspace / "hooks",
    }
    for number, (source, folder) in enumerate(folders.items()):
        say = f"def handler(event): event.messages.append({source!r})"
        for rank in range(number + 1):
            make_hook(folder, f"hook-{rank}", "{eliza: {events: [command]}}", say)
    config = settings(load={"extraDirs": ["~/.eliza/custom-hooks"]})
    hooks = discover_hooks(workspace, tmp_path / "bundled", host_config=config, dialect="eliza")
    assert {hook.name: hook.folder.source for hook in hooks} == dict.fromkeys(
        ("hook-0", "hook-1", "hook-2", "hook-3"), "workspace"
    )
    for lost, winner in (("workspace", "managed"), ("managed", "bundled"), ("bundled", "extra")):
        for path in folders[lost].iterdir():
            (path / "handler.py").unlink()
        hooks = discover_hooks(workspace, tmp_path / "bundled", host_config=config, dialect="eliza")
        assert {hook.folder.source for hook in hooks} == {winner}


async def test_an_extra_folder_outside_the_state_folder_is_refused(home: Path, make_hook: MakeHook) -> None:
    make_hook(home / ".eliza-evil", "evil", "{eliza: {events: [command]}}", WELCOME)
    config = settings(load={"extraDirs": ["~/.eliza-evil"]})
    assert discover_hooks(dialect="eliza", host_config=config) == ()


async def test_a_legacy_handler_runs_from_below_the_state_folder(home: Path) -> None:
    (home / ".eliza/hooks/my-handler").mkdir(parents=True)
    (home / ".eliza/hooks/my-handler/index.py").write_text(
        "def default(event): event.messages.append('legacy')\n"
    )
    (home / "elsewhere.py").write_text("def default(event): event.messages.append('stolen')\n")
    handlers = [
        {"event": "command:new", "module": "~/.eliza/hooks/my-handler/index.py", "export": "default"},
        {"event": "command:new", "module": "~/elsewhere.py"},
    ]
    report = await load_hooks(dialect="eliza", host_config=settings(handlers=handlers))
    assert report.registered == 1
    assert report.failed == ("~/elsewhere.py",)
    event = create_hook_event("command", "new")
    await trigger_hook(event)
    assert event.messages == ["legacy"]


async def test_a_linked_legacy_handler_does_not_lead_out(home: Path) -> None:
    (home / ".eliza").mkdir()
    (home / "elsewhere.py").write_text("def default(event): event.messages.append('stolen')\n")
    (home / ".eliza/inside.py").symlink_to(home / "elsewhere.py")
    handlers = [{"event": "command:new", "module": "~/.eliza/inside.py"}]
    report = await load_hooks(dialect="eliza", host_config=settings(handlers=handlers))
    assert report.failed == ("~/.eliza/inside.py",)


async def test_an_error_is_logged_under_the_key_that_matched_and_stops_nobody(
    home: Path, make_hook: MakeHook, caplog: pytest.LogCaptureFixture
) -> None:
    make_hook(home / ".eliza/hooks", "a-bad", "{eliza: {events: [command]}}", "def handler(event): 1 / 0")
    make_hook(home / ".eliza/hooks", "b-good", "{eliza: {events: [command]}}", WELCOME)
    await load_hooks(dialect="eliza", host_config={})
    caplog.set_level(logging.ERROR, "hookscope")
    run = await trigger_hook(create_hook_event("command", "new"))
    assert [result.status for result in run.results] == ["error", "ok"]
    assert run.messages == ("Welcome! A new session has started.",)
    assert caplog.messages == ['[hooks] Handler error for "command": division by zero']


async def test_settings_are_read_from_the_hosts_file(home: Path, make_hook: MakeHook) -> None:
    make_hook(home / ".eliza/hooks", "my-hook", "{eliza: {events: [command]}}", WELCOME)
    (home / ".eliza/eliza.json").write_text(
        "// comments are fine\n" + json.dumps(settings(entries={"my-hook": {"enabled": False}}))
    )
    report = await load_hooks(dialect="eliza")
    assert report.skipped == ("my-hook: disabled in config",)


async def test_a_second_load_forgets_what_code_registered(home: Path) -> None:
    await load_hooks(dialect="eliza", host_config={})
    register_hook("command", lambda event: None)
    await load_hooks(dialect="eliza", host_config={})
    assert registered_keys() == ()


def test_a_what_if_needs_no_rules_of_its_own(home: Path, make_hook: MakeHook) -> None:
    make_hook(home / ".eliza/hooks", "mac-only", "{eliza: {events: [session], os: [darwin]}}")
    here = replace(real_machine(), platform="darwin")
    (hook,) = discover_hooks(dialect="eliza", host_config={}, surroundings=here)
    assert check_eligibility(hook, {}, dialect="eliza", surroundings=here).eligible
    assert not check_eligibility(hook, {}, dialect="eliza", platform="linux").eligible
