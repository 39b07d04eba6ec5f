"""For every gate under every dialect: a hook that fails just there is explained, mended, and taken back."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.authoring.fix.conftest import Bench

from hookscope.app.snapshot import Snapshot
from hookscope.app.workbench import Workbench
from hookscope.authoring.fix.model import NO_VALUES, FixValues
from hookscope.authoring.fix.repair import apply_repair, find_repair
from hookscope.model.failure import Refusal
from hookscope.model.hook_status import HookStatus, RejectedHook, State

GUIDES = ("openclaw", "milady", "eliza")
SHIPPED = ("openclaw@2026.9", "milady@2.0.0-alpha.76", "eliza@2.0.0-beta.2")
FOLDERS = GUIDES + SHIPPED
NOT_2026_9 = (*GUIDES, *SHIPPED[1:])
LATEST = SHIPPED[:1]
EVENT = "gateway:startup"  # the one that all of them send


@dataclass
class World:
    """One hook that is ready, in the managed folder of its host."""

    dialect: str
    home: Path
    tools: Path
    settings: dict[str, Any]
    metadata: dict[str, Any]
    header: str = "---\nname: h\ndescription: A hook of the tests.\n{metadata}---\n\nProse stays.\n"
    spelling: Callable[[dict[str, Any]], str] = lambda metadata: f"metadata: {json.dumps(metadata)}\n"
    handler: str = "handler.py"
    source: str = "def handler(event): pass\n"
    manifest: str = "HOOK.md"

    @property
    def host(self) -> str:
        return self.dialect.partition("@")[0]

    @property
    def own(self) -> dict[str, Any]:
        own: dict[str, Any] = self.metadata[self.host]
        return own

    @property
    def state(self) -> Path:
        return self.home / f".{self.host}"

    @property
    def folder(self) -> Path:
        return self.state / "hooks" / "h"

    @property
    def internal(self) -> dict[str, Any]:
        internal: dict[str, Any] = self.settings["hooks"]["internal"]
        return internal

    def write(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        text = self.header.format(metadata=self.spelling(self.metadata))
        (self.folder / self.manifest).write_text(text)
        (self.folder / self.handler).write_text(self.source)
        (self.state / f"{self.host}.json").write_text(f"// mine\n{json.dumps(self.settings, indent=2)}\n")


Break = Callable[[World], None]


@dataclass(frozen=True)
class Case:
    """A way to fail at one gate."""

    gate: str
    how: str
    broken: Break
    names: str  # what the explanation says
    values: FixValues = NO_VALUES
    mends: bool = True
    only: tuple[str, ...] = FOLDERS


def needs(gate: str, thing: str) -> Break:
    return lambda world: world.own.update(requires={gate: [thing]})


def tool(gate: str) -> Break:
    def broken(world: World) -> None:
        needs(gate, "made-up")(world)
        (world.tools / "made-up").write_text("#!/bin/sh\n")
        (world.tools / "made-up").chmod(0o640)

    return broken


def text_of_bins(world: World) -> None:
    tool("bins")(world)
    (world.tools / "made-up").chmod(0o755)
    world.own["requires"] = {"anyBins": "made-up"}


def install(gate: str) -> Break:
    def broken(world: World) -> None:
        needs(gate, "no-such-program")(world)
        world.own["install"] = [{"id": "x", "kind": "npm", "package": "made-up", "label": "Install made-up"}]

    return broken


def under(name: str) -> Break:
    def broken(world: World) -> None:
        world.metadata[name] = world.metadata.pop(world.host)

    return broken


def block(metadata: dict[str, Any]) -> str:
    """Metadata as the guides write it: YAML over several lines."""
    lines = ["metadata:"]
    for name, own in metadata.items():
        lines += [f"  {name}:", *(f"    {key}: {json.dumps(value)}" for key, value in own.items())]
    return "\n".join(lines) + "\n"


def yaml_of_another(world: World) -> None:
    under("clawd")(world)
    world.spelling = block


def yaml(world: World) -> None:
    world.spelling = block


def bare(world: World) -> None:
    world.metadata = {"events": [EVENT]}


def on_top(world: World) -> None:
    world.spelling = lambda _: f'events: ["{EVENT}"]\n'


def none_at_all(world: World) -> None:
    world.spelling = lambda _: ""


def entry(**entry: Any) -> Break:
    return lambda world: world.internal.update(entries={"h": entry})


def others(world: World) -> None:
    world.internal["entries"] = {"other": {}}


def with_own(**fields: Any) -> Break:
    return lambda world: world.own.update(fields)


def internal(**fields: Any) -> Break:
    def broken(world: World) -> None:
        world.settings["hooks"]["internal"] = fields

    return broken


def named(file: str, source: str = "export default () => {};\n") -> Break:
    def broken(world: World) -> None:
        world.handler, world.source = file, source

    return broken


def manifest(name: str) -> Break:
    return lambda world: setattr(world, "manifest", name)


def late_header(world: World) -> None:
    world.header = "\n" + world.header


def nameless(world: World) -> None:
    world.header = world.header.replace("name: h\n", "")


def python(source: str) -> Break:
    return lambda world: setattr(world, "source", source)


def leads_out(world: World) -> None:
    world.folder.mkdir(parents=True)
    (world.home / "elsewhere.py").write_text(world.source)
    (world.folder / world.handler).symlink_to(world.home / "elsewhere.py")


V = FixValues(unnamed="yes")
CASES = (
    Case("manifest", "spelt otherwise", manifest("hook.md"), "must be called HOOK.md"),
    Case("manifest", "not first", late_header, "no frontmatter", only=NOT_2026_9),
    Case("manifest", "without a name", nameless, "without `name`", only=SHIPPED[1:]),
    Case("handler", "another ending", named("handler.cjs"), "no handler"),
    Case("handler", "another name", named("Handler.py", "def handler(event): pass\n"), "no handler"),
    Case("handler", "does not parse", python("def handler(event) pass\n"), "line 1", mends=False),
    Case("fields", "a text for a list", with_own(os="linux"), "os", only=GUIDES),
    Case("fields", "a word for a truth", with_own(always="yes"), "always", only=GUIDES),
    Case("fields", "a text that ends the load", text_of_bins, "anyBins", only=SHIPPED[1:]),
    Case("events", "under an unknown namespace", yaml_of_another, "no events"),
    Case("events", "under another host's", under("clawdbot"), "no events", only=NOT_2026_9),
    Case("events", "without a namespace", bare, "no events"),
    Case("events", "at the top", on_top, "no events"),
    Case("events", "in another spelling", yaml, "no events", only=SHIPPED[1:]),
    Case("events", "nowhere", none_at_all, "no events", FixValues(unnamed=EVENT)),
    Case("events", "an empty list", with_own(events=[]), "no events", FixValues(unnamed=EVENT)),
    Case("os", "other letters", with_own(os=["Linux"]), "Linux"),
    Case("os", "another platform", with_own(os=["win32"]), "win32", mends=False),
    Case("bins", "may not be run", tool("bins"), "made-up", only=(*GUIDES, SHIPPED[0])),
    Case("bins", "not there", install("bins"), "no-such-program", mends=False),
    Case("anyBins", "may not be run", tool("anyBins"), "made-up", only=(*GUIDES, SHIPPED[0])),
    Case("anyBins", "not there", install("anyBins"), "no-such-program", mends=False),
    Case("env", "unset", needs("env", "MEMORY_DIR"), "MEMORY_DIR", V),
    Case("config", "absent", needs("config", "browser.executablePath"), "browser.executablePath", V),
    Case("switch", "off", internal(enabled=False), "switched off"),
    Case("enabled", "off", entry(enabled=False), "disabled in config"),
    Case("selected", "not named", others, "this hook is not there", only=LATEST),
    Case("selected", "nothing is", internal(), "configure no hooks", only=LATEST),
    Case("settings", "refused", internal(enabled=True, surprise=1), "surprise", mends=False, only=LATEST),
    Case("sent", "misspelt", with_own(events=["gatewy:startup"]), "gatewy:startup"),
    Case("sent", "unknown", with_own(events=["zzzz:qqqq"]), "zzzz:qqqq", mends=False),
    Case("export", "another name", python("def handle(event): pass\n"), "handler"),
    Case("export", "several", python("def one(event): pass\ndef two(event): pass\n"), "handler", mends=False),
    Case("path", "leads out", leads_out, "elsewhere.py", mends=False, only=("openclaw", "milady")),
)  # fmt: skip


def params() -> list[Any]:
    return [
        pytest.param(dialect, case, id=f"{dialect}-{case.gate} {case.how}")
        for case in CASES
        for dialect in case.only
    ]


def snapshot(*roots: Path) -> dict[str, tuple[int, bytes]]:
    """Every file that is the user's, with its mode and bytes."""
    files = (
        path for root in roots for path in root.rglob("*") if path.is_file() and not path.name.startswith(".")
    )
    return {str(path): (path.stat().st_mode, path.read_bytes()) for path in files}


