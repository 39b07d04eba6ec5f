"""What people run into who have never seen Hookscope: each answer names the thing and the next step."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from tests.cli.conftest import Program
from tests.conftest import MakeHook

from hookscope.cli.fire_arguments import ask_yes_or_no
from hookscope.cli.main import exit_code, root_command

NEW = '{openclaw: {events: ["command:new"]}}'
EVE = 'from hookscope import define_hook\n\ndefault = define_hook(events={"turn.started": print})\n'


def test_list_names_events_of_a_ready_hook_that_are_never_sent(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(
        workspace / "hooks", "mixed", '{openclaw: {events: ["command:new", "message:bogus", "session:x"]}}'
    )
    make_hook(workspace / "hooks", "later", '{openclaw: {events: ["command:new", "message:preprocessed"]}}')
    make_hook(workspace / "hooks", "other", '{openclaw: {events: ["command:new", "message_received"]}}')
    hookscope("trust", "hooks")
    said = {line.split()[2]: line for line in hookscope("list").out.splitlines() if "● ready" in line}
    assert said["mixed"].endswith("message:bogus is not an event of OpenClaw (and 1 more like it)")
    assert said["other"].endswith(
        "message_received is a plugin hook's name; HOOK.md folders never receive it"
    )
    assert said["later"].endswith("message:preproce…")
    assert "  mixed: message:bogus is not an event of OpenClaw (and 1 more like it)" in hookscope("check").out


def test_every_command_reports_a_misspelt_event_of_a_ready_hook(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "slips", '{openclaw: {events: ["command:nwe"]}}')
    make_hook(workspace / "hooks", "own", '{openclaw: {events: ["command:compact"]}}')
    hookscope("trust", "hooks")
    (slips,) = (line for line in hookscope("list").out.splitlines() if "slips" in line)
    assert slips.endswith("OpenClaw has no event command:nwe; did you mean command:new?")
    (own,) = (line for line in hookscope("list").out.splitlines() if " own " in line)
    assert own.endswith("command:compact")
    assert "  slips: OpenClaw has no event command:nwe; did you mean command:new?" in hookscope("check").out
    assert "has no event command:nwe, perhaps a typo for command:new" in hookscope("info", "slips").out
    fixed = hookscope("fix", "slips")
    assert "slips is ready: no check stops it." in fixed.out
    assert "by hand: ./hooks/slips/HOOK.md:4  OpenClaw does not document `command:nwe`" in fixed.out
    assert "Write `command:new`." in fixed.out


def test_an_event_of_another_host_suggests_its_dialect(hookscope: Program) -> None:
    for command in ("fire", "plan", "events"):
        done = hookscope(command, "turn.started")
        said = "'turn.started' is not an event of OpenClaw, but of Eve. `--dialect eve` uses its rules."
        assert (done.code, done.err) == (1, f"hookscope: {said}\n"), command
    assert hookscope("fire", "nothing-of-the-kind").err.endswith("`hookscope events` lists all events.\n")


def test_the_host_format_requires_a_host_version(hookscope: Program) -> None:
    done = hookscope("list", "--format", "host")
    assert (done.code, done.err.endswith("`--dialect openclaw@2026.9` has it.\n")) == (2, True)


def test_undo_names_the_files_that_it_restores(hookscope: Program, workspace: Path) -> None:
    hookscope("new", "greet")
    said = hookscope("undo", "--dry-run").out.splitlines()
    assert said[-1] == "Would be undone: new hook greet."
    assert "./hooks/greet/handler.py" in said, "which file, and not only its name"
    assert hookscope("undo").out.splitlines()[-1] == "Undone: new hook greet."
    assert not list(workspace.glob("hooks/*"))


@pytest.mark.parametrize("command", [("disable", "greet"), ("enable", "greet"), ("new", "other")])
def test_edit_without_undo_is_refused(
    hookscope: Program,
    workspace: Path,
    home: Path,
    tmp_path: Path,
    make_hook: MakeHook,
    command: tuple[str, str],
) -> None:
    make_hook(workspace / "hooks", "greet", NEW)
    settings = home / ".openclaw/openclaw.json"
    settings.parent.mkdir()
    entry = '{"hooks": {"internal": {"entries": {"greet": {"enabled": %s}}}}}'
    settings.write_text(entry % ("false" if command[0] == "enable" else "true"))
    before = settings.read_bytes()
    (tmp_path / "state").mkdir()
    (tmp_path / "state/undo").write_text("a file where a folder should be")
    done = hookscope(*command)
    assert (done.code, "Cannot record the change" in done.err) == (1, True), done
    assert settings.read_bytes() == before
    assert [path.name for path in workspace.glob("hooks/*")] == ["greet"]


def test_an_impossible_state_folder_is_named(hookscope: Program, workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    env = {"HOOKSCOPE_STATE_DIR": str(tmp_path / "file/state")}
    done = hookscope("new", "greet", env=env)
    assert (done.code, done.out) == (1, "")
    assert "file/state/undo: not a directory. Set HOOKSCOPE_STATE_DIR to a folder" in done.err
    assert not list(workspace.glob("hooks/*"))
    trusted = hookscope("trust", "hooks", env=env)
    assert "[Errno" not in trusted.err
    findings = {one["name"]: one["well"] for one in hookscope("doctor", "--json", env=env).json["findings"]}
    assert (findings["state"], findings["workspace"]) == (False, True)


def test_fire_fails_if_stream_events_cannot_be_recorded(
    hookscope: Program, workspace: Path, tmp_path: Path
) -> None:
    (workspace / "agent/hooks").mkdir(parents=True)
    (workspace / "agent/hooks/audit.py").write_text(EVE)
    (tmp_path / "state/journal.db").mkdir(parents=True)
    done = hookscope("--dialect", "eve", "fire", "turn.started", "--trust")
    assert "not run: the event could not be recorded" in done.out
    assert done.code == 1


def test_an_unreadable_manifest_is_not_called_empty(hookscope: Program, workspace: Path) -> None:
    (workspace / "hooks/odd/HOOK.md").mkdir(parents=True)
    (workspace / "hooks/odd/handler.py").write_text("def handler(event): pass\n")
    found = hookscope("lint", "--json").json["findings"]
    assert [(one["rule"], one["text"]) for one in found] == [("header-broken", "HOOK.md cannot be read.")]


def test_a_name_that_looks_like_an_option_is_accepted_after_two_dashes(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "-dash", NEW)
    assert hookscope("info", "-dash").err.endswith("Put `--` before a name that begins with -.\n")
    assert hookscope("info", "--", "-dash").code == 0


def test_example_of_export_gives_lines_of_json(hookscope: Program, workspace: Path) -> None:
    (workspace / "hooks/bad").mkdir()
    hookscope("fire", "command:new", "--break", "command-logger=exception")
    done = hookscope("export", "--failed", "--jsonl", "failed.jsonl")
    assert (done.code, done.out) == (0, "Wrote 1 run to failed.jsonl.\n")


def test_fire_works_with_closed_standard_input(workspace: Path, make_hook: MakeHook) -> None:
    make_hook(workspace / "hooks", "greet", NEW, "def handler(event): event.messages.append('hello')\n")
    line = f"{sys.executable} -m hookscope fire command:new --only greet --trust <&-"
    done = subprocess.run(["sh", "-c", line], cwd=workspace, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr, "hello" in done.stdout) == (0, "", True)


def test_ctrl_c_at_a_question_stops_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(click, "confirm", lambda *_, **__: signal.raise_signal(signal.SIGINT))
    answered = []

    async def asked() -> None:
        answered.append(ask_yes_or_no("Trust them?"))

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(asked())
    assert answered == []


def test_a_wrapped_ctrl_c_is_not_reported_as_a_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Python 3.11 wraps what `__set_name__` meets, as while the program loads."""

    def wraps(*_: object, **__: object) -> None:
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    monkeypatch.setattr(root_command, "main", wraps)
    assert exit_code(["list"]) == 1
    assert capsys.readouterr().err == "hookscope: stopped.\n"


