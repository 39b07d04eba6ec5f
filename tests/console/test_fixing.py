"""e on a hook that does not run: the edit that opens what stops it, shown, written and taken back."""

from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.console.conftest import READY, SIZES, Open

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.console.dialogs.edit_preview import CHANGED_WORD, FixLines, diff_lines

NEEDY = "{openclaw: {events: ['command:new'], requires: {env: [MEMORY_DIR]}}}"


def trust(folder: Path) -> None:
    Workbench(Options(workspace=folder)).trust(folder)


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_a_fix_asks_for_a_value_shows_the_edit_and_can_be_undone(
    console: Open, size: tuple[int, int], home: Path, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "keep", NEEDY)
    trust(workspace)
    file = home / ".openclaw" / "openclaw.json"
    async with console(size, env={"MEM_DIR": "/x"}) as story:
        if size[0] > 80:  # else it is one key away, on Why
            await story.shows("near   MEM_DIR is set")
        await story.press("e")
        await story.shows("MEMORY_DIR   1 of 2", "enter shows the edit")
        await story.press("enter")
        await story.shows("Enter a value")
        await story.press("slash", "m", "enter")
        await story.shows("Fix keep?   2 of 2", '"MEMORY_DIR": "/m"', "▲ blocked → ● ready")
        assert not file.exists()
        await story.press("w")
        await story.until(lambda: "● ready" in story.text() and file.exists(), "it is ready")
        await story.press("u")
        await story.until(lambda: not file.exists(), "it is taken back")
        await story.until(lambda: "▲ blocked" in story.text(), "it is blocked again")


async def test_a_secret_value_never_appears_on_the_screen(
    console: Open, home: Path, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "keep", NEEDY.replace("MEMORY_DIR", "KEEP_TOKEN"))
    trust(workspace)
    file = home / ".openclaw" / "openclaw.json"
    async with console((120, 36)) as story:
        await story.press("e")
        await story.shows("KEEP_TOKEN", "enter shows the edit")
        await story.press(*"zq77")
        await story.shows("••••")
        await story.hides("zq77")
        await story.press("enter")
        await story.shows("Fix keep?", '"KEEP_TOKEN": "${SECRET:KEEP_TOKEN}"')
        await story.hides("zq77")
        await story.press("w")
        await story.until(lambda: file.exists() and "● ready" in story.text(), "it is ready")
        assert '"KEEP_TOKEN": "zq77"' in file.read_text()
        await story.hides("zq77")


