"""Nothing that a hook is named, says or prints can crash, restyle or mislead the pane."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from tests.console.fire.conftest import planned

from hookscope.app.snapshot import Snapshot
from hookscope.console.panes.fire.composer import Composer
from hookscope.console.panes.fire.context_editor import JsonEditor
from hookscope.console.panes.fire.event_draft import EventDraft, readable_json
from hookscope.console.panes.fire.waterfall import Waterfall
from hookscope.console.state import fire_requests
from hookscope.model.event_catalogue import Catalogue, EventField, EventType
from hookscope.model.failure import Failure, Frame
from hookscope.model.hook import LogLine
from hookscope.model.run import Ending, NotRun, Result
from hookscope.model.text import one_line, printable

SIZES = [(80, 24), (120, 36)]
HOSTILE = {
    "closing tag": "[/foo]",
    "json": '{"a": [true, false]}',
    "colour": "[#ff0]x",
    "open end": "[/",
    "action": "[@click=app.quit]X[/]",
    "index": "arr[0]",
    "unterminated": "[b unterminated",
    "assignment": "[foo=bar",
    "line break": "a[\nb",
    "clear screen": "\x1b[2Jgone",
    "right to left": "a\u202egnp.exe\u202c",
    "bell and delete": "a\x07\x7f\x9b31mb",
    "lone surrogate": "a\udc80b",
    "wide": "日本語フックの名前",
    "joined": "👩‍👩‍👧 e\u0301 क्षि",
    "tabs": "a\tb\tc",
    "a megabyte": "M" * 1_000_000,
    "a megabyte of brackets": "[/" * 500_000,
    "empty": "",
}
# One of each kind, for what treats all texts alike.
SOME = (
    *("action", "open end", "clear screen", "right to left", "lone surrogate", "wide", "tabs"),
    *("a megabyte of brackets", "empty"),
)
ALL, KINDS = tuple(HOSTILE.values()), tuple(HOSTILE[name] for name in SOME)


def seen(text: str, cells: int = 8) -> str:
    """What must be legible: the beginning of the first line, literally, up to a tab."""
    return one_line(printable(text[:100])).split("\t")[0][:cells].rstrip()


def everything(text: str) -> Callable[[Result], Result]:
    """A result that says it everywhere."""

    pointer = text.replace("~", "~0").replace("/", "~1")

    def change(result: Result) -> Result:
        frame = Frame(f"/nowhere/{text[:5000]}", 3, text, text)
        return replace(
            result,
            status="error",
            messages=(text, text),
            stdout=text,
            stderr=text,
            notes=(text,),
            error=Failure(text, text, (frame,)),
            patch=(
                {"op": "add", "path": f"/context/{pointer}", "value": text},
                {"op": "add", "path": "/messages/-", "value": text},
                {"op": "replace", "path": "/no/" + text, "value": {text: [text]}},
            ),
        )

    return change


# One console shows one text after the other: starting one costs more than all that is looked at.


@pytest.mark.parametrize(("size", "texts"), [(SIZES[0], KINDS), (SIZES[1], ALL)], ids=["small", "medium"])
async def test_hostile_text_in_a_run_is_shown_literally(
    console: Any, renamed: Callable[[str], Snapshot], size: tuple[int, int], texts: tuple[str, ...]
) -> None:
    async with console(size) as c:
        for number, text in enumerate(texts, 1):
            c.app.look = c.pane.view = renamed(text)
            await c.settle()
            plan = planned(c.app.look, c.last(fire_requests.DraftChanged).event)
            missed = NotRun(text, text, None, subscribed=True)
            c.pane.run_view.show_plan(replace(plan, not_run=(missed, *plan.not_run)))
            if number == 1 or size != SIZES[0]:  # on a small screen the run stands where the plan was
                await c.shows(seen(text))
            ending = Ending(failure=text, log=(LogLine("error", text),))
            await c.fired(number, everything(text), ending=ending, notes=(text,), assumed=frozenset({text}))
            c.pane.query_one(Waterfall).focus()
            await c.press("right", "full_stop", "y")
            await c.shows(seen(text))
            assert "\x1b" not in c.screen
            assert "\u202e" not in c.screen
            assert c.app.is_running
            assert "\x1b" not in c.app.copied


async def test_tabs_show_text_literally(console: Any) -> None:
    async with console((120, 36)) as c:
        for number, text in enumerate(KINDS, 1):
            await c.fired(number, everything(text))
            c.pane.query_one(Waterfall).focus()
            for tab in ("Error", "Messages", "Output", "Context"):
                await c.shows(f"[{tab}", seen(text, 6))
                await c.press("right")


async def test_hostile_drafts_do_not_crash_the_composer(console: Any) -> None:
    async with console((120, 36)) as c:
        composer = c.pane.query_one(Composer)
        for text in KINDS:
            composer.put(EventDraft(text[:5000], text[:5000], text[:200_000], text))
            await c.settle()
            await c.press("ctrl+r")
            c.pane.event_view.compose_event("command:new", text)
            await c.shows("only at")
            c.pane.run_view.show_plan(None, text)
            await c.shows(seen(text))
            assert c.app.is_running
            assert "\x1b" not in c.screen
            assert "\u202e" not in c.screen


async def test_invisible_characters_reach_the_event_unchanged(console: Any, view: Snapshot) -> None:
    """Characters that would not be seen stand in the editor as escapes, and reach the event unharmed."""
    async with console() as c:
        for text in HOSTILE.values():
            if "\udc80" in text or len(text) > 10_000:
                continue  # no JSON file holds it, or the editor would be measured, not the text
            settings = replace(view.host.settings, value={text: text})
            c.app.look = c.pane.view = replace(view, host=replace(view.host, settings=settings))
            await c.settle()
            await c.press("ctrl+t")
            editor = c.pane.query_one(JsonEditor)
            assert "\x1b" not in editor.text
            assert "\u202e" not in editor.text
            await c.press("ctrl+r")
            assert c.last(fire_requests.FireRequested).asked.event.context["cfg"] == {text: text}


async def test_the_event_picker_accepts_any_name(console: Any, view: Snapshot) -> None:
    async with console((80, 24)) as c:
        for text in KINDS:
            known = (*view.host.dialect.catalogue().events, EventType(text, "now", "plugin"))
            dialect = replace(view.host.dialect, catalogue=partial(Catalogue, known))
            c.app.look = c.pane.view = replace(view, host=replace(view.host, dialect=dialect))
            assert text in c.pane.view.keys
            await c.settle()
            await c.press("ctrl+@")
            await c.shows("Which event?")
            await c.press("end", *"[/", "enter")
            assert c.app.is_running


@pytest.mark.parametrize(
    "name", ["open end", "action", "line break", "clear screen", "right to left", "wide", "a megabyte"]
)
async def test_a_form_shows_any_name_and_value_literally(console: Any, name: str) -> None:
    text = HOSTILE[name]
    async with console((80, 24)) as c:
        composer = c.pane.query_one(Composer)
        composer.put(EventDraft("command:new", "s", readable_json({text[:9_000]: text[:90_000]})))
        composer.turn_face()
        await c.press("ctrl+n", "x")
        assert c.app.is_running
        assert "\x1b" not in c.screen
        assert "\u202e" not in c.screen


async def test_catalogue_texts_are_shown_literally(console: Any, view: Snapshot) -> None:
    said = EventField("[/] [@click=app.quit]X[/]", ("string",), ("[/foo]",), ("[/a]", "[b"))
    known = EventType("command:new", "now", fields={"[/]": said})
    dialect = replace(view.host.dialect, catalogue=lambda: Catalogue((known,)))
    async with console((80, 24), view=replace(view, host=replace(view.host, dialect=dialect))) as c:
        c.pane.query_one(JsonEditor).text = "{}"
        await c.press("f4", "tab", "tab")
        await c.shows("▸ [/]", '"[/foo]"', "[@click=app.quit]X[/] ([/a], [b)")
        await c.press("ctrl+@")
        await c.shows("Values of [/]", '"[/a]"')
        await c.press("escape", "f4", "home", "right", "ctrl+@")
        await c.shows("Fields", "[/]  [/] [@click=app.quit]X[/]")
        await c.press("enter")
        assert '"[/]": "[/foo]"' in c.pane.query_one(JsonEditor).text
