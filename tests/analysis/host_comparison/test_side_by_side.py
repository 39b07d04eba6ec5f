"""The same folders under several hosts: who calls what, what differs, what to change."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.analysis.host_comparison.conftest import PROGRAMS, Compare, differs, for_all, line_of
from tests.conftest import MakeHook

from hookscope.analysis.host_alignment import align_hosts
from hookscope.analysis.several_hosts import compare_hosts
from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.hosts.dialects import dialect_named

OWN = '{"openclaw": {"events": ["command:new"]}}'
BLOCK = """
  openclaw:
    events: ["command:new"]
"""


def write_block(hooks: Path, name: str, metadata: str, file: str) -> Path:
    """A hook whose metadata is YAML of several lines."""
    folder = hooks / name
    folder.mkdir(parents=True)
    (folder / "HOOK.md").write_text(f"---\nname: {name}\ndescription: d\nmetadata:{metadata}---\n")
    (folder / file).write_text("export default () => {}\n")
    return folder


def test_a_hook_for_all_of_them_is_alike(workspace: Path, compare: Compare, make_hook: MakeHook) -> None:
    make_hook(workspace / "hooks", "all", for_all('"command:new"'), file="handler.ts")
    found = compare()
    (line,) = found.lines
    assert (line.differs, line.suggestions, line.called_everywhere) == ((), (), True)
    assert (found.alike, found.differing) == (1, ())


def test_what_three_programs_make_of_the_hooks_of_one(
    home: Path, workspace: Path, compare: Compare, make_hook: MakeHook
) -> None:
    """Handlers that only one looks for, metadata that only one reads, a namespace that only one has."""
    hooks = workspace / "hooks"
    for number in range(3):
        write_block(hooks, f"yaml-{number}", BLOCK, "handler.ts")
    for number in range(2):
        own = '{"openclaw": {"events": ["command:new"]}}'
        make_hook(hooks, f"json-{number}", own, file="handler.ts")
    for number in range(4):
        write_block(hooks, f"script-{number}", BLOCK, "handler.js")
    write_block(hooks, "module", BLOCK, "handler.mjs")
    entries = {folder.name: {"enabled": True} for folder in hooks.iterdir()}
    (home / ".openclaw").mkdir()
    settings = {"hooks": {"internal": {"enabled": True, "entries": entries}}}
    (home / ".openclaw/openclaw.json").write_text(json.dumps(settings))
    tallies = compare(*PROGRAMS).tallies()
    one, two, three = (tallies[name] for name in PROGRAMS)
    assert [tally.found for tally in (one, two, three)] == [9, 5, 6]
    assert [tally.metadata for tally in (one, two, three)] == [9, 0, 0]
    assert [tally.called for tally in (one, two, three)] == [9, 0, 0]


def test_a_name_of_the_handler_that_one_host_does_not_know(
    workspace: Path, compare: Compare, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "script", for_all('"command:new"'), file="handler.js")
    line = line_of(compare(), "script")
    assert [cell.state for cell in line.cells] == ["ready", "no hook", "no hook"]
    assert set(differs(line)) == {"found"}
    assert line.suggestions == ("rename handler.js to handler.ts: all hosts load that name (Milady, Eliza)",)
    (workspace / "hooks/script/handler.js").rename(workspace / "hooks/script/handler.ts")
    assert line_of(compare(), "script").called_everywhere


def test_metadata_under_the_name_of_one_host(workspace: Path, compare: Compare, make_hook: MakeHook) -> None:
    folder = make_hook(
        workspace / "hooks", "one", '{"openclaw": {"events": ["command:new"]}}', file="handler.ts"
    )
    line = line_of(compare(), "one")
    assert [cell.metadata for cell in line.cells] == ["read", "elsewhere", "elsewhere"]
    assert line.suggestions == ("add `milady` and `eliza` beside `openclaw` under `metadata`",)
    assert "metadata" in differs(line)
    text = (folder / "HOOK.md").read_text()
    own = '{"events": ["command:new"]}'
    (folder / "HOOK.md").write_text(
        text.replace('{"openclaw"', f'{{"milady": {own}, "eliza": {own}, "openclaw"')
    )
    assert line_of(compare(), "one").called_everywhere


def test_a_spelling_that_programs_do_not_read(workspace: Path, compare: Compare) -> None:
    metadata = "\n" + "".join(
        f'  {name}: {{events: ["gateway:startup"]}}\n' for name in ("openclaw", "milady", "eliza")
    )
    write_block(workspace / "hooks", "yaml", metadata, "handler.ts")
    assert line_of(compare(), "yaml").called_everywhere
    line = line_of(compare("milady", "milady@2.0.0-alpha.76"), "yaml")
    assert [cell.metadata for cell in line.cells] == ["read", "unread"]
    assert differs(line)["metadata"].startswith("Milady 2.0.0-alpha.76: the metadata is not read")
    (change,) = line.suggestions
    assert change.startswith("write `metadata` as JSON that starts on the same line")


def test_both_the_name_and_the_spelling(workspace: Path, compare: Compare) -> None:
    write_block(workspace / "hooks", "block", BLOCK, "handler.ts")
    line = line_of(compare("openclaw", "eliza@2.0.0-beta.2"), "block")
    assert line.suggestions[0] == "add `eliza` beside `openclaw` under `metadata`"
    assert line.suggestions[1].startswith("write `metadata` as JSON")


def test_events_that_a_host_never_sends_or_does_not_know(
    workspace: Path, compare: Compare, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "new", for_all('"command:new"'), file="handler.ts")
    make_hook(workspace / "hooks", "session", for_all('"session:end"'), file="handler.ts")
    line = line_of(compare("milady", "milady@2.0.0-alpha.76"), "new")
    assert [cell.state for cell in line.cells] == ["ready", "silent"]
    assert [cell.events[0].delivery for cell in line.cells] == ["sent", "never"]
    assert differs(line)["events"] == "Milady 2.0.0-alpha.76: command:new is never sent"
    assert "also subscribe to gateway or gateway:startup" in line.suggestions[0]
    assert line_of(compare("milady", "openclaw"), "session").cells[1].events[0].delivery == "unknown"


def test_another_copy_wins(home: Path, workspace: Path, compare: Compare, make_hook: MakeHook) -> None:
    make_hook(workspace / "hooks", "same", for_all('"command:new"'), file="handler.ts")
    make_hook(home / ".openclaw/hooks", "same", for_all('"command:new"'), file="handler.ts")
    line = line_of(compare("openclaw", "openclaw@2026.9"), "same")
    assert [cell.source for cell in line.cells] == ["workspace", "managed"]
    assert "the managed copy in" in differs(line)["winner"]


def test_the_order_is_reversed(workspace: Path, compare: Compare, make_hook: MakeHook) -> None:
    """One host calls those of `command` first, the others those of `command:new`."""
    make_hook(workspace / "hooks", "exact", for_all('"command:new"'), file="handler.ts")
    make_hook(workspace / "hooks", "family", for_all('"command"'), file="handler.ts")
    found = compare()
    told = differs(line_of(found, "exact"))["order"]
    assert told == "on command:new OpenClaw calls it after family; Milady, Eliza: before it"
    assert line_of(found, "family").differs
    assert compare("milady", "eliza").differing == ()


def test_messages_that_nobody_reads_matter_to_those_who_push_some(
    workspace: Path, compare: Compare, make_hook: MakeHook
) -> None:
    loud = "export default (event) => { event.messages.push('x') }\n"
    make_hook(workspace / "hooks", "loud", for_all('"gateway:startup"'), loud, file="handler.ts")
    make_hook(workspace / "hooks", "quiet", for_all('"gateway:startup"'), "x\n", file="handler.ts")
    found = compare()
    assert list(differs(line_of(found, "loud"))) == ["messages"]
    assert line_of(found, "quiet").differs == ()


def test_a_managed_hook_is_one_hosts_own(
    home: Path, workspace: Path, compare: Compare, make_hook: MakeHook
) -> None:
    make_hook(home / ".openclaw/hooks", "own", for_all('"command:new"'), file="handler.ts")
    line = line_of(compare(), "own")
    assert [cell.state for cell in line.cells] == ["ready", "absent", "absent"]
    assert "which all hosts scan" in line.suggestions[0]


def test_needs_that_all_have_are_alike_and_still_said(
    workspace: Path, compare: Compare, make_hook: MakeHook
) -> None:
    blocks = ", ".join(
        f'"{name}": {{"events": ["command:new"], "requires": {{"env": ["NOT_SET_ANYWHERE"]}}}}'
        for name in ("openclaw", "milady", "eliza")
    )
    make_hook(workspace / "hooks", "needy", f"{{{blocks}}}", file="handler.ts")
    line = line_of(compare(), "needy")
    assert (line.differs, line.suggestions) == ((), ("set NOT_SET_ANYWHERE",))


def test_python_is_run_by_no_program(workspace: Path, compare: Compare, make_hook: MakeHook) -> None:
    make_hook(workspace / "hooks", "snake", for_all('"gateway:startup"'))
    line = line_of(compare("milady", "milady@2.0.0-alpha.76"), "snake")
    assert [cell.host_runs for cell in line.cells] == [True, False]
    assert "handler" in differs(line)
    assert any("write the handler as handler.ts" in text for text in line.suggestions)


def test_plugins_are_no_hooks_elsewhere(workspace: Path, compare: Compare) -> None:
    plugin = workspace / "plugins/metrics"
    plugin.mkdir(parents=True)
    (plugin / "plugin.py").write_text("def register(api):\n    api.on('gateway_start', lambda e, c: None)\n")
    found = compare()
    (line,) = found.lines
    assert [cell.state for cell in line.cells][1:] == ["absent", "absent"]
    assert differs(line)["found"] == "Milady, Eliza: there are no plugin hooks"


def test_looking_runs_nothing(workspace: Path, tmp_path: Path, compare: Compare, make_hook: MakeHook) -> None:
    trace = tmp_path / "trace"
    source = f"open({str(trace)!r}, 'w').write('ran')\ndef handler(event): pass\n"
    make_hook(workspace / "hooks", "eager", for_all('"command:new"'), source)
    assert line_of(compare(), "eager").called_everywhere
    assert not trace.exists()


HEADERS = st.binary(max_size=80) | st.builds(
    lambda name, metadata: f"---\nname: {name}\nmetadata: {metadata}\n---\n".encode("utf-8", "replace"),
    st.text(max_size=12),
    st.sampled_from(
        [OWN, "3", "[1]", "{openclaw: 3}", '{"openclaw": {"events": 3}}', "\n  milady: {events: [a]}"]
    )
    | st.text(max_size=30),
)


@settings(max_examples=12)
@given(headers=st.lists(HEADERS, max_size=3))
def test_a_host_beside_itself_is_alike(headers: list[bytes]) -> None:
    with TemporaryDirectory() as folder:
        for number, header in enumerate(headers):
            hook = Path(folder) / "hooks" / f"h{number}"
            hook.mkdir(parents=True)
            (hook / "HOOK.md").write_bytes(header)
            (hook / "handler.ts").write_text("x")
        bench = Workbench(Options(workspace=Path(folder), dialect="openclaw", bundled=Path(folder) / "none"))
        found = compare_hosts(bench, [dialect_named(name) for name in ("openclaw", *PROGRAMS)])
        assert bool(found.lines) >= bool(headers)
        for side in found.sides:
            twice = align_hosts([side, side])
            assert twice.differing == ()


@pytest.mark.parametrize(
    "source", [b"", b"\xff\xfe", b"---\n", b"---\nmetadata: [\n---\n", b"---\nmetadata: 3\n---\n"]
)
def test_a_bad_header_is_a_row(workspace: Path, compare: Compare, source: bytes) -> None:
    folder = workspace / "hooks/bad"
    folder.mkdir()
    (folder / "HOOK.md").write_bytes(source)
    (folder / "handler.ts").write_text("x")
    found = compare("openclaw", "openclaw@2026.9", "milady@2.0.0-alpha.76")
    assert [line.name for line in found.lines] == ["bad"]
    assert not found.lines[0].called_everywhere