async def test_fixing_metadata_continues_with_the_next_failed_gate(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    folder = make_hook(workspace / "hooks", "keep", "{clawd: {events: ['command:new']}}", file="handler.mjs")
    before = (folder / "HOOK.md").read_text()
    async with console((120, 36)) as story:
        await story.shows("e shows a fix if there is one; E opens")
        await story.press("e")
        await story.shows("Fix keep?", "rename to handler.js", "still fails: events")
        await story.press("w")
        await story.until(lambda: (folder / "handler.js").exists(), "it is renamed")
        await story.until(
            lambda: story.screen.state.row and story.screen.state.row.state_style.word == "broken",
            "it is a hook",
        )  # of the list: the toast says so before
        await story.press("e")
        await story.shows("Fix keep?", "+metadata: {openclaw: {events: ['command:new']}}")
        await story.press("escape")
        await story.until(lambda: len(story.app.screen_stack) == 1, "nothing was agreed to")
        assert (folder / "HOOK.md").read_text() == before
        await story.press("e")
        await story.shows("Fix keep?")
        await story.press("w")
        await story.until(lambda: "◇ untrusted" in story.text(), "only trust is wanted")
        await story.press("e")
        await story.shows("keep needs only trust: t trusts its folder.")
        await story.press("u")
        await story.until(lambda: (folder / "HOOK.md").read_text() == before, "the header is as before")


async def test_a_value_that_fixes_nothing_is_rejected(
    console: Open, home: Path, workspace: Path, make_hook: MakeHook
) -> None:
    needs = "{openclaw: {events: ['command:new'], requires: {config: [a.b]}}}"
    make_hook(workspace / "hooks", "keep", needs)
    async with console((120, 36)) as story:
        await story.press("e")
        await story.shows("enter shows the edit")
        await story.press(*"false", "enter")
        await story.shows("With a.b = false, config still fails", "Nothing was written")
        assert not (home / ".openclaw" / "openclaw.json").exists()


async def test_a_fix_that_writes_nothing_says_so(console: Open, workspace: Path, make_hook: MakeHook) -> None:
    hint = "{id: a, kind: brew, formula: made-up}"
    needs = f"{{openclaw: {{events: ['command:new'], requires: {{bins: [no-such]}}, install: [{hint}]}}}}"
    make_hook(workspace / "hooks", "a-needy", needs)
    make_hook(workspace / "hooks", "b-other", "{openclaw: {events: ['command:new'], os: [win32]}}")
    make_hook(workspace / "hooks", "c-ready", READY)
    trust(workspace)
    async with console((120, 36)) as story:
        await story.press("e")
        await story.until(lambda: story.app.clipboard == "brew install made-up", "the hint is copied")
        await story.press("down", "e")
        await story.shows("No fix for os")
        await story.press("down", "e")
        await story.shows("c-ready is ready")


async def test_a_partial_fix_names_the_gate_that_still_fails(
    console: Open, home: Path, workspace: Path, make_hook: MakeHook
) -> None:
    needs = "requires: {env: [MEMORY_DIR], bins: [no-such]}"
    make_hook(workspace / "hooks", "keep", f"{{openclaw: {{events: ['command:new'], {needs}}}}}")
    trust(workspace)
    async with console((120, 36)) as story:
        await story.shows("next   install it, or add its folder to", "PATH; then press R to scan again")
        await story.press("e")
        await story.shows("MEMORY_DIR", "enter shows the edit")
        await story.press("slash", "m", "enter")
        await story.shows("Fix keep?")
        await story.press("w")
        await story.shows("keep: fixed env, still ▲ blocked; still failing: bins")
        await story.press("e")
        await story.shows("Fix bins by hand: install it, or add its folder to PATH.")


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=str)
async def test_chosen_mistakes_are_fixed_after_one_preview_and_undone_in_one_step(
    console: Open, size: tuple[int, int], workspace: Path, make_hook: MakeHook
) -> None:
    hooks = workspace / "hooks"
    moved = make_hook(hooks, "moved", "{clawd: {events: ['command:new']}}")
    renamed = make_hook(hooks, "renamed", READY, file="handler.mjs")
    typo = make_hook(hooks, "typo", "{openclaw: {events: ['comand:new']}}")
    headers = {folder: (folder / "HOOK.md").read_text() for folder in (moved, typo)}
    async with console(size) as story:
        await story.press("F")
        await story.shows(
            "Fix 3 hooks?", "✓ moved: ✗ broken → ◇ untrusted", "✓ renamed: ✗ no hook → ◇ untrusted"
        )
        await story.press("escape")
        await story.until(lambda: len(story.app.screen_stack) == 1, "nothing was agreed to")
        assert headers == {folder: (folder / "HOOK.md").read_text() for folder in headers}
        await story.press("F")
        await story.shows("Fix 3 hooks?")
        top = story.app.screen.query_one(FixLines).region.y
        await story.press("down", "space")
        await story.shows("Fix 2 of 3 hooks?", "· typo: ", "u undoes it later")
        assert story.app.screen.query_one(FixLines).region.y == top
        await story.hides("comand:new']}}")
        await story.press("w")
        await story.until(lambda: (renamed / "handler.js").exists(), "both are written")
        assert "openclaw" in (moved / "HOOK.md").read_text()
        assert (typo / "HOOK.md").read_text() == headers[typo]
        await story.until(lambda: "3 untrusted" in story.text(), "only trust is missing")
        await story.press("u")
        await story.until(lambda: (renamed / "handler.mjs").exists(), "the name is as before")
        assert headers == {folder: (folder / "HOOK.md").read_text() for folder in headers}


async def test_the_diff_of_the_selected_fix_is_visible(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    for name in ("a-moved", "b-moved", "c-moved"):
        make_hook(workspace / "hooks", name, "{clawd: {events: ['command:new']}}")
    async with console((80, 24)) as story:
        await story.press("F")
        await story.shows("Fix 3 hooks?", "a-moved/HOOK.md")
        await story.hides("c-moved/HOOK.md")
        await story.press("down", "down")
        await story.shows("c-moved/HOOK.md")
        await story.hides("a-moved/HOOK.md")


def test_a_diff_marks_the_words_that_changed() -> None:
    lines = list(
        diff_lines(["@@ -1 +1 @@", "-a: [comand:new]", "+a: [command:new]", "-gone entirely", " same"])
    )
    marked = [
        line.plain[span.start : span.end]
        for line in lines
        for span in line.spans
        if span.style == CHANGED_WORD
    ]
    assert marked == ["comand", "command"]
    assert [line.plain for line in lines][-2:] == ["-gone entirely", " same"]
