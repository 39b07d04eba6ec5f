"""What people ask whose hook is listed as ready and never runs: one command names cause and next step."""

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Program
from tests.conftest import MakeHook

SHIPPED = ("--dialect", "openclaw@2026.9")


def said_of(name: str, text: str) -> str:
    """The line of `list` on a hook."""
    (line,) = (line for line in text.splitlines() if f" {name} " in line)
    return line


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (
            "message_received",
            "OpenClaw never sends message_received to a HOOK.md hook: only plugins receive it; "
            "did you mean message:received?",
        ),
        (
            "before_tool_call",
            "OpenClaw never sends before_tool_call to a HOOK.md hook: only plugins receive it",
        ),
        (
            "tool:before-run",
            "OpenClaw never sends tool:before-run: tool calls are not sent; "
            "a plugin receives it as before_tool_call or after_tool_call",
        ),
        (
            "PreToolUse",
            "OpenClaw never sends PreToolUse: it is a name of Claude Code; "
            "a plugin receives it as before_tool_call",
        ),
    ],
)
def test_trust_does_not_hide_that_an_event_is_never_sent(
    hookscope: Program, workspace: Path, make_hook: MakeHook, event: str, why: str
) -> None:
    make_hook(workspace / "hooks", "deaf", f'{{openclaw: {{events: ["{event}"]}}}}')
    ask = "`hookscope trust ./hooks` allows it to run"
    assert said_of("deaf", hookscope("list").out).endswith(f"{why} (and untrusted: {ask})")
    assert f"  deaf: {why} (and untrusted: {ask})" in hookscope("check").out.splitlines()
    info = hookscope("info", "deaf").out
    (came,) = (line for line in info.splitlines() if "an event has arrived" in line)
    assert came.startswith("  ✗")
    assert came.endswith(why), "and no fire is offered that would not reach it"
    hookscope("trust", "hooks")
    assert said_of("deaf", hookscope("list").out).endswith(why)


def test_list_does_not_suggest_an_unrelated_event(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "wish", '{openclaw: {events: ["session:begin", "session:over"]}}')
    hookscope("trust", "hooks")
    wish = said_of("wish", hookscope("list").out)
    assert "did you mean" not in wish
    assert " only " not in wish, "of a host that sends many events they are not listed"
    assert "did you mean" not in hookscope("info", "wish").out


def test_each_event_that_is_never_sent_has_its_own_reason(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "two", '{openclaw: {events: ["message_sending", "PreToolUse"]}}')
    hookscope("trust", "hooks")
    assert said_of("two", hookscope("list").out).endswith(
        "never sends message_sending to a HOOK.md hook: only plugins receive it; "
        "nor PreToolUse: it is a name of Claude Code; a plugin receives it as before_tool_call"
    )


@pytest.fixture
def plugin(home: Path) -> Path:
    """The entry file of a plugin that the settings switch on."""
    folder = home / ".openclaw/extensions/caller"
    folder.mkdir(parents=True)
    (folder / "openclaw.plugin.json").write_text('{"id": "caller", "configSchema": {"type": "object"}}')
    (folder / "package.json").write_text('{"type": "module", "openclaw": {"extensions": ["./index.js"]}}')
    settings = {"plugins": {"allow": ["caller"], "entries": {"caller": {"enabled": True}}}}
    (home / ".openclaw/openclaw.json").write_text(json.dumps(settings))
    return folder / "index.js"


PLUGIN = """export default {{ id: "caller", register(api) {{
  api.{call}("{event}", async () => {{}}, {{ name: "caller.one" }});
}} }};
"""


@pytest.mark.parametrize(
    ("call", "event", "why"),
    [
        ("registerHook", "before_tool_call", "to handlers of `registerHook`: register it with `on`"),
        ("on", "command:new", "to handlers of `on`: register it with `registerHook`"),
    ],
)
def test_a_plugin_that_registers_with_the_wrong_call_is_shown_the_right_one(
    hookscope: Program, plugin: Path, call: str, event: str, why: str
) -> None:
    plugin.write_text(PLUGIN.format(call=call, event=event))
    assert f"OpenClaw never sends {event} {why}" in said_of("caller", hookscope(*SHIPPED, "list").out)


