"""Rules of Milady 2.0.0-alpha.76 and Eliza 2.0.0-beta.2 that no recorded case holds, or only in part."""

import errno
from pathlib import Path

import pytest
from tests.shipped.conftest import Program, Write

from hookscope import Event, State
from hookscope.engine.discovery import discover
from hookscope.engine.planning import registrations_of
from hookscope.model.machine import FolderItem, RealFiles

NEW = Event("command", "new")


@pytest.mark.parametrize(
    ("metadata", "ends"),
    [
        ({"requires": {"anyBins": "npm"}}, True),
        ({"os": "darwin"}, True),
        ({"requires": {"bins": {"a": 1}}}, True),
        ({"requires": {"config": 5}}, True),
        ({"requires": {"config": [["a.b"]]}}, True),
        ({"os": "linux or so"}, False),
        ({"os": 5, "requires": {"anyBins": {}}}, False),
        ({"always": True, "requires": {"anyBins": "npm", "bins": {}}}, False),
        ({"requires": "git"}, False),
    ],
)
async def test_a_field_of_the_wrong_type_can_end_the_load(
    program: Program, write: Write, metadata: dict[str, object], ends: bool
) -> None:
    write("a-before")
    write("b-odd", metadata)
    write("c-after")
    report = await program.load()
    assert bool(report.stopped) is ends
    assert report.discovered == 3
    assert (await program.engine.fire(NEW)).messages == (
        ("a-before",) if ends else ("a-before", "b-odd", "c-after")
    )
    assert any("Load complete" in line.text for line in report.log) is not ends


async def test_what_a_load_never_reaches_is_said_and_not_registered(program: Program, write: Write) -> None:
    write("a-before")
    write("b-odd", {"requires": {"anyBins": "npm"}})
    write("c-after")
    host = program.host({})
    inventory = discover(host)
    states = {row.hook.name: row.state for row in inventory.hooks}
    assert states == {"a-before": State.SILENT, "b-odd": State.BROKEN, "c-after": State.BROKEN}
    after = inventory.find("c-after")
    assert after is not None
    assert after.verdict.why() == "never reached: the load ends at b-odd"
    assert [call.name for call in registrations_of(inventory, host)] == ["a-before"]


async def test_text_in_place_of_a_list_is_walked_letter_by_letter(program: Program, write: Write) -> None:
    write("a", {"requires": {"bins": "gi", "env": "X"}})
    write("b", {"events": "command:new"})
    report = await program.load()
    assert report.skipped == ("a: Binary missing: g, Binary missing: i, Env missing: X", "b: no events")


async def test_programs_need_not_be_files_nor_run(
    program: Program, write: Write, product: str, tmp_path: Path
) -> None:
    folder = tmp_path / "bin"
    (folder / "a-folder").mkdir(parents=True)
    (folder / "plain").touch()
    program.env["PATH"] = str(folder)
    write("a", {"requires": {"bins": ["a-folder", "plain"]}})
    write("b", {"requires": {"bins": [str(folder / "plain")]}})
    write("c", {"requires": {"anyBins": ["node"]}})
    report = await program.load()
    missing = () if product == "eliza" else (f"b: Binary missing: {folder / 'plain'}", "c: None of: node")
    assert report.skipped == missing


@pytest.mark.parametrize("endings", ["", " .EXE;.PS1"])
@pytest.mark.parametrize("file", ["tool.EXE", "tool.exe"])
async def test_programs_on_windows(
    program: Program, write: Write, product: str, tmp_path: Path, endings: str, file: str
) -> None:
    (tmp_path / file).touch()
    (tmp_path / "other.v2.exe").touch()
    program.platform = "win32"
    program.env |= {"PATH": str(tmp_path)} | ({"PATHEXT": endings} if endings else {})
    write("a", {"requires": {"bins": ["tool"]}})
    write("b", {"requires": {"bins": ["other.v2"]}})  # it has an ending, and gets no other
    assert (await program.load()).eligible == (product == "eliza")


async def test_an_entrys_variable_may_be_anything_but_is_never_laid_over(
    program: Program, write: Write
) -> None:
    says = "export default (event) => { event.messages.push(String(process.env.TOKEN)); };\n"
    write("a", {"requires": {"env": ["TOKEN"]}}, says)
    entries = {"a": {"env": {"TOKEN": 5}}}
    report = await program.load({"hooks": {"internal": {"entries": entries}}})
    assert report.registered == 1
    assert (await program.engine.fire(NEW)).messages == ("undefined",)