def test_commands_in_a_deleted_folder_write_nothing_elsewhere(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    for command in ("new greet", "list"):
        line = f"rmdir ../here; {sys.executable} -m hookscope --home {tmp_path} {command}"
        done = subprocess.run(["sh", "-c", line], cwd=here, capture_output=True, text=True, check=False)
        said = "hookscope: The current folder was removed. `cd` to an existing folder, "
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.endswith(f"{said}or use --workspace DIR.\n"), done.stderr
        here.mkdir()


def test_trust_names_the_target_of_a_link(
    hookscope: Program, workspace: Path, make_hook: MakeHook, tmp_path: Path
) -> None:
    make_hook(workspace / "hooks", "own", NEW)
    make_hook(tmp_path / "else where", "lent", NEW)
    (workspace / "hooks/lent").symlink_to(tmp_path / "else where/lent")
    said = hookscope("trust", "hooks").out.splitlines()
    assert said[0] == "Handlers in ./hooks may run now, in all folders below it too: 1 handler so far."
    assert said[1].startswith("Not yet trusted: ./hooks/lent links to ")
    assert "else where/lent; `hookscope trust " in said[1]
    waiting = hookscope("trust", "hooks", "--json").json["waiting"]
    assert waiting == [{"path": str(workspace / "hooks/lent"), "trust": str(tmp_path / "else where/lent")}]
    hookscope("trust", waiting[0]["trust"])
    again = hookscope("trust", "hooks").out
    assert again == "Handlers in ./hooks may run now, in all folders below it too.\n"
    assert hookscope("fire", "command:new").code == 0


def test_an_unknown_name_of_a_folder_suggests_the_name_in_its_header(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", NEW).rename(workspace / "hooks/greeting")
    said = "The hook in the folder greeting is named greet in its HOOK.md."
    for command in (("info", "greeting"), ("fire", "command:new", "--only", "greeting")):
        assert hookscope(*command).err == f"hookscope: No hook is named 'greeting'. {said}\n"


@pytest.mark.parametrize(
    ("line", "error", "note"),
    [
        (
            "import no_such_thing",
            "ModuleNotFoundError: No module named 'no_such_thing'",
            "no_such_thing is nei",
        ),
        ("event.sessionKey", "AttributeError: an event has no `sessionKey`; it has type,", "session_key,"),
        ("event['type']", "TypeError: an event has members, no items: type, action,", "write `event.type`"),
    ],
)
def test_beginner_error_suggests_the_correction(
    hookscope: Program, workspace: Path, make_hook: MakeHook, line: str, error: str, note: str
) -> None:
    make_hook(workspace / "hooks", "first", NEW, f"def handler(event):\n    {line}\n")
    said = hookscope("fire", "command:new", "--trust").out
    at = [text for text in said.splitlines() if "handler.py:" in text or "event.py" in text]
    assert (error in said, note in said) == (True, True), said
    assert [text.partition("handler.py:")[2] for text in at] == ["2:5 in handler"], "and no line of ours"


def test_a_ready_hook_that_does_not_load_shows_the_load_error(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "first", NEW, "import no_such_thing\n\n\ndef handler(event): ...\n")
    hookscope("trust", "hooks")
    said = hookscope("fire", "command:new").out
    assert "It failed to load, so it never ran." in said
    assert "      ./hooks/first/handler.py:1:1 in <module>" in said.splitlines(), (
        "as the list names its folder"
    )
    assert f"installed for {sys.prefix}" in said or f"installed for {sys.executable}" in said
    head = hookscope("info", "first").out.splitlines()[0]
    assert "✗ broken  first  – its checks pass, but it does not load: ModuleNotFoundError" in head


def test_fire_shows_changes_and_whole_messages(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    changing = "def handler(event):\n    event.context['a/b'] = {'c': 1}\n    del event.context['senderId']\n"
    make_hook(workspace / "hooks", "first", NEW, changing)
    lines = "def handler(event):\n    raise ValueError('what is wrong\\n\\nand what to do')\n"
    make_hook(workspace / "hooks", "second", NEW, lines)
    said = hookscope("fire", "command:new", "--trust").out.splitlines()
    assert {'      changed context.a/b = {"c": 1}', "      changed context.senderId: removed"} <= set(said)
    at = said.index("      ValueError: what is wrong")
    assert said[at + 1] == "          and what to do"


@pytest.mark.parametrize("dialect", ["openclaw", "openclaw@2026.9", "milady"])
def test_misplaced_and_misspelt_files_are_reported(
    hookscope: Program, workspace: Path, make_hook: MakeHook, dialect: str
) -> None:
    folder = make_hook(workspace / "hooks", "greet", NEW)
    (folder / "handler.py").rename(folder / "Handler.py")
    (workspace / "hooks/HOOK.md").write_bytes((folder / "HOOK.md").read_bytes())
    (workspace / "hooks/handler.ts").write_text("export default () => {};")
    make_hook(workspace / "hooks/hooks", "inner", NEW)
    make_hook(workspace / "hooks/hooks", "other", NEW)
    make_hook(workspace / "hooks/lib/deep", "deeper", NEW)
    make_hook(workspace / "hooks/lib/node_modules", "brought", NEW)
    (workspace / "hooks/lib/.kept").mkdir()
    said = hookscope("--dialect", dialect, "list", "--json").json["rejected"]
    reasons = {Path(one["path"]).name: one["reason"] for one in said}
    told = "HOOK.md is in hooks itself; a hook needs a folder of its own, such as hooks/NAME"
    assert reasons["HOOK.md"] == told
    assert reasons["greet"].endswith("; Handler.py is not one of them")
    assert "handler.ts" not in reasons, "once is enough"
    lie = "are too deep: a hook must be a folder directly in hooks, such as hooks/inner"
    assert reasons["hooks"] == f"inner/HOOK.md and 1 more {lie}"
    lies = "is too deep: a hook must be a folder directly in hooks, such as hooks/deeper"
    assert reasons["lib"] == f"deep/deeper/HOOK.md {lies}"


def test_a_failing_test_says_if_its_hook_is_off(hookscope: Program) -> None:
    hookscope("new", "greet")
    hookscope("disable", "greet")
    said = hookscope("test")
    assert said.code == 1
    assert said.out.splitlines()[1] == "    greet did not run: off: disabled in config"
    hookscope("enable", "greet")
    assert hookscope("test").code == 0


def test_fire_with_a_hook_name_suggests_the_command(hookscope: Program, workspace: Path) -> None:
    hookscope("new", "greet", "--event", "message:received")
    hookscope("fire", "command:new", "--save", "hello")
    at = "`hookscope fire message:received --only greet` fires an event at it."
    saved = "`hookscope fire ./.hookscope/events/{}.yaml` fires it."
    said = "'{}' is not an event of OpenClaw. {}"
    for command in ("fire", "plan"):
        both = said.format("greet", f"It is a hook: {at} It is a saved event, too: {saved.format('greet')}")
        assert both in hookscope(command, "greet").err
        assert said.format("hello", f"It is a saved event: {saved.format('hello')}") in (
            hookscope(command, "hello").err
        )
    file = ".hookscope/events/hello.yaml"
    assert said.format(file, f"It is a saved event: {saved.format('hello')}") in hookscope("plan", file).err
    done = hookscope("fire", "helo.yaml")
    assert (done.code, done.err) == (2, f"hookscope: There is no file helo.yaml. Did you mean {file}?\n")
    assert "is not an event of OpenClaw. Did you mean command:new?" in hookscope("fire", "comand:new").err


def test_fuzz_with_a_module_name_suggests_the_command(hookscope: Program, workspace: Path) -> None:
    hookscope("--dialect", "eve", "new", "audit", "--event", "turn.completed")
    done = hookscope("--dialect", "eve", "fuzz", "audit")
    assert "It is a hook: `hookscope fire turn.completed --only audit` fires an event at it." in done.err


def test_ignored_effects_are_noted_in_the_result(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    hooks = workspace / "hooks"
    make_hook(hooks, "a-returns", NEW, "def handler(event):\n    return 'hello'\n")
    make_hook(hooks, "b-yields", NEW, "def handler(event):\n    yield 'hello'\n")
    make_hook(hooks, "c-puts", NEW, "def handler(event):\n    event.messages = 'hello'\n")
    moment = "from datetime import datetime\ndef handler(event):\n    return {'at': datetime.now()}\n"
    make_hook(hooks, "d-moment", NEW, moment)
    make_hook(hooks, "c-puts-none", NEW, "def handler(event):\n    event.messages = None\n")
    make_hook(hooks, "e-well", NEW, "def handler(event):\n    return None\n")
    fired = hookscope("fire", "command:new", "--json", "--trust").json["results"]
    notes = {one["hook"]: " ".join(one["notes"]) for one in fired}
    assert "what it returned is ignored" in notes["a-returns"]
    assert notes["d-moment"] == notes["a-returns"], "how it was written down matters to nobody"
    yields = next(one for one in fired if one["hook"] == "b-yields")
    assert (yields["status"], "`yield`" in yields["error"]["message"]) == ("error", True)
    assert "it put a text in place of the list `event.messages`" in notes["c-puts"]
    assert "it put another value in place of the list" in notes["c-puts-none"]
    assert {one["status"] for one in fired if one is not yields} == {"ok"}
    assert notes["e-well"] == ""


def test_fire_at_one_hook_reports_only_that_hook(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    for number in range(4):
        make_hook(workspace / "hooks", f"other-{number}", NEW)
    make_hook(workspace / "hooks", "broken", NEW, "def handler(event)\n")
    make_hook(workspace / "hooks", "near", '{openclaw: {events: ["command:nwe"]}}')
    (workspace / "hooks/loose/deep").mkdir(parents=True)
    (workspace / "hooks/loose/deep/HOOK.md").write_text("")
    make_hook(workspace / "hooks", "mine", NEW)
    hookscope("trust", "hooks")
    done = hookscope("fire", "command:new", "--only", "mine")
    assert (done.code, done.err) == (0, "")
    assert [line for line in done.out.splitlines() if line.startswith("  – ")] == [
        "  –  7 others skipped: only mine was requested",
        "  –  3 other hooks subscribe to other events",
    ]
    done = hookscope("fire", "command:new", "--only", "broken")
    assert (done.code, "broken did not run: broken: handler.py, line 1" in done.err) == (1, True)


def test_a_missing_file_beside_the_handler_is_explained_by_the_working_folder(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    code = "def handler(event):\n    event.messages.append(open('note.txt').read())\n"
    (make_hook(workspace / "hooks", "reads", NEW, code) / "note.txt").write_text("hi")
    make_hook(workspace / "hooks", "wants", NEW, code.replace("note", "other"))
    fired = hookscope("fire", "command:new", "--json", "--trust").json["results"]
    notes = {one["hook"]: one["notes"] for one in fired}
    (said,) = notes["reads"]
    assert said.startswith("note.txt is beside handler.py, but was searched in ")
    assert said.endswith("; use `Path(__file__).parent / 'note.txt'`")
    assert notes["wants"] == []


def test_wrong_file_type_and_encoding_of_a_handler_are_reported(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    hooks = workspace / "hooks"
    text = "def handler(event):\n    event.messages.append('café')\n"
    (make_hook(hooks, "wide", NEW) / "handler.py").write_bytes(text.encode("utf-16"))
    (make_hook(hooks, "latin", NEW) / "handler.py").write_bytes(text.encode("latin-1"))
    for name in ("folder", "link"):
        (make_hook(hooks, name, NEW) / "handler.py").unlink()
    (hooks / "folder/handler.py").mkdir()
    (hooks / "link/handler.py").symlink_to("nowhere.py")
    listed = hookscope("list").out
    assert "handler.py, line 1, column 1: it is UTF-16 text; save it as UTF-8" in listed
    (latin,) = (line for line in listed.splitlines() if " latin " in line)
    assert latin.endswith("; save it as UTF-8")
    assert "folder: HOOK.md but no handler: handler.py is a folder; looked for" in listed
    assert "link: HOOK.md but no handler: handler.py is a broken link; looked for" in listed


def test_plugins_with_misspelt_events_or_answers_are_reported(hookscope: Program, workspace: Path) -> None:
    answers = (
        "def guard(event, ctx):\n    return {answer}\n\n\ndef register(api):\n    api.on('{event}', guard)\n"
    )
    for name, event, answer in (
        ("slips", "before_tool_cal", "None"),
        ("shouts", "before_tool_call", "{'Block': True}"),
        ("blocks", "before_tool_call", "{'block': True, 'blockReason': 'no'}"),
    ):
        (workspace / "plugins" / name).mkdir(parents=True)
        file = workspace / "plugins" / name / "plugin.py"
        file.write_text(answers.replace("{answer}", answer).replace("{event}", event))
    hookscope("trust", "plugins")
    (slips,) = (line for line in hookscope("list").out.splitlines() if " slips " in line)
    assert slips.endswith("OpenClaw never sends before_tool_cal; did you mean before_tool_call?")
    said = hookscope("fire", "before_tool_call", "--only", "shouts").out.splitlines()
    vain = said[said.index('      answered {"Block": true}') + 1]
    assert vain == "      → changes nothing; before_tool_call has `block`, not `Block`"
    assert "changes nothing" not in hookscope("fire", "before_tool_call", "--only", "blocks").out


@pytest.mark.parametrize(
    ("event", "answer", "told"),
    [
        ("message_sending", "{'block': True}", "; message_sending has `cancel`, not `block`"),
        ("before_tool_call", "{'deny': True}", "; before_tool_call has `block`, not `deny`"),
        ("before_tool_call", "{'verdict': 'no'}", ""),
        ("before_tool_call", "{'block': False}", ""),
    ],
)
def test_an_answer_with_fields_of_another_event_names_the_right_fields(
    hookscope: Program, workspace: Path, event: str, answer: str, told: str
) -> None:
    (workspace / "plugins/guard").mkdir(parents=True)
    guard = f"def guard(event, ctx):\n    return {answer}\n\n\n"
    register = f"def register(api):\n    api.on('{event}', guard)\n"
    (workspace / "plugins/guard/plugin.py").write_text(guard + register)
    said = hookscope("--dialect", "openclaw", "fire", event, "--trust").out.splitlines()
    assert f"      → changes nothing{told}" in said


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ('export default function register(api) { api.on("message_received", () => {}); }', 1),
        ("export default { name: 'a plugin of a bundler' };", 0),
    ],
)
def test_the_typescript_plugin_of_the_manual_alone_is_a_workspace(
    hookscope: Program, tmp_path: Path, bundled: Path, source: str, count: int
) -> None:
    script = tmp_path / "mine" / "plugins" / "audit" / "index.ts"
    script.parent.mkdir(parents=True)
    script.write_text(source)
    done = hookscope("list", "--json", "--bundled", str(bundled), cwd=tmp_path / "mine")
    assert [row["name"] for row in done.json["hooks"]] == ["audit"] * count


def test_a_path_or_an_event_instead_of_a_name_leads_to_the_hook(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", NEW)
    make_hook(workspace / "hooks", "torn", "[").joinpath("HOOK.md").write_text("---\n\tname: torn\n---\n")
    for path in ("hooks/greet", "./hooks/greet/", str(workspace / "hooks/greet/handler.py")):
        for words in (("info", path), ("why", path), ("fire", "command:new", "--only", path)):
            assert hookscope(*words).err.endswith("Did you mean greet?\n"), words
    assert "hooks/torn is not a hook: HOOK.md, line 2" in hookscope("info", "hooks/torn/HOOK.md").err
    assert "It is an event: `hookscope plan command:new`" in hookscope("why", "command:new").err
    assert hookscope("fire", "new").err.endswith("Did you mean command:new?\n")


def test_an_unknown_hook_in_another_folder_names_the_workspace(
    hookscope: Program, home: Path, workspace: Path
) -> None:
    here = "`hookscope list` shows all 4 hooks."
    assert hookscope("info", "quux").err.endswith(f"{here}\n")
    (home / "other").mkdir()
    done = hookscope("--workspace", "../home/other", "info", "quux")
    assert done.err.endswith(f"{here} The workspace is ~/other; `--workspace DIR` names another.\n")


def test_a_folder_that_is_no_hook_leads_to_what_to_write(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "torn", NEW).joinpath("HOOK.md").write_text("name: torn\n")
    assert "→ hookscope fix torn" in hookscope("why", "torn").out
    assert "`hookscope lint torn` shows what to write." in hookscope("fix", "torn").out
    assert "Begin it with a line `---`, name and metadata" in hookscope("lint", "torn").out


def test_a_value_for_a_ready_hook_is_refused_with_the_reason(hookscope: Program) -> None:
    done = hookscope("fix", "boot-md", "--value", "A=b")
    assert (done.code, done.err.endswith("boot-md needs no value.\n")) == (2, True)