LATE = """export default { id: "caller", register(api) {
  api.registerService({ id: "caller", start() { api.on("session_end", () => {}); } });
  api.on?.("session_start", () => {});
} };
"""
TWICE = """export default { id: "caller", register(api) {
  api.registerHook("session_start", () => {}, { name: "caller.one" });
  api.on?.("session_start", () => {});
} };
"""


def test_fire_explains_that_a_plugin_registers_in_a_service(hookscope: Program, plugin: Path) -> None:
    plugin.write_text(LATE)
    fired = hookscope(*SHIPPED, "fire", "session_end", "--trust").out
    why = "its code names session_end, but its `register` added no handler for it: a condition is not met"
    assert f"caller  not run: {why}" in fired
    assert "✓ caller" in hookscope(*SHIPPED, "fire", "session_start", "--trust").out


def test_a_plugin_that_registers_with_both_calls_is_called_once(hookscope: Program, plugin: Path) -> None:
    plugin.write_text(TWICE)
    assert "never sends" not in hookscope(*SHIPPED, "list").out
    assert "✓ caller" in hookscope(*SHIPPED, "fire", "session_start", "--trust").out


def test_list_reports_misplaced_events(hookscope: Program, home: Path) -> None:
    hook = home / ".openclaw/hooks/flat"
    hook.mkdir(parents=True)
    (home / ".openclaw/openclaw.json").write_text("{hooks: {internal: {enabled: true}}}")
    (hook / "HOOK.md").write_text('---\nname: flat\nevents: ["command:new"]\n---\n')
    (hook / "handler.py").write_text("def handler(event): ...\n")
    why = "`events` is at the top of the header; the host reads `metadata.openclaw.events`"
    assert said_of("flat", hookscope(*SHIPPED, "list").out).endswith(f"no events defined: {why}")
    info = hookscope(*SHIPPED, "info", "flat").out
    assert info.count(why) == 2, "in its first line and beside the check, and not once more as a note"
    assert "  `hookscope fix flat` shows how to fix it." in info.splitlines()


def test_an_entry_without_a_hook_names_the_searched_folders(hookscope: Program, tmp_path: Path) -> None:
    settings = tmp_path / "openclaw.json"
    entries = {"mine": {"handler": "./mine.ts", "events": ["command:new"]}, "gone": {"enabled": True}}
    entries |= {"compaction-notifier": {"enabled": True}}
    settings.write_text(json.dumps({"hooks": {"internal": {"enabled": True, "entries": entries}}}, indent=1))
    for command in ("list", "check"):
        lines = hookscope(*SHIPPED, "--config", str(settings), command).out.splitlines()
        at = lines.index("entries without a hook")
        mine, gone = lines[at + 1 :]  # and not the one that the program itself brings
        assert "mine  (openclaw.json:" in mine
        assert mine.endswith("handler and events in an entry define no hook; a folder with a HOOK.md does")
        assert gone.endswith("no such hook was found; correct its name, or remove it")
    for command in ("info", "fix", "enable"):
        done = hookscope(*SHIPPED, "--config", str(settings), command, "gone")
        assert done.code == 1
        assert "hooks.internal.entries.gone (openclaw.json:" in done.err, command
        assert "A hook is a folder with a HOOK.md and a handler, in " in done.err
        assert "./hooks" in done.err


def test_info_finds_a_hook_outside_the_hook_folders(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "skills/notes/hooks", "takes-notes", '{openclaw: {events: ["command:new"]}}')
    done = hookscope("info", "takes-notes")
    assert done.code == 1
    assert (
        "takes-notes is in ./skills/notes/hooks/takes-notes, which OpenClaw does not scan for hooks."
        in done.err
    )
    assert "Move it to a folder that is scanned: " in done.err
    assert "'takes-nothing'" in hookscope("info", "takes-nothing").err


def test_the_webhook_switch_is_distinguished_from_the_hook_switch(
    hookscope: Program, workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "mine", '{openclaw: {events: ["command:new"]}}')
    settings = tmp_path / "openclaw.json"
    settings.write_text('{"hooks": {"enabled": true, "token": "t"}}')
    none = "the settings configure no hooks, so none is loaded"
    asked = (*SHIPPED, "--config", str(settings))
    assert f"{none}; hooks.enabled is for webhooks" in hookscope(*asked, "info", "mine").out
    doctor = hookscope(*asked, "doctor").out
    assert "none of your own would run: " in doctor
    assert "`hookscope fix mine` shows how to fix it." in doctor
    settings.write_text("{}")
    assert "is for webhooks" not in hookscope(*asked, "list").out