async def test_an_empty_hook_key_is_a_key(program: Program, write: Write) -> None:
    write("a", {"hookKey": ""})
    report = await program.load({"hooks": {"internal": {"entries": {"": {"enabled": False}}}}})
    assert report.skipped == ("a: disabled in config",)


@pytest.mark.parametrize(
    ("path", "there"), [("v.length", True), ("v.01", False), ("v.1", True), ("e.length", False)]
)
async def test_lists_among_the_settings(program: Program, write: Write, path: str, there: bool) -> None:
    write("a", {"requires": {"config": [path]}})
    assert (await program.load({"v": [0, 1], "e": []})).eligible == there


async def test_settings_that_cannot_be_walked_through_end_the_load_before_any_hook(
    program: Program, write: Write
) -> None:
    write("a")
    settings = {"hooks": {"internal": {"load": {"extraDirs": ["~/elsewhere", 5]}}}}
    report = await program.load(settings)
    assert "`hooks.internal.load.extraDirs` must be a list of strings, not the number 5" in report.stopped
    assert [line.level for line in report.log] == ["warn"]  # the folder before it was refused
    row = discover(program.host(settings)).find("a")
    assert row is not None
    assert row.verdict.why() == "never reached: the load ends at the settings"


async def test_an_absent_workspace_setting_is_absent(program: Program, write: Write) -> None:
    write("a", {"requires": {"config": ["workspace.dir"]}})
    assert (await program.load()).skipped == ("a: Config missing: workspace.dir",)


async def test_switched_off_keeps_what_is_registered(program: Program, write: Write) -> None:
    write("a")
    await program.load()
    report = await program.load({"hooks": {"internal": {"enabled": False}}})
    assert (report.discovered, report.registered) == (0, 0)
    assert [line.text for line in report.log] == ["[hooks] Internal hooks disabled"]
    assert (await program.engine.fire(NEW)).messages == ("a",)


async def test_an_ineligible_winner_hides_a_good_loser_and_one_without_handler_does_not(
    program: Program, write: Write, workspace: Path
) -> None:
    write("a")
    write("b")
    write("a", {"os": ["win32"]}, folder=workspace / "hooks")
    (write("b", folder=workspace / "hooks") / "handler.ts").unlink()
    report = await program.load(workspace_path=workspace)
    assert report.skipped == ("a: OS: requires win32, current: linux",)
    assert (await program.engine.fire(NEW)).messages == ("b",)


async def test_handler_files_by_name(program: Program, write: Write, product: str) -> None:
    for number, file in enumerate(("handler.ts", "handler.mjs", "handler", "index.ts", "index.mjs", "index")):
        write(f"h{number}", file=file)
    write("js", file="handler.js")
    folder = write("both", file="index.ts")
    (folder / "handler.ts").mkdir()  # a folder of that name does not count
    report = await program.load()
    assert report.discovered == (7 if product == "eliza" else 5)
    assert report.failed == ()
    names = {row.hook.name for row in discover(program.host({})).hooks}
    assert "js" not in names
    assert {"both", "h2", "h5"} <= names


async def test_linked_folders_are_followed_wherever_they_lead(
    program: Program, write: Write, managed: Path, tmp_path: Path
) -> None:
    write("away", folder=tmp_path)
    (managed / "linked").symlink_to(tmp_path / "away")
    assert (await program.load()).registered == 1
    assert (await program.engine.fire(NEW)).messages == ("away",)


async def test_a_handler_is_looked_for_before_the_header(
    program: Program, write: Write, managed: Path
) -> None:
    (write("a", header="no header") / "handler.ts").unlink()
    report = await program.load()
    assert report.log[0].text == f"[hooks] Hook at {managed / 'a'} has HOOK.md but no handler"


async def test_metadata_that_is_no_json_is_told_of_a_header_without_a_name_too(
    program: Program, write: Write, managed: Path
) -> None:
    file = write("a", header="---\nmetadata: {a}\n---\n") / "HOOK.md"
    assert [line.text for line in (await program.load()).log[:2]] == [
        "[hooks] Failed to parse metadata in HOOK.md",
        f"[hooks] Invalid frontmatter in {file}",
    ]


async def test_a_null_among_events_is_nothing_when_they_are_put_together(
    program: Program, write: Write
) -> None:
    write("a", {"events": [None, "command:new"]})
    assert "🔗 Registered: a -> , command:new" in (await program.load()).log[-2].text


