"""What if, in the console: the bar, the strip that says so, and here beside what is assumed."""

from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.console.conftest import Open, Story, small
from textual.widgets import Input

from hookscope.console.dialogs.trust_question import TrustScreen
from hookscope.console.dialogs.what_if_form import WhatIfForm
from hookscope.console.widgets.header import WhatIfStrip

NEEDS = "{openclaw: {events: [command:new], requires: {bins: [zzfind], env: [TOKEN]}}}"
SAYS = "import os\ndef handler(event):\n    event.messages.append(os.environ.get('GREETING', 'none'))\n"


@pytest.fixture
def service(workspace: Path, home: Path, make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A hook that runs here, and the unit gateway.service in which it does not."""
    programs = home / ".local/bin"
    programs.mkdir(parents=True)
    (programs / "zzfind").write_text("#!/bin/sh\n")
    (programs / "zzfind").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("TOKEN", "s3cret")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    make_hook(
        workspace / "hooks", "search", NEEDS, "def handler(event):\n    event.messages.append('found')\n"
    )
    make_hook(workspace / "hooks", "say", "{openclaw: {events: [command:new]}}", SAYS)
    unit = home / ".config/systemd/user/gateway.service"
    unit.parent.mkdir(parents=True)
    unit.write_text("[Service]\nEnvironment=HOME=%h PATH=/usr/bin:/bin GREETING=served\n")
    return unit


def state_of(story: Story, name: str) -> str:
    return next(row.state_style.word for row in story.screen.state.rows if row.name == name)


def dialect_of(story: Story) -> str:
    view = story.screen.state.view
    return view.host.dialect.name if view is not None else ""


async def bar(story: Story) -> None:
    await story.press("W")
    await story.until(lambda: isinstance(story.app.screen, WhatIfForm), "the bar is there")


async def type_into(story: Story, **fields: str) -> None:
    """As a paste does: in place of what stood there. Enter takes them all."""
    for field, text in fields.items():
        story.app.screen.query_one(f"#whatif-{field}", Input).value = text
    await story.press("enter")


@small
async def test_a_what_if_of_a_service_can_be_set_and_cleared(
    console: Open, service: Path, size: tuple[int, int], home: Path
) -> None:
    async with console(size, dialect="openclaw") as story:
        assert state_of(story, "search") == "untrusted"
        await bar(story)
        await story.shows("What if", "Platform", "linux", "Environment", "^l drop all", "esc back")
        await type_into(story, environment="unit:gatewy")
        await story.shows("✗ There is no unit gatewy.service. Did you mean unit:gateway?")
        assert state_of(story, "search") == "untrusted"
        await type_into(story, environment="unit:gateway")
        await story.shows("What if: environment of unit gateway (")
        await story.until(lambda: state_of(story, "search") == "blocked", "the view is recomputed")
        await type_into(story, platform="darwin")
        await story.shows("What if: os darwin, environment of unit gateway")
        await story.press("escape")
        for mode in "241":
            await story.press(mode)
            await story.shows("≈ what if: os darwin")
        assert all(len(line) <= size[0] for line in story.lines())
        await story.press("0")
        await story.until(lambda: state_of(story, "search") == "untrusted", "all is real again")
        assert not story.screen.query_one(WhatIfStrip).display
        await story.press("0")
        await story.shows("No assumptions")
        assert not (home / ".openclaw").exists()


async def test_every_field_of_a_what_if_applies(
    console: Open, service: Path, tmp_path: Path, make_hook: MakeHook, home: Path
) -> None:
    other = tmp_path / "other"
    make_hook(other / "hooks", "elsewhere", "{openclaw: {events: [command:new]}}")
    (tmp_path / "other.json").write_text('{"hooks": {"internal": {"entries": {"say": {"enabled": false}}}}}')
    async with console((80, 24), dialect="openclaw") as story:
        await bar(story)
        await type_into(story, agent="ops")
        await story.shows("The dialect openclaw has no agents.")
        await type_into(story, agent="", variables="A='x y' B")
        await story.shows("'B' is not NAME=value.")
        await type_into(
            story, path="/usr/bin", variables="A='x y' B=1", settings=str(tmp_path / "other.json")
        )
        await story.shows("PATH /usr/bin, A, B set, settings")
        assert (state_of(story, "search"), state_of(story, "say")) == ("blocked", "off")
        await type_into(story, workspace=str(other), host="milady")
        await story.until(lambda: dialect_of(story) == "milady", "another host")
        assert [row.name for row in story.screen.state.rows] == ["elsewhere"]
        held = story.screen.state.view
        assert held is not None
        assert held.host.machine.assumed == {"env", "settings", "workspace", "host"}
        await story.press("ctrl+l")
        await story.until(lambda: len(story.screen.state.rows) == 2, "all is real again")
        await story.shows("No assumptions.")
        for name in ("path", "variables", "settings", "workspace", "host"):
            assert story.app.screen.query_one(f"#whatif-{name}", Input).value == ""


async def fired(story: Story, number: int) -> tuple[list[str], list[str]]:
    """Fire what is composed, and allow the folder the first time; messages, and what was assumed."""
    pane = story.screen.panes.fire_pane
    await story.press("2", "f5")
    if number == 1:
        await story.until(lambda: isinstance(story.app.screen, TrustScreen), "trust is asked for")
        await story.press("t")
    await story.until(
        lambda: pane.run_view.runs.current is not None and pane.run_view.runs.current.number == number,
        "it runs",
    )
    await story.until(
        lambda: pane.run_view.runs.current is not None and pane.run_view.runs.current.run,
        f"run {number} ended",
    )
    assert pane.run_view.runs.current is not None
    run = pane.run_view.runs.current.run
    assert run is not None
    return list(run.messages), sorted(run.assumed)


async def test_a_fired_handler_gets_the_what_if_values(console: Open, service: Path) -> None:
    async with console((80, 24), dialect="openclaw") as story:
        story.screen.context.compose_event("command:new", "say")
        assert await fired(story, 1) == (["none"], [])
        await story.press("1")
        await bar(story)
        await type_into(story, environment="unit:gateway")
        await story.shows("What if: environment")
        await story.press("escape")
        await story.shows("≈ what if:")
        assert await fired(story, 2) == (["served"], ["env"])


async def test_hosts_mode_compares_the_machine_with_the_what_if(
    console: Open, service: Path, home: Path
) -> None:
    async with console((80, 24), dialect="openclaw") as story:
        await bar(story)
        await story.press("ctrl+r")
        await story.shows("✗ No assumptions: there is nothing to compare.")
        await type_into(story, environment="unit:gateway")
        await story.shows("What if: environment")
        await story.press("ctrl+r")
        await story.shows(
            "[4 Hosts]", "Environments   here and unit gateway.service", "1 hook equal · 1 differ"
        )
        await story.press("down", "z")
        await story.shows("zzfind is ~/.local/bin/zzfind here")
        found = story.screen.panes.hosts_pane.comparison
        assert found is not None
        (remedy,) = found.remedies
        assert remedy.lines[0] == f"Environment=PATH=/usr/bin:/bin:{home}/.local/bin"
        await story.press("ctrl+r")
        await story.shows("cannot be fired in two environments: v")
        await story.press("v")
        await story.shows("3 hosts read the same folders")
        await story.press("1", "W")
        await story.until(lambda: isinstance(story.app.screen, WhatIfForm), "the bar is there")
        await story.press("ctrl+r")
        await story.shows("Environments   here and")
        await story.press("0")
        await story.shows("3 hosts read the same folders")


async def test_what_if_options_of_the_command_line_are_shown_and_can_be_cleared(
    console: Open, service: Path, home: Path
) -> None:
    options = {"os": "darwin", "clean_env": True, "env": {"GREETING": "[bold]x\x1b[2J"}}
    async with console((80, 24), dialect="openclaw", **options) as story:
        await story.shows("≈ what if: os darwin, a bare environment")
        await bar(story)
        boxes = {
            name: story.app.screen.query_one(f"#whatif-{name}", Input).value
            for name in ("platform", "environment")
        }
        assert boxes == {"platform": "darwin", "environment": "clean"}
        await story.hides("\x1b")
        await story.press("ctrl+l", "escape")
        await story.until(lambda: not story.screen.query_one(WhatIfStrip).display, "all is real")


async def test_an_edited_service_unit_is_read_again(console: Open, service: Path) -> None:
    async with console((80, 24), dialect="openclaw", watches=True, env_from="unit:gateway") as story:
        await story.until(lambda: state_of(story, "search") == "blocked", "the service lacks something")
        await story.until(lambda: story.screen.state.watching, "files are watched")
        await story.until(lambda: _saved(story, service), "the saved unit is looked at")


def _saved(story: Story, unit: Path) -> bool:
    """Saved anew at each turn, since a watch begins at a moment of its own."""
    unit.write_text("[Service]\nEnvironment=HOME=%h PATH=%h/.local/bin:/bin TOKEN=1\n")
    return state_of(story, "search") == "untrusted"