def test_lint_omits_bundled_hooks(hookscope: Program, workspace: Path, make_hook: MakeHook) -> None:
    make_hook(workspace / "hooks", "mine", '{openclaw: {events: ["command:nwe"]}}')
    done = json.loads(hookscope(*SHIPPED, "lint", "--json").out)
    assert {finding["hook"] for finding in done["findings"]} == {"mine"}
    asked = json.loads(hookscope(*SHIPPED, "lint", "--json", "boot-md").out)
    assert {finding["hook"] for finding in asked["findings"]} == {"boot-md"}, "by its name it is linted"


PUSH = """def handler(event):
    event.context["bootstrapFiles"].append({item})
"""


@pytest.mark.parametrize(
    ("item", "note"),
    [
        (
            {"name": "RULES.md", "filePath": "x", "content": "y", "missing": False},
            "RULES.md in context.bootstrapFiles has no path; it has filePath instead: "
            "the file is omitted from the prompt",
        ),
        ({"name": "RULES.md", "path": "x", "content": "y", "missing": False}, ""),
    ],
)
def test_an_omitted_prompt_file_is_reported(
    hookscope: Program, home: Path, make_hook: MakeHook, item: dict[str, object], note: str
) -> None:
    (home / ".openclaw").mkdir()
    (home / ".openclaw/openclaw.json").write_text("{hooks: {internal: {enabled: true}}}")
    folder = make_hook(home / ".openclaw/hooks", "rules", '{openclaw: {events: ["agent:bootstrap"]}}')
    (folder / "handler.py").write_text(PUSH.format(item=item))
    fired = hookscope(*SHIPPED, "fire", "agent:bootstrap", "--only", "rules", "--trust", "--json")
    (result,) = json.loads(fired.out)["results"]
    assert [text for text in result["notes"] if "bootstrapFiles" in text] == ([note] if note else [])


def test_a_host_that_sends_one_event_names_it(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "mine", '{"milady": {"events": ["command:new"]}}')
    listed = hookscope("--dialect", "milady@2.0.0-alpha.76", "list").out
    assert "Milady never sends command:new; it sends only gateway:startup" in said_of("mine", listed)


def test_ignored_return_values_of_stream_modules_are_reported(hookscope: Program, workspace: Path) -> None:
    hooks = workspace / "agent/hooks"
    hooks.mkdir(parents=True)
    (hooks / "guard.py").write_text(
        "from hookscope import define_hook\n\n"
        'default = define_hook(events={"turn.started": lambda event, ctx: {"block": True}})\n'
    )
    fired = hookscope("--dialect", "eve", "fire", "turn.started", "--trust")
    assert "note: what it returned is ignored: a hook of a stream observes" in fired.out