async def test_a_key_given_twice_runs_twice_and_a_class_fails_when_it_is_called(
    program: Program, write: Write
) -> None:
    write("a", {"events": ["command", "command:new", "command"]})
    write("b", {}, "export default class B {}\n")
    report = await program.load()
    assert (report.registered, report.failed) == (2, ())
    assert "🔗 Registered: a -> command, command:new, command" in report.log[-3].text
    run = await program.engine.fire(NEW)
    assert run.messages == ("a", "a", "a")
    assert len(run.failed) == 1
    assert run.ending.log[0].text.endswith(": Class constructor B cannot be invoked without 'new'")


@pytest.mark.parametrize(
    ("thrown", "logged"),
    [
        ("{ code: 1 }", "[object Object]"),
        ("new TypeError('odd')", "odd"),
        ("new Error('outer', { cause: new Error('inner') })", "outer"),
        ("undefined", "undefined"),
        ("Object.create(null)", None),
    ],
)
async def test_what_is_thrown_is_logged_as_the_program_logs_it(
    program: Program, write: Write, thrown: str, logged: str | None
) -> None:
    write("a", {}, f"export default () => {{ throw {thrown}; }};\n")
    await program.load()
    error, summary = (await program.engine.fire(NEW)).ending.log
    assert error.text.startswith('[hooks] Handler error for "command:new": ')
    if logged is not None:
        assert error.text == f'[hooks] Handler error for "command:new": {logged}'
    assert (summary.level, summary.text) == (
        "warn",
        "[hooks] 1 hook handler(s) failed — errors were logged above",
    )


async def test_extra_folders_are_taken_as_text(
    program: Program, write: Write, product: str, tmp_path: Path
) -> None:
    state = program.home / f".{product}"
    write("inside", folder=state / "extra")
    write("linked", folder=tmp_path / "elsewhere")
    (state / "link").symlink_to(tmp_path / "elsewhere")
    write("callers", folder=tmp_path / "callers")
    program.cwd = state
    dirs = ["extra", "~/../x", f"~/.{product}/link", "~user"]
    report = await program.load(
        {"hooks": {"internal": {"load": {"extraDirs": dirs}}}}, extra_dirs=[tmp_path / "callers"]
    )
    refused = [line.text for line in report.log if line.level == "warn"]
    assert refused == [
        f'[hooks] Rejected config extraDir "{written}": must be under ~/.{product}/'
        for written in (dirs[1], dirs[3])
    ]
    assert (await program.engine.fire(NEW)).messages == ("callers", "inside", "linked")


async def test_hook_folders_stay_below_home_when_the_state_folder_moves(
    program: Program, write: Write, product: str, tmp_path: Path
) -> None:
    write("a")
    program.env[f"{product.upper()}_STATE_DIR"] = str(tmp_path / "moved")
    assert (await program.load()).registered == 1


async def test_settings_below_hooks_alone_are_not_read(program: Program, write: Write) -> None:
    write("a")
    assert (await program.load({"hooks": {"entries": {"a": {"enabled": False}}}})).registered == 1


async def test_legacy_modules_are_taken_literally(
    program: Program, managed: Path, product: str, tmp_path: Path
) -> None:
    (managed / "one.ts").write_text('export default (event) => { event.messages.push("one"); };\n')
    (tmp_path / "out.ts").write_text('export default (event) => { event.messages.push("out"); };\n')
    (managed / "link.ts").symlink_to(tmp_path / "out.ts")
    program.cwd = managed
    modules = ["one.ts", "link.ts", "~/one.ts"]
    handlers = [{"event": "command:new", "module": module} for module in modules]
    report = await program.load({"hooks": {"internal": {"handlers": handlers}}})
    assert "~/one.ts" in report.failed  # a folder called ~ in the current one, which is an allowed one
    links = () if product == "eliza" else ("out",)
    assert (await program.engine.fire(NEW)).messages == ("one", *links)
    assert ("link.ts" in report.failed) is (product == "eliza")


async def test_legacy_modules_below_extra_folders_are_refused(
    program: Program, product: str, tmp_path: Path
) -> None:
    extra = program.home / f".{product}" / "extra"
    extra.mkdir(parents=True)
    (extra / "one.ts").write_text("export default () => {};\n")
    internal = {
        "load": {"extraDirs": [str(extra)]},
        "handlers": [{"event": "command", "module": str(extra / "one.ts")}],
        "entries": {str(extra / "one.ts"): {"enabled": True}},
    }
    assert (await program.load({"hooks": {"internal": internal}})).failed == (str(extra / "one.ts"),)


async def test_a_legacy_handler_without_a_module_ends_the_load(program: Program, write: Write) -> None:
    write("a")
    report = await program.load({"hooks": {"internal": {"handlers": [{"event": "command"}]}}})
    assert report.stopped
    assert (await program.engine.fire(NEW)).messages == ("a",)


