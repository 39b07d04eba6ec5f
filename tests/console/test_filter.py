"""The filter of the list: what is typed leads to the hook that is meant."""

from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.console.conftest import READY, Open


@pytest.fixture
def hooks(workspace: Path, make_hook: MakeHook) -> None:
    for name in ("a-note", "note", "note-taker", "zz"):
        make_hook(workspace / "hooks", name, READY)


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("note", "note"),  # the whole name, before an earlier hook whose name contains it
        ("NOTE-", "note-taker"),
        ("-no", "a-note"),
        ("z", "zz"),
        ("command:new", "zz"),  # all are equally good: the pointer stays
    ],
)
async def test_filtering_selects_the_best_match(console: Open, hooks: None, typed: str, found: str) -> None:
    async with console() as story:
        await story.press("end")
        await story.until(
            lambda: story.screen.state.row and story.screen.state.row.name == "zz", "at the end"
        )
        await story.press("slash", *typed, "enter")
        await story.until(
            lambda: story.screen.state.filter == typed and not story.screen.state.filtering,
            "the list is filtered",
        )
        await story.until(
            lambda: story.screen.state.row and story.screen.state.row.name == found, f"at {found}"
        )
        await story.press("escape")
        await story.until(lambda: not story.screen.state.filter, "all hooks are back")
        await story.until(
            lambda: story.screen.state.row and story.screen.state.row.name == found, f"still at {found}"
        )


async def test_under_a_guide_the_list_says_how_many_hooks_the_program_would_run(
    console: Open, hooks: None, home: Path
) -> None:
    (home / ".openclaw").mkdir()
    (home / ".openclaw" / "openclaw.json").write_text("{}")
    async with console((80, 24)) as story:
        await story.shows("Hooks 4   ≠ OpenClaw 2026.9 runs 0 of 4 · D shows why")
        await story.press("D")
        await story.hides("would run")


@pytest.mark.parametrize("mode", ["1", "3"])
async def test_the_field_of_a_filter_has_a_frame(console: Open, hooks: None, mode: str) -> None:
    async with console() as story:
        await story.press(mode, "slash", *"zz")
        await story.shows("▌ zz ")
        field = next(line for line in story.lines() if "▌ zz " in line)
        assert "▐" in field