def test_info_finds_a_hook_in_another_agents_workspace(
    hookscope: Program, tmp_path: Path, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(tmp_path / "work/hooks", "at-work", '{openclaw: {events: ["command:new"]}}')
    listed = [
        {"id": "main", "default": True, "workspace": str(workspace)},
        {"id": "work", "workspace": str(tmp_path / "work")},
    ]
    settings = tmp_path / "openclaw.json"
    settings.write_text(json.dumps({"agents": {"list": listed}}))
    asked = (*SHIPPED, "--config", str(settings))
    assert (
        "in the workspace of the agent work. `--agent work` looks there."
        in hookscope(*asked, "info", "at-work").err
    )
    assert "work has a workspace of its own" in hookscope(*asked, "doctor").out
    assert "at-work" in hookscope(*asked, "--agent", "work", "info", "at-work").out


def test_a_handler_in_a_subfolder_is_reported_with_the_right_place(
    hookscope: Program, workspace: Path
) -> None:
    built = workspace / "hooks/built/dist"
    built.mkdir(parents=True)
    (built / "handler.js").write_text("module.exports = () => {};")
    (built.parent / "HOOK.md").write_text(
        '---\nname: built\nmetadata: {openclaw: {events: ["command:new"]}}\n---\n'
    )
    assert "; it must be beside HOOK.md, not in dist/" in hookscope("list").out


GUARD = """def handler(event):
    if event.type != "{type}":
        return
    {then}
"""


@pytest.mark.parametrize(
    ("kind", "then", "is_told"),
    [
        ("command:new", "print(event.type)", True),
        ("command", "print(event.type)", False),
        ("command", "pass", False),
    ],
)
def test_a_run_without_visible_effect_is_explained(
    hookscope: Program, workspace: Path, make_hook: MakeHook, kind: str, then: str, is_told: bool
) -> None:
    source = GUARD.format(type=kind, then=then)
    make_hook(workspace / "hooks", "guarded", '{openclaw: {events: ["command:new"]}}', source)
    fired = hookscope("fire", "command:new", "--only", "guarded", "--trust")
    why = "note: guarded ran without visible effect: handler.py:2: The event's type is never `command:new`"
    assert (why in fired.err) is is_told
    assert ("ran without visible effect" in fired.err) is is_told


def test_a_broken_hook_names_the_hook_that_it_overrides(
    hookscope: Program, home: Path, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "guard", '{openclaw: {events: ["command:new"]}}')
    empty = home / ".openclaw/hooks/guard"
    empty.mkdir(parents=True)
    (empty / "HOOK.md").write_text("---\nname: guard\n---\n")
    (empty / "handler.js").write_text("module.exports = () => {};")
    info = hookscope(*SHIPPED, "info", "guard").out
    mine = workspace / "hooks/guard"
    assert f"note: it shadows the workspace copy in {mine} but never runs: rename or remove it" in info
    make_hook(empty.parent, "guard", '{"openclaw": {"events": ["command:new"]}}', file="more.py")
    assert "it shadows" not in hookscope(*SHIPPED, "info", "guard").out


def test_a_plugin_subscribed_to_a_folder_event_is_shown_the_plugin_event(
    hookscope: Program, workspace: Path
) -> None:
    entry = workspace / "plugins" / "watch" / "plugin.py"
    entry.parent.mkdir(parents=True)
    entry.write_text("def register(api):\n    api.on('message:received', print)\n")
    hookscope("trust", "plugins")
    said = said_of("watch", hookscope("list").out)
    assert said.endswith("never sends message:received; did you mean message_received?")


def test_replacements_of_plugin_events_are_not_suggested_to_folder_hooks(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "old", '{openclaw: {events: ["before_agent_start"]}}')
    for dialect in ((), SHIPPED):
        said = hookscope(*dialect, "info", "old").out
        assert "never sends before_agent_start" in said
        assert "did you mean before_prompt_build" not in said


@pytest.mark.parametrize(
    ("settings", "then"),
    [
        ({"hooks": {"internal": {"handlers": []}}}, "write each of these handlers as a folder with a"),
        ({"hooks": {"internal": {"entry": {}}}}, 'write "entries" for "entry"'),
        ({"hooks": {"internal": {"load": {"zzz": 1}}}}, 'take "zzz" out'),
        ({"gatway": {}, "zzz": 1}, 'write "gateway" for "gatway" and take "zzz" out'),
        ({"env": {"TOKEN": "x"}}, "variables belong in env.vars"),
    ],
)
def test_refused_settings_are_reported_with_the_correction(
    hookscope: Program, home: Path, settings: dict[str, object], then: str
) -> None:
    file = home / ".openclaw/openclaw.json"
    file.parent.mkdir()
    file.write_text(json.dumps(settings))
    for command in (["list"], ["fix", "boot-md"], ["doctor"]):
        assert f"the host refuses its settings; {then}" in hookscope(*SHIPPED, *command).out


@pytest.mark.parametrize("command", ["events", "plan"])
def test_an_event_of_older_versions_names_its_replacement(hookscope: Program, command: str) -> None:
    done = hookscope(*SHIPPED, command, "before_agent_start")
    assert (done.code, "before_prompt_build replaces it" in done.err) == (1, True)


def test_a_settings_variable_that_refers_to_itself_must_be_set_elsewhere(
    hookscope: Program, home: Path
) -> None:
    file = home / ".openclaw/openclaw.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"env": {"vars": {"MY_TOKEN": "${MY_TOKEN}"}}}))
    told = "env.vars.MY_TOKEN uses ${MY_TOKEN}, which is not set"
    assert told in hookscope(*SHIPPED, "list").out
    assert told not in hookscope(*SHIPPED, "list", env={"MY_TOKEN": "x"}).out