async def test_only_the_start_of_the_gateway_is_ever_sent(program: Program, write: Write) -> None:
    write("a", {"events": ["gateway:startup"]})
    write("b", {"events": ["gateway"]})
    write("c", {"events": ["command:new"]})
    write("d", {"events": ["gateway:stop"]})
    states = {row.hook.name: row.state for row in discover(program.host({})).hooks}
    assert states == {"a": State.READY, "b": State.READY, "c": State.SILENT, "d": State.SILENT}


async def test_python_handlers_are_marked(program: Program, write: Write) -> None:
    write("a", file="handler.py", handler="def handler(event): pass\n")
    write("b")
    marks = {row.hook.name: row.hook.beyond_host for row in discover(program.host({})).hooks}
    assert marks == {"a": True, "b": False}


async def test_what_the_host_does_not_see_hides_nothing_that_it_sees(
    program: Program, write: Write, workspace: Path
) -> None:
    write("z")
    write("a")
    write("a", {"requires": {"anyBins": "npm"}}, "", file="handler.py", folder=workspace / "hooks")
    write("b", {}, "", file="handler.py", folder=workspace / "hooks")
    host = program.host({}, workspace_path=workspace)
    inventory = discover(host)
    assert [(hook.name, hook.beyond_host) for hook in inventory.load_order] == [
        ("a", False),
        ("z", False),
        ("b", True),
    ]
    (shadowed,) = [row for row in inventory.hooks if row.state is State.SHADOWED]
    assert shadowed.hook.folder.source == "workspace"


async def test_an_edited_file_that_others_import_is_not_the_programs_business(
    program: Program, write: Write
) -> None:
    folder = write("a")
    await program.load()
    (folder / "handler.ts").write_text('export default (event) => { event.messages.push("edited"); };\n')
    assert (await program.engine.fire(NEW)).messages == ("a",)
    await program.load()
    assert (await program.engine.fire(NEW)).messages == ("edited",)


async def test_what_cannot_be_read_is_logged_in_the_programs_words(
    program: Program, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, shut = write("a-kept"), write("b-shut")
    managed = shut.parent
    read, children = RealFiles.read, RealFiles.children

    def refused(path: Path) -> PermissionError:
        return PermissionError(errno.EACCES, "Permission denied", str(path))

    def reading(files: RealFiles, path: Path, limit: int = -1) -> bytes:
        if path == shut / "HOOK.md":
            raise refused(path)
        return read(files, path, limit)

    monkeypatch.setattr(RealFiles, "read", reading)
    before = "Error: " if program.dialect.startswith("eliza") else ""
    lines = [line.text for line in (await program.load()).log]
    file = f"'{shut / 'HOOK.md'}'"
    assert lines[0] == (
        f"[hooks] Error loading hook from {shut}: {before}EACCES: permission denied, open {file}"
    )
    assert any("Registered: a-kept" in line for line in lines)

    def listing(files: RealFiles, folder: Path) -> list[FolderItem]:
        if folder == kept.parent:
            raise refused(folder)
        return children(files, folder)

    monkeypatch.setattr(RealFiles, "children", listing)
    lines = [line.text for line in (await program.load()).log]
    assert lines[0] == (
        f"[hooks] Error scanning {managed}: {before}EACCES: permission denied, scandir '{managed}'"
    )


def test_the_hook_that_ends_a_load_is_reached_itself(program: Program, write: Write) -> None:
    write("a-before")
    write("b-odd", {"requires": {"anyBins": "npm"}})
    write("c-after")
    rows = {row.hook.name: row for row in discover(program.host({})).hooks}
    reached = {
        name: [gate.passed for gate in row.verdict.gates if gate.name == "reached"]
        for name, row in rows.items()
    }
    assert reached == {"a-before": [], "b-odd": [], "c-after": [False]}
    assert "never reached" not in rows["b-odd"].verdict.why()
    assert rows["b-odd"].verdict.stops_load is not None


async def test_a_strict_load_that_does_not_come_to_its_end_leaves_everything_as_it_was(
    program: Program, write: Write
) -> None:
    write("a-before")
    assert not (await program.load()).stopped
    before = program.engine.registry
    write("b-odd", {"requires": {"anyBins": "npm"}})
    write("a-again")
    report = await program.engine.load(program.host({}), strict=True)
    assert report.stopped
    assert (report.committed, report.registered) == (False, 0)
    assert program.engine.registry is before
    assert (await program.engine.fire(NEW)).messages == ("a-before",)