def found(view: Snapshot) -> HookStatus | RejectedHook:
    row = view.inventory.find("h")
    return row or next(item for item in view.inventory.rejected if item.path.name == "h")


@pytest.fixture
def world(home: Path, tmp_path: Path, dialect: str) -> World:
    host = dialect.partition("@")[0]
    return World(
        dialect,
        home,
        tmp_path / "tools",
        {"hooks": {"internal": {"enabled": True}}},
        {host: {"events": [EVENT]}},
    )


def opened(bench: Bench, world: World) -> Workbench:
    here = bench(world.dialect, PATHEXT="")
    world.state.mkdir()
    world.folder.parent.mkdir()
    here.trust(world.home, everything_below=True)
    return here


@pytest.mark.parametrize("dialect", FOLDERS)
def test_the_unchanged_example_hook_is_ready(bench: Bench, world: World, dialect: str) -> None:
    here = opened(bench, world)
    world.write()
    row = found(here.scan())
    assert isinstance(row, HookStatus)
    assert (row.state, row.verdict.why()) == (State.READY, "")
    repair = find_repair(here, here.scan(), "h")
    assert (repair.ready, repair.fixes) == (True, ())


@pytest.mark.parametrize(("dialect", "case"), params())
def test_each_failed_gate_is_explained_fixed_and_undone(
    bench: Bench, world: World, dialect: str, case: Case
) -> None:
    here = opened(bench, world)
    case.broken(world)
    world.write()
    before = snapshot(world.home, world.tools)
    view = here.scan()
    row = found(view)
    if isinstance(row, HookStatus):
        names = {gate.name for gate in row.verdict.failed()}
        assert names - ({"selected"} if case.gate in ("switch", "enabled") else set()) == {case.gate}
        shut = next(gate for gate in row.verdict.failed() if gate.name == case.gate)
        said = f"{shut.reason} {shut.missing}"
    else:
        assert case.gate in ("manifest", "handler")
        said = row.reason
    assert case.names in said
    repair = find_repair(here, view, "h", case.values)
    assert snapshot(world.home, world.tools) == before
    if not case.mends:
        assert not repair.changes
        assert not repair.ready
        assert all(fix.hint or fix.why_not for fix in repair.fixes)
        return
    assert [fix.gate for fix in repair.fixes] == [case.gate], repair.fixes
    assert repair.ready, repair.fixes
    apply_repair(here, repair)
    now = found(here.scan())
    assert isinstance(now, HookStatus)
    assert now.state is State.READY
    for _ in repair.changes:
        here.edits.undo(here.edits.pending_undo())
    assert snapshot(world.home, world.tools) == before
    with pytest.raises(Refusal, match="nothing to undo"):
        here.edits.pending_undo()
    assert sorted(os.listdir(world.folder)) == sorted([world.manifest, world.handler])
